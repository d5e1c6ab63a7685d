package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Files are opened from a directory's handle down, one component after the other. Each directory must be the one that
// Lstat saw, and the file the one that was judged, so that a link put there in between is found out, not followed.

// errSwapped says that something else stood there than a moment before.
var errSwapped = errors.New("was replaced while it was looked at: try again")

// folder opens the directory that a place's name ends in, going from one to the next with step. The caller closes it.
func (g *Gate) folder(p place, name string, step func(*os.Root, string) (*os.Root, error)) (*os.Root, error) {
	if p.Fault != "" {
		return nil, fmt.Errorf("%q can't be used: %s", p.Name, p.Fault)
	}
	top, rest := split(name)
	if p.Inside {
		in, ok := below(name, g.dir)
		if top, rest = g.dir, components(in); !ok {
			return nil, &NotRegular{p.shown(), "directory"} // the directory itself, where a file is wanted
		}
	}
	dir, err := os.OpenRoot(top)
	for _, part := range rest {
		if err != nil {
			break
		}
		up := dir
		dir, err = step(up, part)
		up.Close()
	}
	return dir, named(err, p)
}

// step opens a directory in a directory.
func step(dir *os.Root, part string) (*os.Root, error) {
	before, err := dir.Lstat(part)
	switch {
	case err != nil:
		return nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, errSwapped
	case !before.IsDir():
		return nil, fmt.Errorf("%s is not a directory", part)
	}
	next, err := dir.OpenRoot(part)
	if err != nil {
		return nil, err
	}
	if after, err := next.Stat("."); err != nil || !os.SameFile(before, after) {
		next.Close()
		return nil, errSwapped
	}
	return next, nil
}

// openDir opens a directory that was judged. The caller closes it.
func (l looks) openDir(p place) (*os.Root, error) { return l.folder(p, p.anchored(l.dir), step) }

// open opens a regular file that was judged, for reading. The caller closes it.
func (l looks) open(p place) (*os.File, fs.FileInfo, error) {
	dir, err := l.folder(p, filepath.Dir(p.anchored(l.dir)), step)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	f, info, err := openRegular(dir, filepath.Base(p.Abs), p.shown())
	if err == nil && p.info != nil && !os.SameFile(p.info, info) {
		f.Close()
		err = errSwapped
	}
	return f, info, named(err, p)
}

// openRegular opens a file of a directory if it is a regular one. It never waits and follows no link.
func openRegular(dir *os.Root, base, shown string) (*os.File, fs.FileInfo, error) {
	before, err := dir.Lstat(base)
	switch {
	case err != nil:
		return nil, nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, nil, errSwapped
	case !before.Mode().IsRegular():
		return nil, nil, irregular(before, shown)
	}
	f, err := dir.OpenFile(base, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err != nil || !os.SameFile(before, after) {
		f.Close()
		return nil, nil, errSwapped
	}
	return f, after, nil
}

// anchored is the name to open: the directory's own spelling in front for what is inside.
func (p place) anchored(dir string) string {
	if p.Inside {
		return filepath.Join(dir, filepath.FromSlash(p.Rel))
	}
	return p.Abs
}

// named puts the place's name in front of an error in place of a bare component's.
func named(err error, p place) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, errSwapped):
		return &StaleError{Path: p.shown(), Reason: errSwapped.Error()}
	case errors.As(err, &path):
		return &fs.PathError{Op: path.Op, Path: p.Name, Err: path.Err}
	}
	return err
}
