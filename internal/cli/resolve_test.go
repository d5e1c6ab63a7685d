package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"anchor/internal/config"
	"anchor/internal/provider"
)

// The window of a model that the table does not know is the server's own word; without one it is assumed, and said.
func TestWindow(t *testing.T) {
	for name, want := range map[string]string{"told": "4096 server []", "silent": "128000 assumed [the context window of silent is not known", "claude-sonnet-5": "1000000 table []"} {
		asked := false
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = true
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"data": [{"id": "told", "context_length": 4096}, {"id": "silent"}]}`)
		}))
		defer server.Close()
		if got := measured(t, server.URL, name); !strings.HasPrefix(got, want) || asked != (name != "claude-sonnet-5") {
			t.Errorf("%s: %s, want %s; asked %v", name, got, want, asked)
		}
	}
}

// measured is the window of a model of a server, where that comes from, and the notices.
func measured(t *testing.T, url, model string) string {
	t.Helper()
	dir := t.TempDir()
	w, err := prepare(t.Context(), shell{env: []string{"HOME=" + dir, "OPENAI_BASE_URL=" + url}, err: os.Stderr}, &options{dir: dir, model: "openai/" + model}, face{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	m, err := w.choose(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.measure(t.Context(), &m)
	return fmt.Sprint(m.Info.Window, " ", m.Info.Source, " ", w.notices)
}

// A server that is no Ollama gets no request but for its list.
func TestOtherServersAreNotAskedAsOllama(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
		if w.Header().Set("Content-Type", "application/json"); r.URL.Path == "/v1/models" {
			fmt.Fprint(w, `{"data": [{"id": "plain"}]}`)
		} else {
			http.Error(w, `{"error": "not found"}`, http.StatusNotFound)
		}
	}))
	defer server.Close()
	measured(t, server.URL, "plain")
}

// Ollama's list has no windows: it is asked for the one that the model is loaded with, that is set, or that it could have.
func TestOllamaWindow(t *testing.T) {
	for name, want := range map[string]string{"loaded": "8192 server []", "set:latest": "16384 server []", "plain": "40960 server [plain can have a window of 40960 tokens"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			body, _ := io.ReadAll(r.Body)
			switch at := r.URL.Path; {
			case at == "/v1/models":
				fmt.Fprint(w, `{"data": [{"id": "loaded"}, {"id": "set:latest"}, {"id": "plain"}]}`)
			case at == "/api/ps":
				fmt.Fprint(w, `{"models": [{"name": "loaded:latest", "context_length": 8192}]}`)
			case at != "/api/show":
				t.Errorf("asked for %s", at)
			case at == "/api/show" && strings.Contains(string(body), "set:latest"):
				fmt.Fprint(w, `{"parameters": "temperature 0.7\nnum_ctx    16384", "model_info": {"qwen3.context_length": 40960}}`)
			default:
				fmt.Fprint(w, `{"parameters": "stop x", "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960}}`)
			}
		}))
		defer server.Close()
		if got := measured(t, server.URL, name); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// A keyCommand has no input, and its exit code counts.
func TestKeyCommand(t *testing.T) {
	dir := t.TempDir()
	w, err := prepare(t.Context(), shell{env: append(os.Environ(), "HOME="+dir), err: os.Stderr}, &options{dir: dir}, face{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	for command, want := range map[string]string{
		"echo key": "key", "printf key # mine": "key", "sleep 60 >&- & echo key": "key", "exec echo key": "key", "echo key; echo more": "key<nil>",
		"cat": "printed nothing", "echo key; exit 1": "it failed", "no-such-program": "not found", "echo no >&2; false": "no",
		"echo (": "syntax error", "sudo cat key": "never done",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		out, err := w.key(ctx, command)
		cancel()
		if got := fmt.Sprint(out, err); !strings.Contains(got, want) || (strings.HasPrefix(want, "key")) != (err == nil) {
			t.Errorf("%s: %q, %v; want %s", command, out, err, want)
		}
	}
}

// A keyCommand may ask its user, so it runs once for a session, and once more after its key was refused.
func TestKeyCommandRunsOnce(t *testing.T) {
	refuse := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if refuse = r.Header.Get("Authorization") == "Bearer key1"; refuse {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprint(w, `{"data": []}`)
	}))
	defer server.Close()
	dir := t.TempDir()
	w, err := prepare(t.Context(), shell{env: append(os.Environ(), "HOME="+dir), err: os.Stderr}, &options{dir: dir}, face{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	p := config.Provider{Name: "w", Type: config.OpenAI, BaseURL: config.URL(server.URL), KeyCommand: "echo x >> n; echo key$(wc -l < n)"}
	first, other := w.wire(p, "m"), w.wire(p, "m")
	for _, c := range []*provider.Client{first, other, first, other} {
		_, _ = c.Models(t.Context(), time.Minute)
	}
	if n, _ := os.ReadFile(dir + "/n"); string(n) != "x\nx\n" || refuse {
		t.Errorf("ran %q, refused at last: %v", n, refuse)
	}
}
