//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// hasShell says whether what started the program is of its session, as a shell with job control is. The kernel ignores the stop of a
// program that has no such parent (POSIX: an orphaned process group), as when a terminal's window was opened for it alone.
func hasShell() bool {
	parent, err := unix.Getsid(os.Getppid())
	own, err2 := unix.Getsid(0)
	return err == nil && err2 == nil && parent == own
}
