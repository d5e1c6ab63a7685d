package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"anchor/internal/policy"
)

// ErrNoFile is the error of a file that is not there, for those who look in many places.
var ErrNoFile = errors.New("no such file")

// ProjectDirs returns the directories of the project, from the root of the repository that the directory lies in down to
// the directory itself, links resolved. Outside a repository, and in one that holds the home directory, it is the directory alone.
func (g *Gate) ProjectDirs() []string {
	dirs := []string{g.dir}
	top := repositoryTop(g.dir)
	if top == "" || g.aboveHome(top) {
		return dirs
	}
	for dir := g.dir; dir != top; dirs = append(dirs, dir) {
		dir = filepath.Dir(dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// ListOwn returns the names in dir, sorted, if dir really lies in root; ErrNoFile if there is no such directory. It is for
// looking for skills and definitions, which needs no leave.
func (g *Gate) ListOwn(ctx context.Context, root, dir string) ([]string, error) {
	return passOwn(ctx, g, root, dir, func(e effects, p place) (names []string, err error) {
		d, err := e.openDir(p)
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

// ReadOwn reads a file that really lies in root, is regular and no secret, at most max bytes (more is an error), and
// returns its content, masked, and its real path. ErrNoFile if there is none. It needs no leave: skills, definitions and
// instructions are read so.
func (g *Gate) ReadOwn(ctx context.Context, root, file string, max int64) (text, real string, err error) {
	f, err := passOwn(ctx, g, root, file, func(e effects, p place) (File, error) { return e.read(p, max) })
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
