package gate

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// newSession keeps the console's Ctrl-C from a command.
func newSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func groupAlive(int) bool { return false }

func terminate(session int, mark string) { kill(session, mark) }

// kill ends a process and its descendants.
func kill(session int, _ string) {
	if session > 0 {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(session)).Run()
	}
}

func alive(int, string) bool { return false }

func signalName(*os.ProcessState) string { return "" }
