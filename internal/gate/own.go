package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anchor/internal/policy"
)

// ErrNoFile is the error of a file that is not there, for those who look in many places.
var ErrNoFile = errors.New("no such file")

// ProjectDirs returns the directories of the project, from the root of the repository that the directory lies in down to
// the directory itself, links resolved. Outside a repository it is the directory alone.
func (g *Gate) ProjectDirs() []string {
	dirs := []string{g.dir}
	for dir := g.dir; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			slices.Reverse(dirs)
			return dirs
		}
		up := filepath.Dir(dir)
		if up == dir || up == g.o.Home {
			return []string{g.dir}
		}
		dirs, dir = append(dirs, up), up
	}
}

// ListOwn returns the names in dir, sorted, if dir really lies in root; ErrNoFile if there is no such directory. It is for
// looking for skills and definitions, which needs no leave.
func (g *Gate) ListOwn(ctx context.Context, root, dir string) ([]string, error) {
	p, err := g.ownPlace(root, dir)
	if err != nil {
		return nil, err
	}
	return pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), nothing, func(_ context.Context, e effects) ([]string, error) {
		d, err := e.openDir(p)
		if err != nil {
			return nil, ErrNoFile
		}
		defer d.Close()
		entries, err := fs.ReadDir(d.FS(), ".")
		if err != nil {
			return nil, err
		}
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names, nil
	})
}

// ReadOwn reads a file that really lies in root, is regular and no secret, at most max bytes (more is an error), and
// returns its content, masked, and its real path. ErrNoFile if there is none. It needs no leave: skills, definitions and
// instructions are read so.
func (g *Gate) ReadOwn(ctx context.Context, root, file string, max int64) (text, real string, err error) {
	p, err := g.ownPlace(root, file)
	if err != nil {
		return "", "", err
	}
	f, err := pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), nothing, func(_ context.Context, e effects) (File, error) {
		return e.read(p, max)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", ErrNoFile
	case err != nil:
		return "", "", err
	case f.Size > max:
		return "", "", fmt.Errorf("is over %d KiB", max>>10)
	}
	return g.Mask(strings.ToValidUTF8(string(f.Data), "\uFFFD")), p.Abs, nil
}

// ownPlace resolves a name that must lie in root.
func (g *Gate) ownPlace(root, name string) (place, error) {
	p := g.resolve(name)
	top := resolved(root)
	_, in := below(p.Abs, top)
	switch {
	case p.Fault != "":
		return p, errors.New(p.Fault)
	case !p.Exists:
		return p, ErrNoFile
	case !in:
		return p, fmt.Errorf("really lies outside %s; left out", top)
	}
	p.Own = true
	return p, nil
}
