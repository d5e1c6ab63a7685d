package home

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		env           map[string]string
		config, state string
	}{
		{map[string]string{"HOME": "/h"}, "/h/.config/anchor", "/h/.local/state/anchor"},
		{map[string]string{"HOME": "/h/", "XDG_CONFIG_HOME": "~/c", "XDG_STATE_HOME": "/s"}, "/h/c/anchor", "/s/anchor"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "rel", "XDG_STATE_HOME": "~"}, "/h/.config/anchor", "/h/anchor"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "~bob/c"}, "/h/.config/anchor", "/h/.local/state/anchor"},
	} {
		d, err := Find(func(k string) string { return c.env[k] })
		if err != nil || d.Config != c.config || d.State != c.state || d.Home != "/h" {
			t.Errorf("Find(%v) = %+v, %v", c.env, d, err)
		}
	}
	for _, home := range []string{"", "rel", "~"} {
		if _, err := Find(func(k string) string { return map[string]string{"HOME": home}[k] }); err == nil {
			t.Errorf("HOME=%q: no error", home)
		}
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestWriteReplacesWholeAndKeepsLinks(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(target, 10); string(got) != "new" || err != nil {
		t.Errorf("target holds %q, %v", got, err)
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if err := os.Mkdir(filepath.Join(dir, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "full", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "full"), nil); err == nil {
		t.Error("a directory was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestReadIsBounded(t *testing.T) {
	dir := t.TempDir()
	file, fifo := filepath.Join(dir, "f"), filepath.Join(dir, "p")
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file, 4); err == nil {
		t.Error("5 bytes passed a limit of 4")
	}
	if got, err := Read(file, 5); err != nil || string(got) != "12345" {
		t.Errorf("%q, %v", got, err)
	}
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Skipf("mkfifo: %v, %s", err, out)
	}
	if _, err := Read(fifo, 5); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("FIFO: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none"), 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestLinksAreNotWrittenThrough(t *testing.T) {
	dir := t.TempDir()
	other, link := filepath.Join(dir, "other"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(other, []byte("mine"), 0o644), os.Symlink(other, link)); err != nil {
		t.Skip(err)
	}
	if _, err := Append(link); err == nil {
		t.Error("a link was opened for writing")
	}
	if info, err := os.Stat(other); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("what the link names was changed: %v %v", info.Mode(), err)
	}
}

func TestPlaceThatCannotBeWritten(t *testing.T) {
	blocked := filepath.Join("/proc/self", "anchor", "x") // /proc takes no directories, from root neither
	if err := Write(blocked, nil); err == nil {
		t.Error("written to /proc")
	}
	if _, err := Append(blocked); err == nil {
		t.Error("appended in /proc")
	}
	err := explain(&fs.PathError{Op: "mkdir", Path: "/h/.local", Err: syscall.EROFS})
	if !strings.Contains(err.Error(), "XDG_STATE_HOME") || !errors.Is(err, syscall.EROFS) {
		t.Errorf("unhelpful: %v", err)
	}
}

func TestLockHasOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	var wg sync.WaitGroup
	won := make(chan func() error, 50)
	for range 50 {
		wg.Go(func() {
			if unlock, held, err := Lock(path); err != nil {
				t.Error(err)
			} else if held {
				won <- unlock
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d holders", len(won))
	}
	if err := (<-won)(); err != nil {
		t.Fatal(err)
	}
	if unlock, held, err := Lock(path); !held || err != nil {
		t.Error("not free after unlock", err)
	} else {
		_ = unlock()
	}
}

func TestCreateIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "f")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Create: %v", err)
	}
}
