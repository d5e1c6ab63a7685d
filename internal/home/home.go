// Package home is anchor's own place on disk: settings, sessions, saved output, tokens. It and gate are the only packages that touch
// files. Everything it makes is for the user alone: files 0600, directories 0700.
package home

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
)

// Dirs are anchor's own directories; they need not exist. Made by Find, handed down as a value.
type Dirs struct {
	Config string // $XDG_CONFIG_HOME/anchor, default ~/.config/anchor
	State  string // $XDG_STATE_HOME/anchor, default ~/.local/state/anchor
	Home   string // the user's home directory
}

// Find works them out from an environment. A leading ~/ in a variable is expanded; a relative XDG value is ignored as the XDG
// specification says. The error says that there is no home directory.
func Find(getenv func(string) string) (Dirs, error) {
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return Dirs{}, errors.New("no home directory: set HOME to an absolute path")
	}
	place := func(variable, usual string) string {
		dir := getenv(variable)
		if rest, ok := strings.CutPrefix(dir+"/", "~/"); ok {
			dir = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(home, usual)
		}
		return filepath.Join(dir, "anchor")
	}
	return Dirs{Config: place("XDG_CONFIG_HOME", ".config"), State: place("XDG_STATE_HOME", ".local/state"), Home: filepath.Clean(home)}, nil
}

// Open opens a file of anchor's own for reading. Anything but a regular file is an error.
func Open(path string) (*os.File, error) { return open(path, os.O_RDONLY) }

// OpenOwn is Open for what only anchor makes: a link is an error too.
func OpenOwn(path string) (*os.File, error) {
	if err := unlinked(path); err != nil {
		return nil, err
	}
	return Open(path)
}

// unlinked fails for what is there and no regular file itself: what a link names is not anchor's own.
func unlinked(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	return nil
}

// Append opens a file for appending, 0600, making its directories 0700. A file that others could read is closed to them.
func Append(path string) (*os.File, error) { return open(path, os.O_RDWR|os.O_APPEND|os.O_CREATE) }

// Create is Append for a file that must not exist yet: the error is then fs.ErrExist.
func Create(path string) (*os.File, error) {
	return open(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
}

func open(path string, flag int) (*os.File, error) {
	writing := flag != os.O_RDONLY
	if writing {
		if err := makeDir(path); err != nil {
			return nil, err
		}
		if err := unlinked(path); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0o600) // without O_NONBLOCK, a FIFO would wait for its other end
	if err != nil {
		return nil, explain(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err == nil && writing && info.Mode().Perm()&0o077 != 0 {
		err = explain(f.Chmod(0o600))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read reads such a file, at most max bytes: a longer one is an error.
func Read(path string, max int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, max)
	}
	return data, err
}

// List returns what is in a directory of anchor's own, by name.
func List(dir string) ([]fs.DirEntry, error) { return os.ReadDir(dir) }

// Move gives a file of anchor's own another place on the same disk, making its directory.
func Move(from, to string) error {
	if err := makeDir(to); err != nil {
		return err
	}
	return explain(os.Rename(from, to))
}

// Remove deletes a file of anchor's own.
func Remove(path string) error { return explain(os.Remove(path)) }

// Write replaces a file atomically, 0600, making its directories 0700. A symbolic link stays and the file it names is replaced, so that a
// settings file may live elsewhere. After an error the old file is whole.
func Write(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := makeDir(path); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // made 0600
	if err != nil {
		return explain(err)
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return explain(err)
}

// Lock takes an exclusive lock on path without waiting, making the file. held is true if this call has it now, false if somebody else
// does, in this process or another. The system lets go of a dead process's lock. The file stays.
func Lock(path string) (unlock func() error, held bool, err error) {
	if err := makeDir(path); err != nil {
		return nil, false, err
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	held, err = l.TryLock()
	return l.Close, held && err == nil, explain(err)
}

// makeDir makes the directory of a file.
func makeDir(file string) error { return explain(os.MkdirAll(filepath.Dir(file), 0o700)) }

// explain adds what can be done about a place that can't be written.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w (anchor can't write there; point XDG_STATE_HOME and XDG_CONFIG_HOME to a place that it can write)", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w (make room on that disk)", err)
	}
	return err
}
