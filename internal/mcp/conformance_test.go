package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anchor/internal/gate"
	"anchor/internal/policy"
	"anchor/internal/tool"
)

// conform is the client that the official suite runs against a scenario: it signs in if need be, calls every tool, and returns the exit code.
func conform(scenario, address string) int {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	g, err := gate.New(gate.Options{Dir: dir, Home: dir, Rules: policy.Rules{Yolo: true}})
	if err != nil {
		return 1
	}
	defer g.Close()
	var given struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given)
	if scenario == "auth/basic-cimd" {
		given.ClientID = "https://conformance-test.local/client-metadata.json"
	}
	o := Options{Gate: g, State: dir, Getenv: func(string) string { return "" }, Version: "1", Once: true, Notice: func(n string) { fmt.Fprintln(os.Stderr, n) }}
	d := Define("suite", "", map[string]json.RawMessage{"s": encode(object{"url": address, "oauth": object{"clientId": given.ClientID, "clientSecret": given.ClientSecret}})})
	browse := func(address string) {
		go func() {
			if resp, err := http.Get(address); err == nil {
				resp.Body.Close()
			}
		}()
	}
	for range 4 {
		again := false
		if strings.HasPrefix(scenario, "auth/") {
			if _, err := o.Login(context.Background(), d[0], browse, strings.NewReader("")); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		set := Start(context.Background(), o, d)
		_ = set.Settle(context.Background(), time.Minute)
		for _, t := range set.Tools() {
			r, err := t.Run(context.Background(), tool.Env{Gate: g}, json.RawMessage(`{"a": 5, "b": 3}`))
			fmt.Fprintln(os.Stderr, t.Spec().Name, r.Text, err)
			again = again || strings.Contains(r.Text, "sign in")
		}
		again = again || set.States()[0].Status == signIn
		set.Close()
		if !again || !strings.HasPrefix(scenario, "auth/") {
			break
		}
	}
	return 0
}

// npm returns a program of the npm packages that the environment variable ANCHOR_NPM names the place of.
func npm(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("ANCHOR_NPM")
	if dir == "" {
		t.Skip("set ANCHOR_NPM to a directory in which npm installed @modelcontextprotocol/server-everything and server-filesystem")
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return filepath.Join(bin, name)
}

func TestReferenceServers(t *testing.T) {
	everything, files := npm(t, "mcp-server-everything"), npm(t, "mcp-server-filesystem")
	f := setUp(t)
	if err := os.WriteFile(filepath.Join(f.o.Gate.Dir(), "a.txt"), []byte("alpha\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const port = "38217"
	web := exec.Command(everything, "streamableHttp")
	web.Env = append(os.Environ(), "PORT="+port)
	if err := web.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = web.Process.Kill(); _ = web.Wait() })
	f.start(define(t, "all", object{"command": everything}), define(t, "files", object{"command": files, "args": []string{f.o.Gate.Dir()}}),
		define(t, "web", object{"url": "http://127.0.0.1:" + port + "/mcp"}))
	f.status(ready)
	for _, c := range []struct{ tool, args, want string }{
		{"mcp__all__echo", `{"message": "hello"}`, "hello"}, {"mcp__web__echo", `{"message": "hello"}`, "hello"},
		{"mcp__all__get-sum", `{"a": 2, "b": 40}`, "42"}, {"mcp__web__get-sum", `{"a": 2, "b": 40}`, "42"},
		{"mcp__files__read_text_file", `{"path": "` + filepath.Join(f.o.Gate.Dir(), "a.txt") + `"}`, "alpha"},
		{"mcp__files__read_text_file", `{"path": "/etc/passwd"}`, "denied"},
		{"mcp__all__get-tiny-image", `{}`, "image"}, {"mcp__web__trigger-long-running-operation", `{"duration": 1, "steps": 2}`, "completed"},
	} {
		found := false
		for _, at := range f.set.Tools() {
			if at.Spec().Name == c.tool {
				found = true
				if r, err := at.Run(t.Context(), tool.Env{Gate: f.o.Gate}, json.RawMessage(c.args)); err != nil || !strings.Contains(strings.ToLower(r.Text), c.want) {
					t.Errorf("%s: %+v %v", c.tool, r.Text, err)
				}
			}
		}
		if !found {
			t.Errorf("no %s", c.tool)
		}
	}
	for _, s := range f.set.States() {
		t.Log(s.Name, len(s.Tools))
	}
}
