package session

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"anchor/internal/msg"
)

// On a disk that is really full, all that was said to be written is there, and the session opens on it as it is.
func TestTmpfsFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no tmpfs can be mounted here (root can): %v", err)
	}
	defer func() { _ = syscall.Unmount(dir, 0) }()
	s := NewStore(dir, plainText)
	l := create(t, s, "/w", "one")
	kept := 1
	for ; kept < 1000; kept++ {
		if _, err := l.Message("", &msg.User{Text: strings.Repeat("x", 1500)}); err != nil {
			break
		}
	}
	l.Close()
	for range 2 { // the second time on the full disk too
		l, p, err := s.Open(l.ID(), "/w")
		if err != nil || len(p.View) != kept || kept == 1000 {
			t.Fatalf("%d of %d messages, %v", len(p.View), kept, err)
		}
		if _, err := l.Message("", &msg.User{Text: strings.Repeat("y", 5000)}); err == nil {
			t.Error("wrote to a full disk")
		}
		l.Close()
	}
	if _, err := os.Stat(l.path); err != nil {
		t.Error(err)
	}
}
