//go:build unix

package gate

import (
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// handle is an open directory of a scan. What is opened from it lies in it: names are single, and links are refused.
type handle struct {
	file *os.File
	fd   int
}

// handleOf opens the directory of root once more.
func handleOf(root *os.Root) (handle, error) {
	f, err := root.Open(".")
	if err != nil {
		return handle{}, err
	}
	defer f.Close()
	return handle{fd: int(f.Fd())}.dir(".", root.Name())
}

// dir opens a directory in this one; abs is its whole name.
func (h handle) dir(name, abs string) (handle, error) {
	fd, err := unix.Openat(h.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return handle{}, err
	}
	return handle{os.NewFile(uintptr(fd), abs), fd}, nil
}

func (h handle) list() ([]fs.DirEntry, error) { return h.file.ReadDir(-1) }

func (h handle) close() { h.file.Close() }

// stat looks up what an entry of this directory is.
func (h handle) stat(e *Entry) {
	var st unix.Stat_t
	if unix.Fstatat(h.fd, path.Base(e.Rel), &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		e.Mode, e.Size = e.Type|fs.FileMode(st.Mode&0o777), st.Size
		e.Mod, e.Changed = time.Unix(st.Mtim.Unix()), time.Unix(st.Ctim.Unix())
	}
}

// open opens a regular file in this directory, without waiting, and returns its size.
func (h handle) open(name string) (io.ReadCloser, int64, error) {
	fd, err := unix.Openat(h.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errSwapped
	}
	if err != nil {
		unix.Close(fd)
		return nil, 0, err
	}
	return rawFile(fd), st.Size, nil
}

// rawFile reads a regular file without the work that os.File does to be ready for pipes.
type rawFile int

func (f rawFile) Read(p []byte) (int, error) {
	n, err := unix.Read(int(f), p)
	for err == unix.EINTR {
		n, err = unix.Read(int(f), p)
	}
	if err != nil {
		return 0, err
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f rawFile) Close() error { return unix.Close(int(f)) }
