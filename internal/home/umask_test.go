//go:build unix

package home

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestFilesArePrivateWhateverTheUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := Write(filepath.Join(dir, "w"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "open"), []byte("was open\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"new", "open"} {
		f, err := Append(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("more\n"); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	unlock, held, err := Lock(filepath.Join(dir, "l"))
	if err != nil || !held {
		t.Fatal(held, err)
	}
	defer func() { _ = unlock() }()
	for _, name := range []string{"w", "new", "open", "l"} {
		if m := mode(t, filepath.Join(dir, name)); m != 0o600 {
			t.Errorf("%s has mode %o", name, m)
		}
	}
	if m := mode(t, dir); m != 0o700 {
		t.Errorf("directory has mode %o", m)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "open")); string(data) != "was open\nmore\n" {
		t.Errorf("appended: %q", data)
	}
}
