package gate

import (
	"context"
	"errors"
)

// ErrNoFile is the error of a file that is not there, for those who look in many places.
var ErrNoFile = errors.New("no such file")

// Own marks a folder whose files may be read without asking, though it lies outside the directory: a skill's own. Secret
// files in it stay denied.
func (g *Gate) Own(dir string) { panic("not built") }

// ListOwn returns the names in dir, sorted, if dir really lies in root. It is for looking for skills and definitions, which
// needs no leave.
func (g *Gate) ListOwn(ctx context.Context, root, dir string) ([]string, error) { panic("not built") }

// ReadOwn reads a file that really lies in root, is regular and no secret, at most max bytes (more is an error), and
// returns its real path too. It needs no leave: skills, definitions and instructions are read so.
func (g *Gate) ReadOwn(ctx context.Context, root, file string, max int64) (data []byte, real string, err error) {
	panic("not built")
}
