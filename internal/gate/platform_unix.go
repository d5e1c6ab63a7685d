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
	"strings"
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

// signalAll signals the group that each session began with, at one stroke, and then every other process.
func signalAll(sessions []int, mark string, sig syscall.Signal) {
	for _, session := range sessions {
		_ = syscall.Kill(-session, sig)
	}
	pids, _ := members(sessions, mark)
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig)
		_ = syscall.Kill(pid, syscall.SIGCONT) // a stopped process hears TERM only then
	}
}

// alive says whether any such process lives. A dead one that nobody has waited for does not count, where /proc can tell.
func alive(sessions []int, mark string) bool {
	pids, known := members(sessions, mark)
	return len(pids) > 0 || !known && slices.ContainsFunc(sessions, groupAlive)
}

// members finds in /proc the living processes of some sessions and those whose environment has a mark that starts so.
// known is false where there is no /proc.
func members(sessions []int, mark string) (pids []int, known bool) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		stat, _ := os.ReadFile(name)
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // state, parent, group, session, …
		if len(f) < 4 || f[0] == "Z" || f[0] == "X" {
			continue
		}
		dir := filepath.Dir(name)
		pid, _ := strconv.Atoi(filepath.Base(dir))
		session, _ := strconv.Atoi(f[3])
		ours := slices.Contains(sessions, session)
		if !ours {
			env, _ := os.ReadFile(dir + "/environ")
			ours = bytes.Contains(append([]byte{0}, env...), []byte("\x00"+markName+"="+mark))
		}
		if ours && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids, len(stats) > 0
}
