package gate

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

const nonblock = 0

// listing reads the entries of a directory, and returns how to open the regular files among them.
func listing(dir *os.Root) (names []fs.DirEntry, open func(name string) (io.ReadCloser, int64, error), close func() error, err error) {
	names, err = fs.ReadDir(dir.FS(), ".")
	return names, func(name string) (io.ReadCloser, int64, error) {
		f, info, err := openRegular(dir, name, name)
		if err != nil {
			return nil, 0, err
		}
		return f, info.Size(), nil
	}, func() error { return nil }, err
}

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
