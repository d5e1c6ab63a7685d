package gate

import (
	"io"
	"io/fs"
	"os"
	"path"
)

// handle is an open directory of a scan.
type handle struct{ root *os.Root }

func handleOf(root *os.Root) (handle, error) {
	again, err := root.OpenRoot(".")
	return handle{again}, err
}

func (h handle) dir(name, _ string) (handle, error) {
	next, err := step(h.root, name)
	return handle{next}, err
}

func (h handle) list() ([]fs.DirEntry, error) {
	f, err := h.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (h handle) close() { h.root.Close() }

func (h handle) stat(e *Entry) {
	if info, err := h.root.Lstat(path.Base(e.Rel)); err == nil {
		e.Mode, e.Size, e.Mod, e.Changed = info.Mode(), info.Size(), info.ModTime(), info.ModTime()
	}
}

func (h handle) open(name string) (io.ReadCloser, int64, error) {
	f, info, err := openRegular(h.root, name, name)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}
