//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anchor/internal/front/jsonl/jsonltest"
)

// TestRepair drives the real binary through real work: a public Go module with a planted fault, a model server on loopback
// that speaks the Anthropic wire, and `go test` as the judge. The first fix is wrong, so that the check has to fail once.
func TestRepair(t *testing.T) {
	cases := []struct {
		module, file string
		good, bad    string // what the fault was planted over, and what stands there
		wrong        string // the first try
	}{
		{"github.com/google/uuid@v1.6.0", "uuid.go", "return Version(uuid[6] >> 4)", "return Version(uuid[6] >> 3)", "return Version(uuid[6] >> 2)"},
		{"github.com/dustin/go-humanize@v1.0.1", "ordinals.go", "if x%100 != 12 {", "if x%100 != 22 {", "if x%100 != 32 {"},
	}
	bin := buildAnchor(t)
	for _, c := range cases {
		t.Run(c.module, func(t *testing.T) {
			t.Parallel()
			dir := plant(t, c.module, c.file, c.good, c.bad)
			replies := []string{
				use("r1", "grep", map[string]any{"pattern": "func ", "path": c.file}) + end("tool_use"),
				use("r2", "read_file", map[string]any{"path": c.file}) + end("tool_use"),
				use("r3", "edit_file", edit(c.file, c.bad, c.wrong)) + end("tool_use"),
				say("I mended the fault.") + end("end_turn"),
				use("r4", "edit_file", edit(c.file, c.wrong, c.good)) + end("tool_use"),
				say("Now it is right.") + end("end_turn"),
			}
			server := httptest.NewServer(script(t, replies))
			defer server.Close()
			cmd := exec.Command(bin, "--json", "-p", "a test fails; mend the code", "--allow", "write", "--until", "go test ./...", "--protect", "**/*_test.go")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "ANTHROPIC_API_KEY=key-of-a-test", "ANTHROPIC_BASE_URL="+server.URL,
				"GOPATH="+goEnv(t, "GOPATH"), "GOCACHE="+goEnv(t, "GOCACHE"), "GOFLAGS=-mod=mod", "GOWORK=off")
			cmd.WaitDelay = time.Second
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, stderr.String())
			}
			lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
			valid := jsonltest.Valid(t)
			for _, line := range lines {
				if err := valid(string(line)); err != nil {
					t.Error(err)
				}
			}
			var result struct {
				Status, Text string
				Check        *string
				Files        []string `json:"files_changed"`
			}
			if err := json.Unmarshal(lines[len(lines)-1], &result); err != nil {
				t.Fatal(err)
			}
			if result.Status != "completed" || result.Check == nil || *result.Check != "passed" || len(result.Files) != 1 || result.Files[0] != c.file {
				t.Errorf("the result is %s", lines[len(lines)-1])
			}
			if n := bytes.Count(out, []byte(`{"type":"check"`)); n != 2 {
				t.Errorf("the check ran %d times, not twice", n)
			}
			data, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil || !strings.Contains(string(data), c.good) || strings.Contains(string(data), c.bad) {
				t.Errorf("%s is not mended: %v", c.file, err)
			}
		})
	}
}

// plant copies a module from the module cache to a repository of its own and plants the fault. It skips where the module
// can't be had.
func plant(t *testing.T, module, file, good, bad string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	var m struct{ Dir string }
	if err != nil || json.Unmarshal(out, &m) != nil || m.Dir == "" {
		t.Skipf("needs %s from the module proxy: %v", module, err)
	}
	dir := filepath.Join(t.TempDir(), "module")
	if err := os.CopyFS(dir, os.DirFS(m.Dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, file)
	data, err := os.ReadFile(path)
	if err != nil || strings.Count(string(data), good) != 1 {
		t.Fatalf("%s has not the text to plant the fault over: %v", file, err)
	}
	// The module cache is read-only, and so is its copy.
	if err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(p, 0o755)
		}
		return os.Chmod(p, 0o644)
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), good, bad, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// script plays the replies, one a request, and fails on a request too many.
func script(t *testing.T, replies []string) http.Handler {
	n := 0
	t.Cleanup(func() {
		if n != len(replies) {
			t.Errorf("%d of %d replies were asked for", n, len(replies))
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if n >= len(replies) {
			http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"the script is used up"}}`, http.StatusBadRequest)
			n++
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, start+replies[n])
		n++
	})
}

func edit(file, old, new string) map[string]any {
	return map[string]any{"path": file, "edits": []map[string]string{{"old": old, "new": new}}}
}

// use is a tool call and say a text, as events of the Anthropic wire; end ends the reply.
func use(id, name string, args map[string]any) string {
	input, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	delta, err := json.Marshal(string(input))
	if err != nil {
		panic(err)
	}
	return event(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":{}}}`) +
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+string(delta)+`}}`) +
		event(`{"type":"content_block_stop","index":0}`)
}

func say(s string) string {
	return event(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`) +
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+s+`"}}`) +
		event(`{"type":"content_block_stop","index":0}`)
}
