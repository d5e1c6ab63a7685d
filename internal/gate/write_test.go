package gate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"anchor/internal/event"
	"anchor/internal/policy"
)

func mustRule(t *testing.T, s string) policy.Rule {
	t.Helper()
	r, err := policy.ParseRule(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func replace(old, new string) Edit {
	return func(data []byte, _ bool) ([]byte, error) {
		return []byte(strings.Replace(string(data), old, new, 1)), nil
	}
}

func TestWrite(t *testing.T) {
	w := newWorld(t, map[string]string{"run.sh": "#!/bin/sh\n", "real/conf": "v=1\n"}, approver(yes()))
	_ = os.Chmod(w.path("run.sh"), 0o751)
	w.link("real/conf", "link.conf")
	ctx := t.Context()
	made, err := w.Write(ctx, "x/y/new.txt", WriteOptions{CallID: "c1"}, set("one\ntwo\n"))
	if err != nil || !made.Created || made.Added != 2 || w.get("x/y/new.txt") != "one\ntwo\n" {
		t.Fatalf("%+v %v", made, err)
	}
	d, f := w.events[0].(event.Diff), w.events[1].(event.FileChanged)
	if d.ID != "c1" || d.Path != "x/y/new.txt" || f.Path != "x/y/new.txt" || f.Added != 2 {
		t.Errorf("%+v %+v", d, f)
	}
	if _, err := w.Write(ctx, "run.sh", WriteOptions{}, set("#!/bin/bash\n")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(w.path("run.sh")); info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v", info.Mode())
	}
	out, err := w.Write(ctx, "link.conf", WriteOptions{}, replace("1", "2"))
	if info, _ := os.Lstat(w.path("link.conf")); err != nil || info.Mode()&fs.ModeSymlink == 0 || w.get("real/conf") != "v=2\n" || out.Name != "real/conf" {
		t.Errorf("through a link: %+v %v %q", out, err, w.get("real/conf"))
	}
	asked := len(w.events)
	if out, err := w.Write(ctx, "run.sh", WriteOptions{}, replace("none", "x")); err != nil || !out.Unchanged || len(w.events) != asked {
		t.Errorf("unchanged: %+v %v", out, err)
	}
	broken := errors.New("no match")
	if _, err := w.Write(ctx, "run.sh", WriteOptions{}, func([]byte, bool) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("edit's error: %v", err)
	}
	if left, _ := filepath.Glob(w.path(".anchor-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriteNeedsSeen(t *testing.T) {
	w := newWorld(t, map[string]string{"f.txt": "v1\nx\n"}, approver(yes()))
	ctx, need := t.Context(), WriteOptions{NeedSeen: true}
	stale := func(want string) {
		t.Helper()
		_, err := w.Write(ctx, "f.txt", need, set("new"))
		var s *StaleError
		if !errors.As(err, &s) || !strings.Contains(s.Reason, want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	stale("not read whole")
	f, _ := w.Read(ctx, "f.txt", 0)
	w.Saw(f, 2, 2, 2)
	stale("not read whole")
	w.Saw(f, 1, 1, 2)
	info, _ := os.Stat(w.path("f.txt"))
	w.put("f.txt", "v2\nx\n") // the same length, and the same time
	_ = os.Chtimes(w.path("f.txt"), info.ModTime(), info.ModTime())
	stale("changed since")
	f, _ = w.Read(ctx, "f.txt", 0)
	w.Saw(f, 1, 2, 2)
	for _, text := range []string{"v3\n", "v4\n"} { // an own write counts as seen
		if _, err := w.Write(ctx, "f.txt", need, set(text)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.For(w.sink, "agent-1").Write(ctx, "f.txt", need, set("v5\n")); err == nil {
		t.Error("what the parent saw, the sub-agent has not")
	}
	other := newWorld(t, map[string]string{"f.txt": "v1\n"}, approver(yes()))
	other.Restore([]Seen{{Path: "f.txt", Sum: sumOf([]byte("v1\n"))}})
	if _, err := other.Write(ctx, "f.txt", need, set("v2\n")); err != nil {
		t.Errorf("after a resume: %v", err)
	}
}

func TestChangedWhileAsked(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"changed": func(w *world) { w.put("a.txt", "mine\n") },
		"removed": func(w *world) { _ = os.Remove(w.path("a.txt")) },
		"linked":  func(w *world) { _ = os.Remove(w.path("a.txt")); w.link("../out/o.txt", "a.txt") },
		"made":    func(w *world) { w.put("new.txt", "mine\n") },
	} {
		u := yes()
		w := newWorld(t, map[string]string{"a.txt": "one\n", "../out/o.txt": "one\n"}, approver(u))
		u.before = func(Request) { change(w) }
		file := "a.txt"
		if name == "made" {
			file = "new.txt"
		}
		_, err := w.Write(t.Context(), file, WriteOptions{}, set("two\n"))
		var s *StaleError
		if !errors.As(err, &s) || len(w.events) > 0 || len(w.records) > 0 || w.get(file) == "two\n" || w.get("../out/o.txt") != "one\n" {
			t.Errorf("%s: %v, %v", name, err, w.events)
		}
	}
}

func TestWritesToOneFileAreSerial(t *testing.T) {
	w := newWorld(t, map[string]string{"n.txt": strings.Repeat("-", 40)}, approver(yes()))
	var all sync.WaitGroup
	for i := range 40 {
		g := w.Gate
		if i%2 == 0 {
			g = w.For(w.sink, "agent-1")
		}
		all.Go(func() {
			if _, err := g.Write(context.Background(), "n.txt", WriteOptions{}, replace("-", "x")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if w.get("n.txt") != strings.Repeat("x", 40) {
		t.Errorf("edits were lost: %s", w.get("n.txt"))
	}
}

func TestWriteRefusals(t *testing.T) {
	key := "zq8-long-and-quite-random-71"
	w := newWorld(t, map[string]string{"conf": "k=" + key + "\n", "tests/a_test.go": "x", "../out/o": "secret text\n"}, approver(yes()), env("MY_TOKEN="+key))
	ctx := t.Context()
	masked := w.Mask("k=" + key + "\n")
	if _, err := w.Write(ctx, "conf", WriteOptions{}, set(masked+"new=1\n")); !isRefusal(err) || w.get("conf") != "k="+key+"\n" {
		t.Errorf("a mask was written: %v", err)
	}
	if _, err := w.Write(ctx, "conf", WriteOptions{}, set("k="+key+"\nnew=1\n")); err != nil {
		t.Error(err)
	}
	if d := w.events[0].(event.Diff); strings.Contains(d.Diff, key) {
		t.Errorf("diff shows the secret: %s", d.Diff)
	}
	w.Protect([]string{"*_test.go", "go.mod"})
	w.put("real.go", "x")
	if err := os.Symlink("real.go", w.path("link_test.go")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tests/a_test.go", "b_test.go", "go.mod", "link_test.go", w.path("link_test.go")} {
		if _, err := w.For(w.sink, "a").Write(ctx, name, WriteOptions{}, set("y")); !isRefusal(err) || !strings.Contains(err.Error(), "protected") {
			t.Errorf("%s: %v", name, err)
		}
	}
	quoting := func(old []byte, _ bool) ([]byte, error) { return nil, errors.New("nearest: " + string(old)) }
	if _, err := w.Write(ctx, "../out/o", WriteOptions{}, quoting); err == nil || strings.Contains(err.Error(), "secret text") {
		t.Errorf("an edit's error showed a file outside: %v", err)
	}
	if _, err := w.Write(ctx, ".", WriteOptions{}, set("x")); err == nil {
		t.Error("wrote a directory")
	}
	full := errors.New("no space")
	w.o.Record = func(Record) error { return full }
	if _, err := w.Write(ctx, "conf", WriteOptions{}, set("z")); !errors.Is(err, full) || w.get("conf") == "z" {
		t.Errorf("not recorded: %v", err)
	}
}

func TestUndo(t *testing.T) {
	key := "zq8-long-and-quite-random-71"
	w := newWorld(t, map[string]string{"a.txt": "1\n", "b.txt": "b\n", "s.txt": "k=" + key, "bin": "\xff\xfe\x00"}, approver(yes()), env("MY_TOKEN="+key))
	_ = os.Chmod(w.path("a.txt"), 0o600)
	for _, c := range [][2]string{{"a.txt", "2\n"}, {"new/c.txt", "c"}, {"a.txt", "3\nno end"}, {"b.txt", "bb\n"}, {"s.txt", "k="}, {"bin", "text"}} {
		if _, err := w.Write(t.Context(), c[0], WriteOptions{}, set(c[1])); err != nil {
			t.Fatal(err)
		}
	}
	w.put("b.txt", "by the user\n")
	_ = os.Chmod(w.path("a.txt"), 0o644)
	w.o.Approver = nil
	undone, refused := w.Undo(t.Context(), w.changes())
	if strings.Join(undone, " ") != "a.txt new/c.txt" || len(refused) != 3 {
		t.Errorf("undone %v, refused %v", undone, refused)
	}
	info, _ := os.Stat(w.path("a.txt"))
	if w.get("a.txt") != "1\n" || info.Mode().Perm() != 0o644 || w.get("new/c.txt") != "(none)" || w.get("b.txt") != "by the user\n" || w.get("s.txt") != "k=" {
		t.Errorf("a %q %v, c %q, b %q", w.get("a.txt"), info.Mode(), w.get("new/c.txt"), w.get("b.txt"))
	}
	if n := len(w.changes()); n != 6 {
		t.Errorf("undo was recorded as a change: %d", n)
	}
}
