package config

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

const file = "/home/u/.config/anchor/config.json"

func env(kv ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(kv); i += 2 {
			if kv[i] == name {
				return kv[i+1]
			}
		}
		return ""
	}
}

func user(t *testing.T, text string) *Settings {
	t.Helper()
	s := New()
	if err := s.User(file, []byte(text), "/work"); err != nil {
		t.Fatal(err)
	}
	return s
}

// A fault names file, line and column, and what the place takes.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"wrong type", "{\n  \"model\": 5,\n}", file + `:2:12: model takes a model`},
		{"list", `{"allow": "write"}`, file + `:1:11: allow takes a list of strings`},
		{"in a list", `{"allow": ["write", 3]}`, "takes a list of strings"},
		{"object", `{"providers": []}`, `providers takes an object`},
		{"duration", `{"stallTimeout": "soon"}`, `takes a duration such as "90s"`},
		{"negative", `{"stallTimeout": "-1s"}`, "takes a duration"},
		{"share", `{"compactAt": 80}`, "takes a number from 0.1 to 1"},
		{"url", `{"providers": {"w": {"baseURL": "llm.example.com"}}}`, `providers.w.baseURL takes an address`},
		{"user info", `{"providers": {"w": {"baseURL": "https://u:p@h/v1"}}}`, "takes an address"},
		{"wire", "{\"providers\": {\"w\": {\n\t\"type\": \"grpc\"}}}", file + `:2:10: providers.w.type takes "anthropic" or "openai"`},
		{"window", `{"providers": {"w": {"models": {"m": {"contextWindow": 0}}}}}`, "whole number of tokens"},
		{"syntax", "{\n  \"model\": \"x\"\n  \"effort\": \"low\"\n}", file + ":3:3: broken JSON"},
		{"cut", `{"model": "x`, file + ":1:"},
		{"not an object", `[]`, "a settings file takes an object"},
		{"no address", `{"providers": {"work": {"keyEnv": "K"}}}`, `:1:24: provider "work" has no "baseURL"`},
		{"null", "null", ":1:1: a settings file takes an object"},
		{"blank model", "{\n  \"model\": \"\"}", ":2:12: model takes a model such as"},
		{"twice", "{\"effort\": \"low\",\n \"effort\": \"high\"}", `:2:2: the key "effort" stands twice`},
		{"twice inside", `{"providers": {"w": {}, "w": {}}}`, `:1:`},
		{"latin-1", "{\"model\": \"\xe9\"}", "is not UTF-8"},
		{"variable", `{"passEnv": ["A B"]}`, `"A B" is none`},
		{"a key for its name", `{"providers": {"w": {"keyEnv": "sk-123"}}}`, "providers.w.keyEnv takes the name of a variable"},
		{"directory", `{"directories": {"site": {}}}`, `directories takes absolute paths`},
		{"mistyped", `{"providers": {"antropic": {"keyEnv": "K"}}}`, `has no "baseURL"; did you mean "anthropic"?`},
		{"effort", `{"effort": "huge"}`, "takes off, low, medium or high"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := New().User(file, []byte(c.text), "/work")
			var place *Error
			if !errors.As(err, &place) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Comments, trailing commas, a byte order mark and an empty file are fine; null is as if it were not there.
func TestForms(t *testing.T) {
	s := user(t, "\uFEFF{ // mine\n \"model\": \"m\", /* x */ \"deny\": [\"shell:git push\",], \"effort\": null, }")
	if s.Model != "m" || len(s.Deny) != 1 || s.Effort != "" || s.From["model"] != file {
		t.Errorf("got %+v", s)
	}
	for _, text := range []string{"", " \n", "\uFEFF"} {
		if s := user(t, text); s.CompactAt != 0.8 || s.StallTimeout.Time() != 2*time.Minute {
			t.Errorf("%q changed the defaults: %+v", text, s)
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"modle": "x"}`, `:1:2: unknown key "modle"; did you mean "model"?`},
		{`{"Model": "x"}`, `did you mean "model"?`},
		{`{"compact_at": 0.5}`, `did you mean "compactAt"?`},
		{`{"providers": {"anthropic": {"base_ulr": "http://x"}}}`, `did you mean "baseURL"?`},
		{`{"base_url": "http://x"}`, `"baseURL" belongs inside "providers"`},
		{`{"ANTHROPIC_BASE_URL": "http://x"}`, `"baseURL" belongs inside "providers": {"anthropic"`},
		{`{"anthropic": {"baseURL": "http://x"}}`, `belongs inside "providers": {"anthropic"`},
		{`{"provider": {}}`, `did you mean "providers"?`},
		{`{"providers": {"openai": {"api_base": "x"}}}`, `the address of a server is the "baseURL" of its provider`},
		{`{"telemetry": true}`, `unknown key "telemetry" is ignored; known here are model, `},
	} {
		s := user(t, c.text)
		if len(s.Notices) != 1 || !strings.Contains(s.Notices[0], c.want) {
			t.Errorf("%s: got %q, want %s", c.text, s.Notices, c.want)
		}
		if s.Model != "" {
			t.Errorf("%s: a key of another case was taken", c.text)
		}
	}
}

// A mistyped or misplaced base URL never sends prompt and key to the vendor in silence.
func TestMisplaced(t *testing.T) {
	for _, c := range []struct {
		text   string
		getenv func(string) string
		want   bool
	}{
		{`{"providers": {"anthropic": {"base_ulr": "http://x"}}}`, env(), true},
		{`{"baseURL": "http://x"}`, env(), true},
		{`{"providers": {"openai": {"base_ulr": "http://x"}}}`, env(), false},
		{`{"providers": {"anthropic": {"base_ulr": "http://x"}}}`, env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1"), false},
		{`{"modle": "x"}`, env(), false},
		{`{"providers": {"antropic": {"baseURL": "http://127.0.0.1:9"}}}`, env(), true},
		{`{"providers": {"Anthropic": {"baseURL": "http://127.0.0.1:9"}}}`, env(), true},
		{`{"providers": {"anthropic": {"url": "http://x"}}}`, env(), true},
		{`{"providers": {"anthropic": {"host": "x"}}}`, env(), true},
		{`{"providers": {"anthropic": {"endpoint": "x"}}}`, env(), true},
		{`{"providers": {"anthropic": {"api_base": "x"}}}`, env(), true},
		{`{"providers": {"anthropic": {"where": "https://x"}}}`, env(), true},
		{`{"providers": {"anthropic": {"models": {"m": {"baseURL": "x"}}}}}`, env(), true},
		{`{"provider": {"anthropic": {"baseURL": "http://x"}}}`, env(), true},
		{`{"anthropic": {"baseURL": "http://x"}}`, env(), true},
		{`{"ANTHROPIC_BASE_URL": "http://x"}`, env(), true},
		{`{"apiBase": "http://x"}`, env(), true},
		{`{"providers": {"work": {"baseURL": "http://x"}, "anthropic-eu": {"baseURL": "http://x"}}}`, env(), false},
		{`{"providers": {"antropic": {"baseURL": "http://x"}, "anthropic": {"baseURL": "http://y"}}}`, env(), false},
		{`{"providers": {"anthropic": {"keyFile": "x"}}}`, env(), false},
		{`{"$schema": "https://x", "mcpservers": {"a": {"url": "http://x"}}, "theme": "dark"}`, env(), false},
	} {
		s := user(t, c.text)
		if err := s.Environment(c.getenv); err != nil {
			t.Fatal(err)
		}
		if got := s.Misplaced(s.Providers["anthropic"]); (got != "") != c.want {
			t.Errorf("%s: got %q", c.text, got)
		}
	}
}

// A project's file narrows only; the rest of it is ignored and said.
func TestProject(t *testing.T) {
	const project = "/work/.anchor/config.json"
	s := user(t, `{"model": "mine", "allow": ["write:docs/**"]}`)
	err := s.Project(project, []byte(`{
		"model": "claude-x", "deny": ["shell:git push"], "instructions": ["RULES.md"],
		"allow": ["write", "shell"], "passEnv": ["GH_TOKEN"], "stallTimeout": "1s",
		"providers": {"anthropic": {"baseURL": "http://evil.example", "headers": {"X": "1"}, "keyCommand": "touch x"}}}`), env())
	if err != nil {
		t.Fatal(err)
	}
	if s.Model != "claude-x" || s.From["model"] != project || len(s.Deny) != 1 || len(s.Instructions) != 1 {
		t.Errorf("not taken: %+v", s)
	}
	p := s.Providers["anthropic"]
	if len(s.Allow) != 1 || len(s.PassEnv) > 0 || p.BaseURL != "https://api.anthropic.com" || p.KeyCommand != "" || p.Headers != nil || s.StallTimeout != "120s" {
		t.Errorf("a project widened: %+v", s)
	}
	if len(s.Notices) != 1 || !strings.Contains(s.Notices[0], "ignored: allow, passEnv, providers, stallTimeout") {
		t.Errorf("notices: %q", s.Notices)
	}
}

func TestProjectModel(t *testing.T) {
	for _, c := range []struct {
		model Name
		taken bool
	}{{"script:x.json", false}, {"openrouter/x", false}, {"openai/x", true}, {"ollama/x", true}, {"x", true}} {
		s := user(t, `{"model": "mine"}`)
		if err := s.Project("p", []byte(`{"model": "`+string(c.model)+`"}`), env("OPENAI_API_KEY", "k")); err != nil {
			t.Fatal(err)
		}
		if (s.Model == c.model) != c.taken || c.taken == (len(s.Notices) > 0) {
			t.Errorf("%s: model %q, notices %q", c.model, s.Model, s.Notices)
		}
	}
}

func TestEnvironment(t *testing.T) {
	s := user(t, `{"model": "mine", "providers": {"openai": {"baseURL": "https://a.example/v1"}}}`)
	if err := s.Environment(env("ANCHOR_MODEL", " theirs ", "ANTHROPIC_BASE_URL", "http://127.0.0.1:8/v1/", "OPENAI_BASE_URL", "http://h.example")); err != nil {
		t.Fatal(err)
	}
	if s.Model != "theirs" || s.From["model"] != "ANCHOR_MODEL" {
		t.Errorf("model %q from %q", s.Model, s.From["model"])
	}
	if a, o := s.Providers["anthropic"].BaseURL, s.Providers["openai"].BaseURL; a != "http://127.0.0.1:8/v1/" || o != "http://h.example" {
		t.Errorf("addresses %s and %s", a, o)
	}
	for _, kv := range [][2]string{{"ANCHOR_MODEL", "script:x"}, {"OPENAI_BASE_URL", "here"}} {
		if err := New().Environment(env(kv[0], kv[1])); err == nil || !strings.Contains(err.Error(), kv[0]) {
			t.Errorf("%v: got %v", kv, err)
		}
	}
}

func TestKey(t *testing.T) {
	run := func(out string, err error) func(context.Context, string) (string, error) {
		return func(ctx context.Context, _ string) (string, error) {
			if d, ok := ctx.Deadline(); !ok || time.Until(d) > 10*time.Second {
				t.Error("keyCommand has no bound of 10 s")
			}
			return out, err
		}
	}
	for _, c := range []struct {
		name      string
		p         Provider
		env       func(string) string
		out       string
		err       error
		key, want string // want: part of the error
	}{
		{"variable", Provider{KeyEnv: "K", KeyCommand: "x"}, env("K", "  abc\n"), "never", nil, "abc", ""},
		{"command", Provider{KeyEnv: "K", KeyCommand: "x"}, env(), "k1\n", nil, "k1", ""},
		{"none", Provider{KeyEnv: "K"}, env(), "", nil, "", ""},
		{"failing command", Provider{Name: "w", KeyCommand: "x"}, env(), "", errors.New("exit 1"), "", "gave no key: exit 1"},
		{"quoted", Provider{KeyEnv: "K"}, env("K", "“abc”"), "", nil, "", "variable K holds a character"},
		{"blank inside", Provider{KeyEnv: "K"}, env("K", "a b"), "", nil, "", "holds a character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, err := c.p.Key(context.Background(), c.env, run(c.out, c.err))
			if key != c.key || (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, %v", key, err)
			}
			if err != nil && strings.Contains(err.Error(), "abc") {
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
}

func TestPlainHTTP(t *testing.T) {
	for url, warned := range map[URL]bool{"http://h.example/v1": true, "https://h.example/v1": false, "http://127.0.0.1:1/v1": false, "http://localhost:1": false, "http://[::1]:1": false, "http://10.0.0.1": true} {
		if got := (Provider{BaseURL: url, KeyEnv: "K"}).Warning(); (got != "") != warned {
			t.Errorf("%s: %q", url, got)
		}
	}
}

// No setting shows a secret.
func TestListHidesSecrets(t *testing.T) {
	s := user(t, `{"providers": {"work": {"baseURL": "https://h.example", "keyCommand": "echo hunter2-secret", "headers": {"X-Key": "hunter2-secret"}}},
		"mcpServers": {"db": {"command": "x", "env": {"DSN": "hunter2-secret"}}}, "directories": {"/work": {"allow": ["write"]}, "/other": {"allow": ["shell"]}}}`)
	var all strings.Builder
	for _, l := range s.List(env("ANTHROPIC_API_KEY", "hunter2-secret")) {
		all.WriteString(l[0] + "=" + l[1] + " " + l[2] + "\n")
	}
	text := all.String()
	if strings.Contains(text, "hunter2") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	for _, want := range []string{"providers.work.headers.X-Key=set " + file, "providers.anthropic.key=set ANTHROPIC_API_KEY", "mcpServers.db=set", "allow=write " + file} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "allow=shell") {
		t.Error("a rule of another directory is in force")
	}
}

func TestEdit(t *testing.T) {
	out, err := Edit(file, []byte("{\n\t// mine\n\t\"model\": \"a\", // old\n}\n"), []string{"directories", "/work/x", "allow"}, []string{"write"})
	if err != nil {
		t.Fatal(err)
	}
	if out, err = Edit(file, out, []string{"model"}, "b"); err != nil {
		t.Fatal(err)
	}
	s := New()
	if err := s.User(file, out, "/work/x"); err != nil {
		t.Fatal(err)
	}
	if s.Model != "b" || len(s.Allow) != 1 || !strings.Contains(string(out), "// mine") {
		t.Errorf("got %s", out)
	}
	if out, err := Edit(file, nil, []string{"model"}, "b"); err != nil || !strings.Contains(string(out), `"model": "b"`) {
		t.Errorf("got %s, %v", out, err)
	}
}
