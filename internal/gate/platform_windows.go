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

// folder is an open directory.
type folder struct{ *os.Root }

func openFolder(dir *os.Root) (folder, error) {
	f, err := dir.OpenRoot(".")
	return folder{f}, err
}

func (f folder) list() (out []Entry, err error) {
	names, err := fs.ReadDir(f.FS(), ".")
	for _, d := range names {
		if info, err := d.Info(); err == nil {
			mod := info.ModTime()
			out = append(out, Entry{Name: d.Name(), Size: info.Size(), Mod: mod, Type: d.Type(), mode: uint32(info.Mode()), changed: mod.UnixNano()})
		}
	}
	return out, err
}

func (f folder) open(name string) (io.ReadCloser, int64, error) {
	file, info, err := openRegular(f.Root, name, name)
	if err != nil {
		return nil, 0, err
	}
	return file, info.Size(), nil
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
