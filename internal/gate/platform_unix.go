//go:build unix

package gate

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nonblock keeps the opening of a named pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// folder is an open directory. What is in it is looked at and opened past os.Root and os.File, whose parts in this cost more than the
// reading of a small file. No link is followed.
type folder struct{ *os.File }

func openFolder(dir *os.Root) (folder, error) {
	f, err := dir.Open(".")
	return folder{f}, err
}

// list returns the entries by their bare names, in their order. What is gone meanwhile is left out.
func (f folder) list() ([]Entry, error) {
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	fd, out := int(f.Fd()), make([]Entry, 0, len(names))
	for _, name := range names {
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue
		}
		mode := uint32(st.Mode) //nolint:unconvert // it has 16 bits on macOS
		e := Entry{Name: name, Size: st.Size, Mod: time.Unix(st.Mtim.Unix()), Type: fs.ModeIrregular, mode: mode, changed: st.Ctim.Nano(), number: int64(st.Ino)}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			e.Type = 0
		case unix.S_IFDIR:
			e.Type = fs.ModeDir
		case unix.S_IFLNK:
			e.Type = fs.ModeSymlink
		}
		out = append(out, e)
	}
	return out, err
}

// open opens a regular file, without waiting.
func (f folder) open(name string) (io.ReadCloser, int64, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Openat(int(f.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, 0, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errSwapped
	}
	if err != nil {
		_ = unix.Close(fd) // nothing was read or written
	}
	return descriptor(fd), st.Size, err
}

// descriptor reads a file.
type descriptor int

func (d descriptor) Close() error { return unix.Close(int(d)) }

func (d descriptor) Read(p []byte) (int, error) {
	n, err := ignoringEINTR(func() (int, error) { return unix.Read(int(d), p) })
	if n == 0 && err == nil && len(p) > 0 {
		err = io.EOF
	}
	return max(n, 0), err
}

// ignoringEINTR makes a call again as long as a signal ends it.
func ignoringEINTR(call func() (int, error)) (n int, err error) {
	for n, err = call(); errors.Is(err, unix.EINTR); n, err = call() {
	}
	return n, err
}

// linkCount is the number of a file's hard links.
func linkCount(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// keepOwner gives f the owner and group of old, as far as the system lets us.
func keepOwner(f *os.File, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok && f.Chown(int(st.Uid), int(st.Gid)) != nil {
		_ = f.Chown(-1, int(st.Gid)) // a file of somebody else's in our group
	}
}

// ownSession gives a command a session of its own, without a controlling terminal.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// groupAlive says whether a process group may have a member.
func groupAlive(group int) bool { return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) }

// signalAll signals some groups, each at one stroke, and then every process with the mark.
func signalAll(groups []int, mark string, sig syscall.Signal) {
	for _, group := range groups {
		_ = syscall.Kill(-group, sig)
	}
	for _, pid := range marked(mark) {
		_ = syscall.Kill(pid, sig)
		_ = syscall.Kill(pid, syscall.SIGCONT) // a stopped process hears TERM only then
	}
}

// alive says whether any such process lives. A dead one that nobody has waited for does not count, where /proc can tell.
func alive(groups []int, mark string) bool {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		return slices.ContainsFunc(groups, groupAlive)
	}
	return len(marked(mark)) > 0
}

// marked finds in /proc the living processes whose environment has a mark that starts so.
func marked(mark string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		env, _ := os.ReadFile(name) // of the dead it is empty
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if pid != os.Getpid() && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+markName+"="+mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}
