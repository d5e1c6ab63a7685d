package diff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnified(t *testing.T) {
	for _, c := range []struct {
		old, new, want string
		added, removed int
	}{
		{"", "hello\n", "@@ -0,0 +1 @@\n+hello\n", 1, 0},
		{"one\n", "two\n", "@@ -1 +1 @@\n-one\n+two\n", 1, 1},
		{"same\n", "same\n", "", 0, 0},
		{"a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n", 0, 2},
		{"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", 1, 1},
		{"--x\n++y\n", "++y\n", "@@ -1,2 +1 @@\n---x\n ++y\n", 0, 1},
		{"a\r\nb\r\n", "a\r\nc\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n", 1, 1},
	} {
		got := Unified([]byte(c.old), []byte(c.new))
		if got != c.want {
			t.Errorf("%q to %q:\n%s\nwant\n%s", c.old, c.new, got, c.want)
		}
		if a, r := Count(got); a != c.added || r != c.removed {
			t.Errorf("%q: %d added, %d removed", got, a, r)
		}
	}
}

// text makes a text of a few different lines with odd endings, so that hunks meet and files end in every way.
func text(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(30) {
		b.WriteString([]string{"a\n", "b\n", "\n", "x\r\n", "-- y\n", "@@ -1 +1 @@\n", "\\ No newline at end of file\n", "\xff\n"}[r.IntN(8)])
	}
	if r.IntN(2) == 0 {
		b.WriteString("tail")
	}
	return b.String()
}

func TestApplyRestores(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		old, new := text(r), text(r)
		back := Unified([]byte(new), []byte(old))
		got, err := Apply([]byte(new), back)
		if err != nil || string(got) != old {
			t.Fatalf("from %q with %q: got %q, %v, want %q", new, back, got, err, old)
		}
	}
}

func TestApplyIsStrict(t *testing.T) {
	for _, c := range []struct{ old, diff string }{
		{"two\n", "@@ -1 +1 @@\n-one\n+two\n"},
		{"x\none\n", "@@ -1 +1 @@\n-one\n+two\n"},
		{"one\n", "@@ -1 +1 @@\n one\n-one\n+two\n"},
		{"one\n", "@@ -9 +9 @@\n-one\n+two\n"},
		{"one\n", "rubbish"},
		{"one\n", "@@ -1 +1 @@\n*one\n"},
		{"a\nb\n", "@@ -2 +2 @@\n-b\n+c\n@@ -1 +1 @@\n-a\n+c\n"},
	} {
		if got, err := Apply([]byte(c.old), c.diff); err == nil {
			t.Errorf("%q with %q gave %q", c.old, c.diff, got)
		}
	}
}

// TestGitApplies checks the format against git itself.
func TestGitApplies(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 20 {
		old, new := text(r), text(r)
		dir := t.TempDir()
		if old == new || old == "" || new == "" {
			continue
		}
		patch := "--- a/f\n+++ b/f\n" + Unified([]byte(old), []byte(new))
		write(t, filepath.Join(dir, "f"), old)
		write(t, filepath.Join(dir, "p"), patch)
		cmd := exec.Command(git, "apply", "--whitespace=nowarn", "p")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%d: %v: %s\n%s", i, err, out, patch)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != new {
			t.Fatalf("%d: got %q, want %q", i, got, new)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func FuzzApply(f *testing.F) {
	f.Add("one\n", "two", "@@ -1 +1 @@\n-one\n+two\n")
	f.Fuzz(func(t *testing.T, old, new, diff string) {
		_, _ = Apply([]byte(old), diff)
		if got, err := Apply([]byte(old), Unified([]byte(old), []byte(new))); err != nil || string(got) != new {
			t.Fatalf("%q to %q gave %q, %v", old, new, got, err)
		}
	})
}

func BenchmarkUnified(b *testing.B) {
	var old, new strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&old, "line %d\n", i)
		fmt.Fprintf(&new, "line %d\n", i+i/50%2*(i%50/49))
	}
	for b.Loop() {
		Unified([]byte(old.String()), []byte(new.String()))
	}
}
