package gate_test

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/policy"
)

// treeGate makes files ("name": content; "name/" a directory; "name": "-> target" a link) and a gate for their directory.
func treeGate(t testing.TB, files map[string]string, env ...string) *gate.Gate {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		target, isLink := strings.CutPrefix(content, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(full, 0o755)
		case isLink:
			err = os.Symlink(target, full)
		case err == nil:
			err = os.WriteFile(full, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := gate.New(gate.Options{Dir: dir, Home: filepath.Join(dir, "home"), Env: env, Sink: func(event.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func walked(t *testing.T, g *gate.Gate, root string, o gate.WalkOptions) (string, gate.Skipped) {
	t.Helper()
	defer goleak.VerifyNone(t)
	var names []string
	skipped, err := g.Walk(t.Context(), root, o, func(e gate.Entry) error {
		names = append(names, e.Name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " "), skipped
}

func found(t *testing.T, g *gate.Gate, root string, o gate.WalkOptions) (string, gate.Skipped) {
	t.Helper()
	defer goleak.VerifyNone(t)
	var mu sync.Mutex
	var names []string
	skipped, err := g.Search(t.Context(), root, o, func(e gate.Entry, data []byte) error {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(string(data), "needle") {
			names = append(names, e.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return strings.Join(names, " "), skipped
}

func TestWalkOrderLinksAndDepth(t *testing.T) {
	g := treeGate(t, map[string]string{"b/x": "", "b/c/y": "", "b.txt": "", "a": "", ".dot": "", "b/loop": "-> ..", "dead": "-> /no/such", "zero": "-> /dev/zero", "empty/": ""})
	if got, _ := walked(t, g, ".", gate.WalkOptions{}); got != ".dot a b b/c b/c/y b/loop b/x b.txt dead empty zero" {
		t.Error(got)
	}
	if got, _ := walked(t, g, ".", gate.WalkOptions{Depth: 1}); got != ".dot a b b.txt dead empty zero" {
		t.Error(got)
	}
	if got, _ := walked(t, g, "b", gate.WalkOptions{Want: func(e gate.Entry) bool { return !e.Type.IsDir() && e.Rel != "x" }}); got != "b/c/y b/loop" {
		t.Error(got)
	}
	n, stop := 0, errors.New("stop")
	if _, err := g.Walk(t.Context(), ".", gate.WalkOptions{}, func(gate.Entry) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestIgnoreFilesAsGit(t *testing.T) {
	files := map[string]string{
		".gitignore": "build/\n*.log\n!keep.log\n", "src/.gitignore": "gen_*\n", "src/a": "needle", "src/gen_x": "needle", "build/a.txt": "needle", "x.log": "needle", "keep.log": "needle",
		".ignore": "notes\n", "notes": "needle", "home/.gitconfig": "[core]\n\texcludesFile = ~/mine\n", "home/mine": "*.swp\n", "src/b.swp": "needle", "secret.txt": "needle", "bin": "needle\x00",
	}
	for _, repository := range []bool{false, true} {
		if repository {
			files[".git/info/exclude"], files[".git/x"] = "secret.txt\n", "needle"
			files["sub/.git/HEAD"], files["sub/y.log"], files["sub/notes"] = "", "needle", "needle" // another repository
		}
		g := treeGate(t, files)
		want, out := "keep.log secret.txt src/a", 5
		if repository {
			want, out = "keep.log src/a sub/y.log", 7
		}
		if got, skipped := found(t, g, ".", gate.WalkOptions{}); got != want || skipped.Ignored != out || skipped.Binary != 1 {
			t.Errorf("repository %v: %q %+v", repository, got, skipped)
		}
		if got, _ := found(t, g, "build", gate.WalkOptions{}); got != "build/a.txt" {
			t.Errorf("a named directory: %q", got)
		}
		if got, _ := found(t, g, "x.log", gate.WalkOptions{}); got != "x.log" {
			t.Errorf("a named file: %q", got)
		}
		if got, _ := found(t, g, "src", gate.WalkOptions{}); got != "src/a" {
			t.Errorf("below the top: %q", got)
		}
		if got, _ := found(t, g, "src", gate.WalkOptions{Ignored: true}); got != "src/a src/b.swp src/gen_x" {
			t.Errorf("with ignored: %q", got)
		}
	}
}

func TestTheUsersExcludesFile(t *testing.T) {
	for config, want := range map[string]bool{
		"[core]\n\texcludesFile = ~/mine\n":                                        true,
		"[user]\nexcludesfile=no\n[CORE] EXCLUDESFILE=\"~/my own\" ; comment\n":    true,
		"[core]\nexcludesFile=~/mine # x\n[core \"sub\"]\nexcludesFile=/two\n":     true,
		"# [core]\n[core]\n;excludesFile=/x\neditor = vi\nexcludesFile = ~/a\\\\b": true,
		"[core]\nexcludesFile=/one\nexcludesFile=~/mine":                           true,
		"[core]\nexcludesFile=~/mine\nexcludesFile=/one":                           false,
		"nonsense\n[core\nexcludesFile=~/mine":                                     false,
	} {
		g := treeGate(t, map[string]string{"home/.gitconfig": config, "home/mine": "*.swp\n", "home/my own": "*.swp\n", "home/a\\b": "*.swp\n", "x.swp": ""})
		if _, skipped := walked(t, g, ".", gate.WalkOptions{}); skipped.Ignored == 1 != want {
			t.Errorf("%q: %+v", config, skipped)
		}
	}
}

// TestWalkAsGit compares with git itself in a repository with a linked working tree.
func TestWalkAsGit(t *testing.T) {
	g := treeGate(t, map[string]string{"main/.gitignore": "*.o\n/out\n", "main/a.c": "", "main/d/b.c": ""})
	git := func(dir string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", filepath.Join(g.Dir(), dir), "-c", "user.name=x", "-c", "user.email=x@y"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
		return string(out)
	}
	git("main", "init", "-q")
	git("main", "add", ".")
	git("main", "commit", "-qm", "x")
	git("main", "worktree", "add", "-q", "../tree")
	if err := os.WriteFile(filepath.Join(g.Dir(), "main/.git/info/exclude"), []byte("*.tmp\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tree/x.tmp", "tree/y.o", "tree/d/z", "main/x.tmp", "main/d/out"} {
		if err := os.WriteFile(filepath.Join(g.Dir(), name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"main", "tree"} {
		want := strings.Fields(git(dir, "ls-files", "-co", "--exclude-standard"))
		slices.Sort(want)
		var got []string
		_, err := g.Walk(t.Context(), dir, gate.WalkOptions{}, func(e gate.Entry) error {
			if !e.Type.IsDir() {
				got = append(got, e.Rel)
			}
			return nil
		})
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, git says %q", dir, got, err, want)
		}
	}
}

func TestSearchLeavesOutSecretsAndDenied(t *testing.T) {
	g := treeGate(t, map[string]string{".env": "needle", "id_rsa": "needle", ".ssh/config": "needle", "private/x": "needle", "a": "needle", ".env.example": "needle", "empty": ""})
	got, skipped := found(t, g, ".", gate.WalkOptions{})
	if got != ".env.example a private/x" || skipped.Secret != 3 || skipped.Binary != 0 {
		t.Errorf("%q %+v", got, skipped)
	}
	rule, err := policy.ParseRule("read:private/**")
	if err != nil {
		t.Fatal(err)
	}
	g, _ = gate.New(gate.Options{Dir: g.Dir(), Rules: policy.Rules{Deny: []policy.Sourced{{Rule: rule, Source: "--deny"}}}})
	if got, skipped = found(t, g, ".", gate.WalkOptions{}); got != ".env.example a" || skipped.Denied != 1 {
		t.Errorf("%q %+v", got, skipped)
	}
}

func TestSearchOutsideAndThroughLinks(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("needle"), 0o644); err != nil {
		t.Fatal(err)
	}
	g := treeGate(t, map[string]string{"notes": "-> " + outside + "/secret.txt", "dir": "-> " + outside, "a": "needle"})
	if got, _ := found(t, g, ".", gate.WalkOptions{}); got != "a" {
		t.Error(got)
	}
	for _, root := range []string{"notes", "dir", outside, "../" + filepath.Base(outside)} {
		_, err := g.Search(t.Context(), root, gate.WalkOptions{}, func(gate.Entry, []byte) error { t.Error("read"); return nil })
		if refusal := new(gate.Refusal); !errors.As(err, &refusal) {
			t.Errorf("%s: %v", root, err)
		}
	}
}

func TestSearchEnds(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("d%d/%d", i%20, i)] = "needle"
	}
	g := treeGate(t, files)
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := g.Search(ctx, ".", gate.WalkOptions{}, func(gate.Entry, []byte) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	stop := errors.New("stop")
	if _, err = g.Search(t.Context(), ".", gate.WalkOptions{}, func(gate.Entry, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// bigTree is the root of a generated tree of 20,000 files.
func bigTree(b *testing.B) *gate.Gate {
	g := treeGate(b, map[string]string{".gitignore": "*.o\nnode_modules/\n/build\n"})
	line := strings.Repeat("some words of program text, and more of it;\n", 40)
	for i := range 20_000 {
		dir := filepath.Join(g.Dir(), fmt.Sprintf("pkg%d/sub%d", i%40, i%400))
		if i < 400 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", i)), []byte(fmt.Sprintf("package p%d\n%sfunc Open%d() {}\n", i, line, i)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	return g
}

func BenchmarkWalk(b *testing.B) {
	trees := map[string]*gate.Gate{"20000": bigTree(b)}
	trees["goroot"], _ = gate.New(gate.Options{Dir: filepath.Join(build.Default.GOROOT, "src")})
	for name, g := range trees {
		b.Run("want/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := g.Walk(b.Context(), ".", gate.WalkOptions{Want: func(e gate.Entry) bool { return strings.HasSuffix(e.Name, "_linux.go") }}, func(gate.Entry) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("read/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := g.Search(b.Context(), ".", gate.WalkOptions{}, func(gate.Entry, []byte) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
