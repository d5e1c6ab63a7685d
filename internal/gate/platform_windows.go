package gate

import (
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

const nonblock = 0

func linkCount(fs.FileInfo) int { return 1 }

func keepOwner(*os.File, fs.FileInfo) {}

func program(info fs.FileInfo) bool { return info.Mode().IsRegular() }

func programSuffixes() []string { return []string{".exe", ".com", ".bat", ".cmd"} }

// ownSession keeps the console's Ctrl-C from a command.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func groupAlive(int) bool { return false }

func terminate(sessions []int, mark string) { kill(sessions, mark) }

// kill ends processes with their descendants.
func kill(sessions []int, _ string) {
	for _, session := range sessions {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(session)).Run()
	}
}

func alive([]int, string) bool { return false }

func signalName(*os.ProcessState) string { return "" }
