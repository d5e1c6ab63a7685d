package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"

	"anchor/internal/diff"
	"anchor/internal/policy"
)

// Record is something the session keeps: Change or Seen.
type Record interface{ record() }

// Change is a file change by a file tool, enough to take it back.
type Change struct {
	Path    string      `json:"path"` // relative to the directory, or absolute outside it
	Created bool        `json:"created"`
	Deleted bool        `json:"deleted"`
	Mode    fs.FileMode `json:"mode"`    // before (or after, for Created)
	Reverse string      `json:"reverse"` // unified diff from new to old, masked; empty with Lossy
	After   string      `json:"after"`   // SHA-256 of the new content
	Lossy   bool        `json:"lossy"`   // a hunk held a secret or was no text: can't be taken back
}

// Seen says that a file was read whole.
type Seen struct {
	Path string `json:"path"`
	Sum  string `json:"sum"` // SHA-256 of the content
}

func (Change) record() {}
func (Seen) record()   {}

// changeOf describes the change of a draft for the session.
func (g *Gate) changeOf(d draft) Change {
	c := Change{Path: d.place.shown(), Created: !d.exists, Mode: d.mode, After: sumOf(d.new)}
	if !c.Created {
		c.Reverse = diff.Unified(d.new, d.old)
		if c.Lossy = !utf8.ValidString(c.Reverse) || g.Mask(c.Reverse) != c.Reverse; c.Lossy {
			c.Reverse = ""
		}
	}
	return c
}

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
		} else if !done[c.Path] {
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
	}, func(_ context.Context, e effects) (Written, error) { return e.write(d, "") })
	return err
}

// reverse makes the draft that leads back from a change.
func (l looks) reverse(p place, c Change) (draft, error) {
	d := draft{place: p, mode: c.Mode, exists: !c.Deleted, remove: c.Created}
	now, err := l.read(p, readLimit)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return d, err
	case missing != c.Deleted, !missing && sumOf(now.Data) != c.After:
		return d, errors.New("it changed since")
	}
	d.old, err = now.Data, nil
	if !d.remove {
		d.new, err = diff.Apply(d.old, c.Reverse)
	}
	d.diff = diff.Unified(d.old, d.new)
	return d, err
}
