//go:build unix

package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestFingerprint(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "1", "sub/a_test.go": "x", ".gitignore": "out/\n/dist\nbuild/\n*.cfg\n", "out/log": "1", "local.cfg": "1", ".git/HEAD": "ref: refs/heads/main\n", ".env": "K=1"})
	w.Gate.o.OutputDir = w.path("state/output")
	take := func() Fingerprint {
		t.Helper()
		f, err := w.Fingerprint(t.Context(), []string{"*_test.go", "out"})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	before := take()
	if take().Sum != before.Sum {
		t.Error("the same state, another fingerprint")
	}
	if len(before.Protected) != 2 || before.Protected["sub/a_test.go"] == "" || before.Protected["out/log"] == "" {
		t.Errorf("protected: %v", before.Protected)
	}
	for what, c := range map[string]struct {
		do      func()
		changes bool
	}{
		"nothing":          {func() {}, false},
		"build output":     {func() { w.put("out/new", "x") }, false},
		"a build's folder": {func() { w.put("build/x", "x") }, true}, // which is new; what is in it does not count
		"its content":      {func() { w.put("dist/y", "x") }, false},
		"an ignored file":  {func() { w.put("local.cfg", "2") }, true},
		"a commit":         {func() { w.put(".git/logs/HEAD", "x\n") }, true},
		"git's index":      {func() { w.put(".git/index", "x") }, false},
		"anchor's own":     {func() { w.put("state/sessions/a.jsonl", "x") }, false},
		"the same content": {func() { w.put("a.txt", "1") }, true},
		"a new file":       {func() { w.put("new", "") }, true},
		"a secret file":    {func() { w.put(".env", "K=2") }, true},
		"a mode":           {func() { _ = os.Chmod(w.path("a.txt"), 0o600) }, true},
		"an edit in secret": {func() {
			i, _ := os.Stat(w.path("a.txt"))
			w.put("a.txt", "2")
			_ = os.Chtimes(w.path("a.txt"), i.ModTime(), i.ModTime())
		}, true},
		"a removed file": {func() { _ = os.Remove(w.path("sub/a_test.go")) }, true},
	} {
		if what == "its content" {
			w.put("dist/x", "x")
		}
		before := take()
		c.do()
		if after := take(); (after.Sum != before.Sum) != c.changes {
			t.Errorf("%s: changed %v", what, !c.changes)
		}
	}
	if after := take(); after.Protected["sub/a_test.go"] != "" {
		t.Error("a removed file is still protected")
	}
	w.put("sub/a_test.go", "y")
	if after := take(); after.Protected["sub/a_test.go"] == before.Protected["sub/a_test.go"] {
		t.Error("other content, the same hash")
	}
}

func TestProtectGlobs(t *testing.T) {
	w := newWorld(t, map[string]string{"t/a": "1", "s/t/a": "2", "a": "3"})
	_ = os.Symlink("t", w.path("link"))
	for _, c := range []struct {
		glob    string
		matches []string // nil: refused
	}{
		{w.path("t/*"), []string{"t/a"}}, {"t/*", []string{"t/a"}}, {"link/*", []string{"t/a"}}, {w.path("a"), []string{"a"}}, {"./a", []string{"a"}},
		{"a", []string{"a", "s/t/a", "t/a"}}, {"t/", []string{"s/t/a", "t/a"}}, {"s/../t/*", []string{"t/a"}}, {w.path("t") + "/", []string{"t/a"}},
		{".", []string{"a", "s/t/a", "t/a"}}, {w.path(""), []string{"a", "s/t/a", "t/a"}}, {"new/*", []string{}}, {"link", []string{}},
		{"[", nil}, {"{a", nil}, {"t/[", nil}, {"", nil}, {"../x", nil}, {"/etc/*", nil}, {".git/config", nil}, {"**/.git/**", nil}, {"*/../../x", nil}, {"~/x", nil},
	} {
		globs, err := w.ProtectGlobs([]string{c.glob})
		if (err != nil) != (c.matches == nil) {
			t.Errorf("%s: %q, %v", c.glob, globs, err)
		}
		if c.matches == nil {
			continue
		}
		var got []string
		for _, name := range []string{"a", "s/t/a", "t/a"} {
			if matchesAny(globs, name) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, c.matches) && len(got)+len(c.matches) > 0 {
			t.Errorf("%s: %q matches %q, want %q", c.glob, globs, got, c.matches)
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	dir := b.TempDir()
	for i := range 20_000 {
		name := filepath.Join(dir, fmt.Sprintf("d%03d/f%d.go", i/100, i))
		_ = os.MkdirAll(filepath.Dir(name), 0o755)
		_ = os.WriteFile(name, []byte("package x\n"), 0o644)
	}
	g, err := New(Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	before := cpuTime(b)
	defer func() { b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N)/1e6, "cpu-ms/op") }()
	for b.Loop() {
		if _, err := g.Fingerprint(b.Context(), []string{"*_test.go"}); err != nil {
			b.Fatal(err)
		}
	}
}

// cpuTime is the user and system time of this process so far.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
