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

// ownSession keeps the console's Ctrl-C from a command.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func groupAlive(int) bool { return false }

// signalAll ends processes with their descendants, whatever the signal.
func signalAll(groups []int, _ string, _ syscall.Signal) {
	for _, group := range groups {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(group)).Run()
	}
}

func alive([]int, string) bool { return false }
