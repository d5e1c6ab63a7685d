package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anchor/internal/policy"
)

// Files are opened from a directory's handle down, one component after the other. Each directory must be the one that Lstat saw, and the
// file the one that was judged, so that a link put there in between is found out, not followed.

// errSwapped says that something else stood there than a moment before.
var errSwapped = errors.New("was replaced while it was looked at: try again")

// openDir opens the directory that was judged, or with up 1 the one that it lies in, going down with step. The caller closes it.
func (g *Gate) openDir(p place, up int, step func(*os.Root, string) (*os.Root, error)) (*os.Root, error) {
	if p.Fault != "" {
		return nil, fmt.Errorf("%q can't be used: %s", p.Name, p.Fault)
	}
	top, rest := split(p.Abs)
	if p.Inside { // from the directory's own spelling on
		top, rest = g.dir, components(p.Rel)
	}
	if len(rest) < up {
		return nil, &NotRegular{p.shown(), "directory"}
	}
	dir, err := os.OpenRoot(top)
	for _, part := range rest[:len(rest)-up] {
		if err != nil {
			break
		}
		above := dir
		dir, err = step(above, part)
		above.Close()
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

// open opens a regular file that was judged, for reading. The caller closes it.
func (l looks) open(p place) (*os.File, fs.FileInfo, error) {
	dir, err := l.openDir(p, 1, step)
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

// readTime bounds the reading of one file that makes its reader wait.
const readTime = 5 * time.Second

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
	// Some files of /proc are regular by name and never end, such as /proc/kmsg. Where a deadline can't be set none is needed.
	_ = f.SetReadDeadline(time.Now().Add(readTime))
	return f, after, nil
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

// readLimit bounds what is read of one file.
const readLimit = 64 << 20

// File is a regular file that was read.
type File struct {
	Name string // as shown: relative to the directory with slashes, or absolute outside it
	Abs  string
	Data []byte
	Mode fs.FileMode
	Size int64 // may be larger than len(Data) if Read was bounded
}

// NotRegular is the error of reading what is no regular file. Kind is "directory", "named pipe", "device" or "socket".
type NotRegular struct{ Path, Kind string }

func (e *NotRegular) Error() string { return e.Path + " is a " + e.Kind }

// Read reads a regular file. name is relative to the directory, absolute, or starts with ~/. At most max bytes are read (0: 64 MB).
// Errors: *Refusal, *NotRegular, fs.ErrNotExist and the like with the name as given, or ctx's.
func (g *Gate) Read(ctx context.Context, name string, max int64) (File, error) {
	if max <= 0 || max > readLimit {
		max = readLimit
	}
	p, err := heard(ctx, func() (place, error) { return g.resolve(name), nil })
	if err != nil {
		return File{}, err
	}
	return pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), p.regular, func(ctx context.Context, e effects) (File, error) {
		return e.read(ctx, p, max)
	})
}

// heard returns what do gives, or ctx's error as soon as it ends. What waits for a dead disk can't be stopped: it is left behind, and ends
// when the system lets it go.
func heard[T any](ctx context.Context, do func() (T, error)) (value T, err error) {
	done := make(chan func() (T, error), 1)
	go func() {
		value, err := do()
		done <- func() (T, error) { return value, err }
	}()
	select {
	case result := <-done:
		return result()
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// regular is the look at a place that must be a regular file, if it is anything: a device is no question.
func (p place) regular(looks) (string, error) { return "", irregular(p.info, p.shown()) }

// irregular is the error of what is there but is no regular file, or nil.
func irregular(info fs.FileInfo, shown string) error {
	if info == nil || info.Mode().IsRegular() {
		return nil
	}
	kinds := map[fs.FileMode]string{fs.ModeDir: "directory", fs.ModeNamedPipe: "named pipe", fs.ModeSocket: "socket"}
	return &NotRegular{shown, cmp.Or(kinds[info.Mode().Type()], "device")}
}

// read reads at most max bytes of a file.
func (l looks) read(ctx context.Context, p place, max int64) (File, error) {
	return heard(ctx, func() (File, error) {
		f, info, err := l.open(p)
		if err != nil {
			return File{}, err
		}
		defer f.Close()
		defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Now()) })()
		data, err := io.ReadAll(io.LimitReader(f, max))
		return File{Name: p.shown(), Abs: p.Abs, Data: data, Mode: info.Mode(), Size: info.Size()}, named(err, p)
	})
}

// ErrNoFile is the error of a file that is not there, for those who look in many places.
var ErrNoFile = errors.New("no such file")

// ProjectDirs returns the directories of the project, from the root of the repository that the directory lies in down to the directory
// itself, links resolved. Outside a repository, and in one that holds the home directory, it is the directory alone.
func (g *Gate) ProjectDirs() []string {
	dirs := []string{g.dir}
	if top := repositoryTop(g.dir); top != "" && !g.aboveHome(top) {
		for dir := g.dir; dir != top; dirs = append(dirs, dir) {
			dir = filepath.Dir(dir)
		}
	}
	slices.Reverse(dirs)
	return dirs
}

// ListOwn returns the names in dir, sorted, if dir really lies in root; ErrNoFile if there is no such directory. As ReadOwn and SumOwn it
// needs no leave: skills, definitions and instructions are looked for so.
func (g *Gate) ListOwn(ctx context.Context, root, dir string) ([]string, error) {
	return passOwn(ctx, g, root, dir, func(e effects, p place) (names []string, err error) {
		d, err := e.openDir(p, 0, step)
		if err != nil {
			return nil, ErrNoFile
		}
		defer d.Close()
		entries, err := fs.ReadDir(d.FS(), ".")
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names, err
	})
}

// ReadOwn reads a file that really lies in root, is regular and no secret, at most max bytes (more is an error), and returns its content,
// masked, and its real path. ErrNoFile if there is none.
func (g *Gate) ReadOwn(ctx context.Context, root, file string, max int64) (text, real string, err error) {
	f, err := passOwn(ctx, g, root, file, func(e effects, p place) (File, error) { return e.read(ctx, p, max) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", ErrNoFile
	case err != nil:
		return "", "", err
	case f.Size > max:
		return "", "", fmt.Errorf("is over %d KiB", max>>10)
	}
	return g.Mask(strings.ToValidUTF8(string(f.Data), "\uFFFD")), f.Abs, nil
}

// SumOwn is the hash of the content of a file that really lies in root, or what else it is. ErrNoFile if there is nothing. What a
// project's server runs is known by it.
func (g *Gate) SumOwn(ctx context.Context, root, file string) (string, error) {
	return passOwn(ctx, g, root, file, func(e effects, p place) (string, error) { return e.contentSum(p.Abs), nil })
}

// passOwn passes the reading of something that must lie in root.
func passOwn[T any](ctx context.Context, g *Gate, root, name string, read func(effects, place) (T, error)) (none T, err error) {
	p, top := g.resolve(name), resolved(root)
	_, in := below(p.Abs, top)
	switch {
	case p.Fault != "":
		return none, errors.New(p.Fault)
	case !p.Exists:
		return none, ErrNoFile
	case !in:
		return none, fmt.Errorf("really lies outside %s; left out", top)
	}
	p.Own = true
	return pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), nothing, func(_ context.Context, e effects) (T, error) {
		return read(e, p)
	})
}
