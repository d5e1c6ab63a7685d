//go:build unix

package gate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestResolve(t *testing.T) {
	w := newWorld(t, map[string]string{"sub/a.txt": "a", "../out/o.txt": "o", "../dir-sibling/s.txt": "s", "../home/h.txt": "h"})
	w.link("sub", "in")
	w.link("../out", "away")
	w.link(w.path("sub/a.txt"), "abs")
	w.link("two", "one")
	w.link("one", "two")
	w.link("../../out/new", "sub/dangling")
	for _, c := range []struct{ name, abs, rel string }{
		{"sub/a.txt", "dir/sub/a.txt", "sub/a.txt"},
		{".", "dir", "."},
		{"sub/../sub/./a.txt", "dir/sub/a.txt", "sub/a.txt"},
		{"in/a.txt", "dir/sub/a.txt", "sub/a.txt"},
		{"abs", "dir/sub/a.txt", "sub/a.txt"},
		{"in/new/file", "dir/sub/new/file", "sub/new/file"},
		{"away/o.txt", "out/o.txt", ""},
		{"away/new/file", "out/new/file", ""},
		{"away/../dir/sub/a.txt", "dir/sub/a.txt", "sub/a.txt"},
		{"sub/dangling", "out/new", ""},
		{"../dir-sibling/s.txt", "dir-sibling/s.txt", ""},
		{"new/../../out/x", "out/x", ""},
		{"~/h.txt", "home/h.txt", ""},
		{"~", "home", ""},
		{"~x", "dir/~x", "~x"},
		{"/proc/self/cwd/sub/a.txt", "dir/sub/a.txt", "sub/a.txt"},
		{"/proc/self/root/proc/thread-self/cwd", "dir", "."},
	} {
		p := w.resolve(c.name)
		if abs, _ := filepath.Rel(w.root, p.Abs); abs != c.abs || p.Rel != c.rel || p.Inside != (c.rel != "") || p.Fault != "" {
			t.Errorf("%s: %s %q inside %v %s", c.name, abs, p.Rel, p.Inside, p.Fault)
		}
	}
	for _, name := range []string{"", "one", "a\x00b", strings.Repeat("x", 300), strings.Repeat("a/", 3000)} {
		if p := w.resolve(name); p.Fault == "" || p.Inside {
			t.Errorf("%.20q: no fault", name)
		}
	}
	if p := w.resolve("/proc/self/environ"); p.Abs != "/proc/self/environ" || p.Inside {
		t.Errorf("environ: %+v", p.Path)
	}
}

func TestResolveFacts(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a"})
	if err := os.Link(w.path("a.txt"), w.path("b.txt")); err != nil {
		t.Fatal(err)
	}
	if p := w.resolve("a.txt"); !p.Exists || p.Dir || p.Links != 2 {
		t.Errorf("%+v", p.Path)
	}
	if p := w.resolve("."); !p.Exists || !p.Dir {
		t.Errorf("%+v", p.Path)
	}
	skill := filepath.Join(w.root, "out")
	w.Own(skill)
	if !w.resolve("../out/x/y").Own || w.resolve("../out2").Own || !w.resolve("../state/output-1.txt").Own {
		t.Error("own files")
	}
}

// TestReadEnds reads a file that is regular by name and never ends.
func TestReadEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, approver(yes()))
	if _, err := w.Read(t.Context(), "/proc/kmsg", 0); err == nil {
		t.Error("it was read whole")
	}
}

// TestReadHearsCancel reads what never gives anything, if there is such a thing here.
func TestReadHearsCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, approver(yes()))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	start := time.Now()
	if _, err := w.Read(ctx, "/proc/kmsg", 0); err == nil || time.Since(start) > readTime/2 {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	never := make(chan struct{})
	defer close(never)
	if _, err := heard(ctx, func() (int, error) { <-never; return 1, nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestReadOnlyRegularFiles(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "0123456789"}, approver(yes()))
	if err := syscall.Mkfifo(w.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.link("/dev/zero", "zero")
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	for name, kind := range map[string]string{"pipe": "named pipe", "zero": "device", "/dev/zero": "device", ".": "directory"} {
		_, err := w.Read(ctx, name, 0)
		var n *NotRegular
		if !errors.As(err, &n) || n.Kind != kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	f, err := w.Read(ctx, "a.txt", 4)
	if err != nil || string(f.Data) != "0123" || f.Size != 10 || f.Name != "a.txt" {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := w.Read(ctx, "none/x", 0); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none/x") {
		t.Errorf("none: %v", err)
	}
}

func TestSecretsAreDenied(t *testing.T) {
	w := newWorld(t, map[string]string{".env": "API_TOKEN=abcdefgh12345678\n"}, approver(yes()), yolo)
	w.link(".env", "notes.txt")
	for _, name := range []string{".env", "notes.txt", "./x/../.env", "/proc/self/cwd/.env"} {
		if _, err := w.Read(t.Context(), name, 0); !isRefusal(err) {
			t.Errorf("read %s: %v", name, err)
		}
		looked := false
		_, err := w.Write(t.Context(), name, WriteOptions{}, func([]byte, bool) ([]byte, error) { looked = true; return nil, nil })
		if !isRefusal(err) || looked {
			t.Errorf("write %s: %v, looked %v", name, err, looked)
		}
	}
}

// TestSwappedLinks swaps a directory for a link to one outside, and a file for a link to a secret, as fast as it can, while files
// are read and written; the user says no. Nothing outside may be read or touched, and an edit may never see the secret.
func TestSwappedLinks(t *testing.T) {
	t.Parallel()
	tries := 8_000 // of three reads each
	if testing.Short() {
		tries = 500
	}
	no := &user{}
	w := newWorld(t, map[string]string{"real/f": "inside", ".env": "secret", "../out/f": "outside"}, approver(no))
	w.Allow(mustRule(t, "write"))
	ctx, stop := context.WithCancel(t.Context())
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for ctx.Err() == nil {
			_ = os.Symlink("real", w.path("d.new"))
			_ = os.Rename(w.path("d.new"), w.path("d"))
			_ = os.Symlink("../out", w.path("d.new"))
			_ = os.Rename(w.path("d.new"), w.path("d"))
			_ = os.Mkdir(w.path("e"), 0o755)
			_ = os.WriteFile(w.path("e/f"), []byte("inside"), 0o644)
			_ = os.Rename(w.path("e"), w.path("e.old"))
			_ = os.Symlink("../out", w.path("e"))
			_ = os.Remove(w.path("e"))
			_ = os.RemoveAll(w.path("e.old"))
			_ = os.Symlink(".env", w.path("real/g.new"))
			_ = os.Rename(w.path("real/g.new"), w.path("real/g"))
			_ = os.WriteFile(w.path("real/g.new"), []byte("inside"), 0o644)
			_ = os.Rename(w.path("real/g.new"), w.path("real/g"))
		}
	})
	defer swapper.Wait()
	defer stop()
	got := map[string]int{}
	for i := range tries {
		for _, name := range []string{"d/f", "e/f", "real/g"} {
			f, err := w.Read(ctx, name, 0)
			if string(f.Data) == "outside" || string(f.Data) == "secret" {
				t.Fatalf("read %s: %q was seen", name, f.Data)
			}
			if err == nil {
				got[name]++
			}
		}
		if i%20 == 0 { // each is flushed to the disk
			for _, name := range []string{"d/f", "e/f", "real/g", "e/deep/new"} {
				_, _ = w.Write(ctx, name, WriteOptions{}, func(old []byte, _ bool) ([]byte, error) {
					if string(old) == "secret" {
						t.Errorf("write %s: the secret was seen", name)
					}
					return []byte("inside"), nil
				})
			}
		}
	}
	if w.get("../out/f") != "outside" || w.get(".env") != "secret" {
		t.Error("outside was written")
	}
	if left, _ := filepath.Glob(filepath.Join(w.root, "out", "*")); len(left) != 1 {
		t.Errorf("outside has %v", left)
	}
	if got["d/f"] == 0 || got["real/g"] == 0 {
		t.Errorf("nothing was read at all: %v", got)
	}
}

func FuzzResolve(f *testing.F) {
	root := f.TempDir()
	_ = os.MkdirAll(filepath.Join(root, "dir/sub"), 0o755)
	_ = os.Symlink("../../out", filepath.Join(root, "dir/sub/away"))
	_ = os.Symlink("sub", filepath.Join(root, "dir/in"))
	_ = os.Mkdir(filepath.Join(root, "out"), 0o755)
	g, err := New(Options{Dir: filepath.Join(root, "dir"), Home: root})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"sub/away/../x", "in/../..", "~/dir/in/away", "a/../../dir/in", "/proc/self/cwd/in", ".//in/./away/n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p := g.resolve(name)
		if p.Fault != "" {
			return
		}
		again := g.resolve(p.Abs)
		if again.Abs != p.Abs || again.Inside != p.Inside {
			t.Errorf("%q gives %q, which gives %q", name, p.Abs, again.Abs)
		}
		if p.Inside != (p.Abs == g.dir || strings.HasPrefix(p.Abs, g.dir+"/")) {
			t.Errorf("%q: inside %v, %s", name, p.Inside, p.Abs)
		}
		// This process is not the command that is judged: what /proc/self says of it proves nothing.
		real, err := filepath.EvalSymlinks(g.expand(name))
		if ownProc := strings.Contains(name, "self"); err == nil && !ownProc && !strings.HasPrefix(real, "/proc") && real != p.Abs {
			t.Errorf("%q: %q, really %q", name, p.Abs, real)
		}
	})
}
