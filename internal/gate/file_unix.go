//go:build unix

package gate

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// nonblock keeps the opening of a named pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// linkCount is the number of a file's hard links.
func linkCount(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// keepOwner gives f the owner and group of old, as far as the system lets us.
func keepOwner(f *os.File, old fs.FileInfo) {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok || (int(st.Uid) == os.Geteuid() && int(st.Gid) == os.Getegid()) {
		return
	}
	if f.Chown(int(st.Uid), int(st.Gid)) != nil {
		_ = f.Chown(-1, int(st.Gid)) // a file of somebody else's in our group
	}
}

// changed is when the inode was last changed, which no program can set.
func changed(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return changeTime(st)
	}
	return info.ModTime()
}

func executable(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }

// executableSuffixes are what the names of programs may end in.
func executableSuffixes() []string { return []string{""} }
