//go:build unix

package gate

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
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
