package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"anchor/internal/diff"
	"anchor/internal/policy"
)

// Undo takes changes back, the newest (last) first, for the user who asked for it: nothing is asked, the denials hold. Only
// files inside the directory are touched. A file that somebody changed since, or whose change can't be taken back, is left as it is,
// with an error that names it; so are its older changes. undone holds each file that was restored once.
func (g *Gate) Undo(ctx context.Context, changes []Change) (undone []string, refused []error) {
	user := *g
	user.byUser = true
	stuck, done := map[string]bool{}, map[string]bool{}
	for i := len(changes) - 1; i >= 0; i-- {
		c := changes[i]
		if stuck[c.Path] {
			continue
		}
		if err := user.takeBack(ctx, c); err != nil {
			stuck[c.Path] = true
			refused = append(refused, fmt.Errorf("%s was left as it is: %w", c.Path, err))
			continue
		}
		if !done[c.Path] {
			done[c.Path] = true
			undone = append(undone, c.Path)
		}
	}
	return undone, refused
}

// takeBack reverses one change.
func (g *Gate) takeBack(ctx context.Context, c Change) error {
	unlock, err := g.lock(ctx, g.resolve(c.Path).Abs)
	if err != nil {
		return err
	}
	defer unlock()
	p := g.resolve(c.Path)
	switch {
	case !p.Inside:
		return errors.New("it lies outside the directory")
	case c.Lossy:
		return errors.New("what it held before was not kept, since it had a secret in it or was no text")
	}
	var d draft
	_, err = pass(ctx, g, policy.Write{Path: p.Path}, "Undo "+p.shown(), func(l looks) (string, error) {
		d, err = l.reverse(p, c)
		return "", err
	}, func(_ context.Context, e effects) (Written, error) {
		if c.Created {
			return Written{}, e.remove(d)
		}
		return e.write(d, "")
	})
	return err
}

// reverse makes the draft that leads back from a change.
func (l looks) reverse(p place, c Change) (draft, error) {
	d := draft{place: p, mode: c.Mode}
	now, err := l.read(p, readLimit)
	switch {
	case err == nil && c.Deleted, errors.Is(err, fs.ErrNotExist) && !c.Deleted, err == nil && sumOf(now.Data) != c.After:
		return d, errors.New("it changed since")
	case err != nil && !c.Deleted:
		return d, err
	}
	d.exists, d.old = !c.Deleted, now.Data
	if c.Created {
		d.diff = diff.Unified(d.old, nil)
		return d, nil
	}
	d.new, err = diff.Apply(d.old, c.Reverse)
	d.diff = diff.Unified(d.old, d.new)
	return d, err
}

// sameContent says whether r holds exactly want.
func sameContent(r io.Reader, want []byte) bool {
	got, err := io.ReadAll(io.LimitReader(r, int64(len(want))+1))
	return err == nil && bytes.Equal(got, want)
}
