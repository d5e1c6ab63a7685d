//go:build unix

package gate

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// newSession gives a command a session of its own, without a controlling terminal.
func newSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// groupAlive says whether a process group may have a member.
func groupAlive(group int) bool { return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) }

func terminate(session int, mark string) { signalAll(session, mark, syscall.SIGTERM) }
func kill(session int, mark string)      { signalAll(session, mark, syscall.SIGKILL) }

// signalAll signals the group that the session began with, at one stroke, and then each other process of it. Session 0 is
// none: then it is the mark alone.
func signalAll(session int, mark string, sig syscall.Signal) {
	if session > 0 {
		_ = syscall.Kill(-session, sig)
	}
	pids, _ := members(session, mark)
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig)
		_ = syscall.Kill(pid, syscall.SIGCONT) // a stopped process hears TERM only then
	}
}

// alive says whether any such process lives. A dead one that nobody has waited for does not count, where /proc can tell.
func alive(session int, mark string) bool {
	pids, known := members(session, mark)
	if !known {
		return session > 0 && groupAlive(session)
	}
	return len(pids) > 0
}

// members finds in /proc the living processes of a session and those whose environment has a mark that starts so. known is
// false where there is no /proc.
func members(session int, mark string) (pids []int, known bool) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	want := []byte("\x00" + markName + "=" + mark)
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
		f := strings.Fields(after) // state, parent, group, session, …
		if len(f) < 4 || f[0] == "Z" || f[0] == "X" {
			continue
		}
		dir := filepath.Dir(name)
		ours := session > 0 && f[3] == strconv.Itoa(session)
		if !ours {
			env, _ := os.ReadFile(dir + "/environ")
			ours = carries(append([]byte{0}, env...), want)
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && ours && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids, len(stats) > 0
}

// carries says whether an environment has the mark: the whole of it, or one that begins so if it ends in a dot.
func carries(env, mark []byte) bool {
	i := bytes.Index(env, mark)
	if i < 0 {
		return false
	}
	rest := env[i+len(mark):]
	return mark[len(mark)-1] == '.' || len(rest) == 0 || rest[0] == 0
}

// signalName names the signal that ended a process, or is empty.
func signalName(s *os.ProcessState) string {
	if st, ok := s.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return st.Signal().String()
	}
	return ""
}
