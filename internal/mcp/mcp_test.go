package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"anchor/internal/gate"
	"anchor/internal/msg"
	"anchor/internal/policy"
	"anchor/internal/tool"
)

// fixture is a set of servers with a gate that lets their tools be called.
type fixture struct {
	*testing.T
	o   Options
	set *Set

	mu      sync.Mutex
	notices []string
}

func setUp(t *testing.T, env ...string) *fixture {
	t.Helper()
	f := &fixture{T: t}
	dir := t.TempDir()
	g, err := gate.New(gate.Options{Dir: dir, Home: t.TempDir(), Env: append(env, "PATH="+os.Getenv("PATH")), Rules: policy.Rules{Yolo: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	vars := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	f.o = Options{Gate: g, State: t.TempDir(), Getenv: func(k string) string { return vars[k] }, Version: "test", Notice: func(n string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.notices = append(f.notices, n)
	}}
	return f
}

func (f *fixture) start(definitions ...Definition) *fixture {
	f.Helper()
	f.set = Start(f.Context(), f.o, definitions)
	f.Cleanup(f.set.Close)
	return f
}

// self is the definition of this binary as a server that misbehaves; more is its environment.
func self(t *testing.T, name, mode string, more ...string) Definition {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := object{"MCP_TEST_MODE": mode}
	for _, kv := range more {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	return define(t, name, object{"command": exe, "env": env})
}

func define(t *testing.T, name string, d object) Definition {
	t.Helper()
	raw, _ := json.Marshal(d)
	out := Define("config.json", "", map[string]json.RawMessage{name: raw})
	return out[0]
}

// until waits for something that the servers do in the background.
func (f *fixture) until(what string, ok func() bool) {
	f.Helper()
	for end := time.Now().Add(15 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("%s did not come: %+v %q", what, f.set.States(), f.said())
		}
	}
}

func (f *fixture) status(want string) {
	f.Helper()
	f.until(want, func() bool {
		for _, s := range f.set.States() {
			if s.Status != want {
				return false
			}
		}
		return true
	})
}

func (f *fixture) said() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.notices, "\n")
}

func (f *fixture) specs() map[string]msg.Spec {
	out := map[string]msg.Spec{}
	for _, t := range f.set.Tools() {
		out[t.Spec().Name] = t.Spec().Spec
	}
	return out
}

func (f *fixture) call(ctx context.Context, name string) (tool.Result, error) {
	f.Helper()
	for _, t := range f.set.Tools() {
		if t.Spec().Name == name {
			return t.Run(ctx, tool.Env{Gate: f.o.Gate}, json.RawMessage(`{}`))
		}
	}
	f.Fatalf("no tool %s in %+v", name, f.set.States())
	return tool.Result{}, nil
}

func TestNamesAreLegalAndReachTheTool(t *testing.T) {
	f := setUp(t).start(self(t, "A", "names"), self(t, "B", "names"), self(t, "odd. näme__", "names"))
	f.status(ready)
	legal := regexp.MustCompile(`^mcp__[a-zA-Z0-9_-]{1,59}$`)
	specs := f.specs()
	if len(specs) != 24 {
		t.Errorf("%d different names, want 24", len(specs))
	}
	for name := range specs {
		if !legal.MatchString(name) {
			t.Errorf("%q is no name that providers take", name)
		}
	}
	for _, at := range f.set.Tools() {
		r, err := at.Run(t.Context(), tool.Env{Gate: f.o.Gate}, json.RawMessage(`{}`))
		if original := at.(*remote).name; err != nil || r.Text != "called "+original {
			t.Errorf("%s: %q %v, want a call of %q", at.Spec().Name, r.Text, err, original)
		}
	}
	if specs["mcp__A__admin_tools_list"].Name == "" || specs["mcp__B__read_file"].Name == "" || specs["mcp__A__a_b"].Name == "" {
		t.Error("plain names did not stay as they are")
	}
}

func TestOddSchemas(t *testing.T) {
	f := setUp(t).start(self(t, "s", "schemas"))
	f.status(ready)
	for name, want := range map[string]string{
		"one": `{"properties":{},"type":"object"}`, "three": `{"properties":{},"type":"object"}`, "bare": `{"properties":{},"type":"object"}`,
		"only": `{"$schema":"x","properties":{},"type":"object"}`, "string": "", "null": "", "number": "",
		"ref": `{"$defs":{"A":{"properties":{"x":{"type":"string"}},"required":["x"],"type":"object"}},"properties":{"x":{"type":"string"}},"type":"object"}`,
		"any": `{"properties":{"a":{},"b":{}},"type":"object"}`,
	} {
		if got := string(f.specs()["mcp__s__"+name].Schema); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"string", "null", "number", "only"} {
		if !strings.Contains(f.said(), "the tool "+name+":") {
			t.Errorf("no notice about %s in %q", name, f.said())
		}
	}
}

func TestResults(t *testing.T) {
	f := setUp(t).start(self(t, "s", "stderr"))
	f.status(ready)
	for name, want := range map[string]string{
		"text": "called text", "big": "bytes left out", "blocks": "bytes left out", "odd": "hologram", "structured": `"answer":42`,
		"empty": "nothing", "fails": "no such table", "image": "image/tiff", "storm": "calm",
	} {
		r, err := f.call(t.Context(), "mcp__s__"+name)
		if err != nil || !strings.Contains(r.Text, want) || len(r.Text) > maxText+200 || (r.Outcome == tool.OK) == (name == "fails") {
			t.Errorf("%s: %v %d bytes %q %v", name, r.Outcome, len(r.Text), cut(r.Text, 300), err)
		}
		if name == "image" && (len(r.Images) != 1 || string(r.Images[0].Data) != "hi") {
			t.Errorf("images %v", r.Images)
		}
		if name == "odd" && !(strings.Contains(r.Text, "loose") && strings.Contains(r.Text, "audio/wav") && strings.Contains(r.Text, "of the resource") && strings.Contains(r.Text, "file:///l")) {
			t.Errorf("odd: %s", r.Text)
		}
	}
}

func TestListsThatDoNotEnd(t *testing.T) {
	f := setUp(t).start(self(t, "same", "cursor"), self(t, "pages", "pages"), self(t, "noisy", "banner"))
	f.status(ready)
	if n := len(f.specs()); n != 3+3+13 {
		t.Errorf("%d tools: %v", n, f.specs())
	}
}

func TestEnvironmentIsSmallAndMasked(t *testing.T) {
	f := setUp(t, "ANTHROPIC_API_KEY=sk-ant-secret-value-123", "DB_PASSWORD=hunter2hunter2", "LANG=C")
	f.start(self(t, "s", "ok", "DB_PASSWORD=${DB_PASSWORD}", "COLOR=${COLOR:-blue}"))
	f.status(ready)
	r, err := f.call(t.Context(), "mcp__s__env")
	masked := f.o.Gate.Mask(r.Text)
	if err != nil || strings.Contains(r.Text, "sk-ant") || !strings.Contains(r.Text, "COLOR=blue") || !strings.Contains(r.Text, "hunter2") || strings.Contains(masked, "hunter2") {
		t.Errorf("%v %s\n%s", err, r.Text, masked)
	}
	g := setUp(t).start(self(t, "m", "ok", "X=${NOT_SET}"))
	g.status(failed)
	if !strings.Contains(g.said(), "NOT_SET") {
		t.Error(g.said())
	}
}

func TestCallsAreBoundedAndHearCancel(t *testing.T) {
	d := self(t, "s", "ok")
	d.Timeout = 1000
	f := setUp(t).start(d)
	f.status(ready)
	if r, err := f.call(t.Context(), "mcp__s__progress"); err != nil || r.Text != "at last" {
		t.Errorf("a call that shows progress: %q %v", r.Text, err)
	}
	if r, err := f.call(t.Context(), "mcp__s__hang"); err != nil || r.Outcome != tool.Failed || !strings.Contains(r.Text, "within 1s") {
		t.Errorf("a call that hangs: %+v %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	if _, err := f.call(ctx, "mcp__s__hang"); !errors.Is(err, context.Canceled) || time.Since(began) > 900*time.Millisecond {
		t.Errorf("cancel: %v after %v", err, time.Since(began))
	}
}

func TestADeadServerComesBack(t *testing.T) {
	f := setUp(t).start(self(t, "s", "ok"))
	f.status(ready)
	old := f.set.Tools()
	r, err := f.call(t.Context(), "mcp__s__die")
	if err != nil || r.Outcome != tool.Failed || !strings.Contains(r.Text, "MCP server s: it ended before it answered") {
		t.Errorf("%+v %v", r, err)
	}
	f.until("its end", func() bool { return len(f.set.Tools()) == 0 })
	if r, err := old[0].Run(t.Context(), tool.Env{Gate: f.o.Gate}, json.RawMessage(`{}`)); err != nil || !strings.Contains(r.Text, "not running") {
		t.Errorf("a call meanwhile: %+v %v", r, err)
	}
	f.status(ready)
	if !strings.Contains(f.said(), "segmentation fault") {
		t.Errorf("notices: %s", f.said())
	}
}

func TestServersThatDoNotStart(t *testing.T) {
	f := setUp(t)
	f.o.Once = true
	f.start(self(t, "crash", "crash"), define(t, "none", object{"command": "no-such-program-of-anchor"}), define(t, "both", object{"command": "a", "url": "http://b"}),
		define(t, "sse", object{"type": "sse", "url": "http://127.0.0.1:1"}), define(t, "args", object{"command": 5}))
	f.status(failed)
	for _, want := range []string{"cannot open the database", "not found on PATH", "both", "old transport", "args"} {
		if !strings.Contains(f.said(), want) {
			t.Errorf("no %q in %s", want, f.said())
		}
	}
}

func TestASlowServerIsNotWaitedFor(t *testing.T) {
	began := time.Now()
	f := setUp(t).start(self(t, "slow", "slow"), self(t, "s", "ok"))
	f.until("the other's tools", func() bool { return len(f.set.Tools()) > 0 })
	f.set.Close()
	if time.Since(began) > 10*time.Second {
		t.Errorf("it took %v", time.Since(began))
	}
}

func TestTrustIsBoundToWhatRuns(t *testing.T) {
	f := setUp(t)
	dir := f.o.Gate.Dir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(text string) Definition {
		t.Helper()
		out, err := DefineFile(filepath.Join(dir, ".mcp.json"), dir, []byte(`{"mcpServers": {"s": `+text+`}}`))
		if err != nil || len(out) != 1 {
			t.Fatal(err)
		}
		return out[0]
	}
	trusted := func(d Definition) bool {
		t.Helper()
		ok, err := f.o.Trusted(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	for _, c := range []struct{ file, definition, other string }{
		{"srv.py", `{"command": "python3", "args": ["srv.py"]}`, `{"command": "python3", "args": ["srv.py", "-x"]}`},
		{"srv.py", `{"command": "python3", "args": ["srv.py"]}`, `{"command": "python3", "args": ["srv.py"], "env": {"A": "1"}}`},
		{"sub/x.sh", `{"command": "/bin/bash", "args": ["-c", "cd sub && ./x.sh"]}`, `{"command": "/bin/bash", "args": ["-c", "cd sub && ./y.sh"]}`},
		{"pkg/__main__.py", `{"command": "python3", "args": ["-m", "pkg"]}`, `{"url": "https://example.com"}`},
		{"package.json", `{"command": "node", "args": ["."]}`, `{"command": "node", "args": ["./x"]}`},
		{"bin/run.sh", `{"command": "bash", "args": ["-c", "cd . && ./run.sh --port=1"], "cwd": "bin"}`, `{"command": "bash", "args": ["-c", "rm x"], "cwd": "bin"}`},
		{"", `{"url": "https://example.com/mcp"}`, `{"url": "https://example.org/mcp"}`},
	} {
		if c.file != "" {
			write(c.file, "one")
		}
		d := read(c.definition)
		if trusted(d) && c.file != "srv.py" {
			t.Errorf("%s is trusted from the start", c.definition)
		}
		if err := f.o.Trust(t.Context(), d); err != nil || !trusted(d) {
			t.Errorf("%s is not trusted: %v", c.definition, err)
		}
		if off := read(strings.Replace(c.definition, "{", `{"disabled": true, `, 1)); !trusted(off) {
			t.Errorf("the off switch of %s asks again", c.definition)
		}
		if trusted(read(c.other)) {
			t.Errorf("%s has the trust of %s", c.other, c.definition)
		}
		if c.file == "" {
			continue
		}
		write(c.file, "two")
		if trusted(d) {
			t.Errorf("%s is still trusted with another %s", c.definition, c.file)
		}
		write(c.file, "one")
	}
	f.start(read(`{"command": "touch", "args": ["started"]}`))
	f.status(untrusted)
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil || !strings.Contains(f.said(), "anchor mcp trust s") {
		t.Errorf("%v %s", err, f.said())
	}
	if info, err := os.Stat(filepath.Join(f.o.State, trustFile)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}
