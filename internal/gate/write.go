package gate

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	"anchor/internal/diff"
	"anchor/internal/event"
	"anchor/internal/policy"
)

// A file is replaced whole: the new content goes to a new file beside it, which takes its name. So a reader sees the old content or the
// new one, and a full disk harms nothing. A link is written through, to the file it leads to. A file with several hard links is split off
// from them: its other names keep the old content, since one of them may lie outside. Writes to one file happen one after the other, the
// question included.

// Edit computes the new content of a file from the old one. exists is false for a new file. An error refuses the write and is returned as
// it is.
type Edit func(old []byte, exists bool) ([]byte, error)

// Written is a write that was made.
type Written struct {
	Name           string
	Added, Removed int
	Created        bool
	Unchanged      bool // the new content equals the old: nothing was written, nothing asked
}

// WriteOptions say what a write needs. NeedSeen refuses an existing file that was not read whole in this session or that changed since
// (StaleError).
type WriteOptions struct {
	CallID   string
	NeedSeen bool
}

// StaleError is the error of a write to a file that was not read, or that changed since, or while it was asked about.
type StaleError struct{ Path, Reason string }

func (e *StaleError) Error() string { return e.Path + " " + e.Reason }

var errUnchanged = errors.New("nothing to change")

// draft is a write before it is made: what was found and what is to be there.
type draft struct {
	place    place
	exists   bool
	remove   bool // nothing is to be there
	mode     fs.FileMode
	old, new []byte
	diff     string
}

// Write changes one file: it is looked up and judged, edit computes the new content, the diff is shown if policy asks, and if the file is
// then still the one that was looked at it is replaced atomically through the handle that was judged, keeping its mode, through links
// inside the directory; parent folders are made. FileChanged is emitted and the change recorded. New content that holds a mask which the
// old has not is refused.
func (g *Gate) Write(ctx context.Context, name string, o WriteOptions, edit Edit) (Written, error) {
	p, unlock, err := g.lock(ctx, name)
	if err != nil {
		return Written{}, err
	}
	defer unlock()
	verb := "Edit "
	switch {
	case !p.Exists:
		verb = "Create "
	case o.NeedSeen:
		verb = "Overwrite "
	}
	title := verb + p.shown()
	given, _ := g.within(p.Lexical)
	g.mu.Lock()
	protected := matchesAny(g.protect, p.Rel) || matchesAny(g.protect, given)
	g.mu.Unlock()
	if protected {
		return Written{}, &Refusal{Title: title, Hard: true,
			Reason: p.shown() + " is protected (--protect): it must stay as it is. Make the check pass in another way."}
	}
	out, err := g.change(ctx, p, title, o.CallID, func(l looks) (draft, error) { return l.edited(ctx, p, title, o, edit) })
	if errors.Is(err, errUnchanged) {
		return Written{Name: p.shown(), Unchanged: true}, nil
	}
	return out, err
}

// change passes the write of a draft.
func (g *Gate) change(ctx context.Context, p place, title, callID string, make func(looks) (draft, error)) (Written, error) {
	var d draft
	return pass(ctx, g, policy.Write{Path: p.Path}, title, func(l looks) (_ string, err error) {
		d, err = make(l)
		return d.diff, err
	}, func(_ context.Context, e effects) (Written, error) { return e.write(d, callID) })
}

// lock takes the lock of the file that a name stands for, or gives up with ctx.
func (g *Gate) lock(ctx context.Context, name string) (p place, unlock func(), err error) {
	any, _ := g.locks.LoadOrStore(g.resolve(name).Abs, make(chan struct{}, 1))
	c := any.(chan struct{})
	select {
	case c <- struct{}{}:
		return g.resolve(name), func() { <-c }, nil
	case <-ctx.Done():
		return p, nil, ctx.Err()
	}
}

// found starts a draft with what is there.
func (l looks) found(ctx context.Context, p place) (draft, error) {
	d := draft{place: p, mode: 0o666}
	if _, err := p.regular(l); err != nil {
		return d, err
	}
	old, err := l.read(ctx, p, readLimit+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, nil
	case err == nil && len(old.Data) > readLimit:
		err = fmt.Errorf("%s is too large to be changed as text (%d bytes)", p.shown(), old.Size)
	}
	d.exists, d.old, d.mode = true, old.Data, old.Mode
	return d, err
}

// edited lets edit compute the new content. An edit's error may quote the old content: where the model may not read that unasked, it gets
// another error.
func (l looks) edited(ctx context.Context, p place, title string, o WriteOptions, edit Edit) (draft, error) {
	d, err := l.found(ctx, p)
	if err != nil {
		return d, err
	}
	refused := l.o.Approver == nil && l.decide(policy.Write{Path: p.Path}).Verdict == policy.Ask // which says more
	if d.exists && o.NeedSeen && !refused {
		if why := l.seen.check(p.Abs, sumOf(d.old)); why != "" {
			return d, &StaleError{p.shown(), why}
		}
	}
	if d.new, err = edit(d.old, d.exists); err != nil {
		if l.decide(policy.Read{Path: p.Path}).Verdict != policy.Allow {
			err = fmt.Errorf("the edit does not fit %s: read the file first (that will be asked about)", p.shown())
		}
		return d, err
	}
	if d.exists && bytes.Equal(d.old, d.new) {
		return d, errUnchanged
	}
	before := l.masker.Given(string(d.old))
	for _, mask := range l.masker.Given(string(d.new)) {
		if !slices.Contains(before, mask) {
			return d, &Refusal{Title: title, Hard: true, Reason: fmt.Sprintf("The new content of %s holds %q, which stands for a secret that was "+
				"hidden from you; writing it would destroy the secret. Use an edit that leaves that line alone.", p.shown(), mask)}
		}
	}
	d.diff = diff.Unified(d.old, d.new)
	return d, nil
}

// write makes a draft true: the new content takes the place of the old, or the old is removed, if it is still there. The change is
// recorded just before, and told of afterwards.
func (e effects) write(d draft, callID string) (w Written, err error) {
	p, shown := d.place, d.place.shown()
	dir, err := e.openDir(p, 1, e.stepOrMake)
	if err != nil {
		return w, err
	}
	defer dir.Close()
	base, temp := filepath.Base(p.Abs), ".anchor-"+rand.Text()[:12]+".tmp"
	if !d.remove {
		defer func() { _ = dir.Remove(temp) }() // gone already if all went well
		if err := e.fill(dir, temp, d); err != nil {
			return w, fmt.Errorf("%s was not written: %w", shown, named(err, p))
		}
	}
	if !d.still(dir, base) {
		return w, &StaleError{shown, "changed while it was looked at, nothing was written: read it again"}
	}
	if e.o.Record != nil && !e.byUser {
		if err := e.o.Record(e.changeOf(d)); err != nil {
			return w, fmt.Errorf("%s was not written, since the session could not be kept: %w", shown, err)
		}
	}
	if d.remove {
		err = dir.Remove(base)
	} else {
		err = dir.Rename(temp, base)
	}
	if err != nil {
		return w, named(err, p)
	}
	e.seen.whole(p.Abs, sumOf(d.new))
	w.Name, w.Created = shown, !d.exists
	w.Added, w.Removed = diff.Count(d.diff)
	e.sink(event.Diff{ID: callID, Path: shown, Diff: e.Mask(d.diff)})
	e.sink(event.FileChanged{Path: shown, Added: w.Added, Removed: w.Removed})
	return w, nil
}

// stepOrMake opens a directory in a directory, and makes it if there is none.
func (e effects) stepOrMake(dir *os.Root, part string) (*os.Root, error) {
	if err := dir.Mkdir(part, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return step(dir, part)
}

// fill makes the new file, with the mode and owner of the old.
func (e effects) fill(dir *os.Root, temp string, d draft) error {
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, d.mode.Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(d.new)
	if old := d.place.info; err == nil && d.exists && old != nil {
		keepOwner(f, old)
		err = f.Chmod(d.mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// still says whether the file is what it was when the draft was made.
func (d draft) still(dir *os.Root, base string) bool {
	f, _, err := openRegular(dir, base, base)
	if err != nil {
		return !d.exists && errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	now, err := io.ReadAll(io.LimitReader(f, int64(len(d.old))+1))
	return err == nil && d.exists && bytes.Equal(now, d.old)
}

// Record is what the session keeps: a Change or a Seen.
type Record any

// Change is a file change by a file tool, enough to take it back.
type Change struct {
	Path             string // relative to the directory, or absolute outside it
	Created, Deleted bool
	Mode             fs.FileMode // before (or after, for Created)
	Reverse          string      // unified diff from new to old, masked; empty with Lossy
	After            string      // SHA-256 of the new content
	Lossy            bool        // a hunk held a secret or was no text: can't be taken back
}

// Seen says that a file was read whole.
type Seen struct {
	Path string
	Sum  string // SHA-256 of the content
}

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

// Undo takes changes back, the newest (last) first, for the user who asked for it: nothing is asked, the denials hold. Only files inside
// the directory are touched. A file that somebody changed since, or whose change can't be taken back, is left as it is, with an error
// that names it; so are its older changes. undone holds each file that was restored once.
func (g *Gate) Undo(ctx context.Context, changes []Change) (undone []string, refused []error) {
	user := *g
	user.byUser = true
	met := map[string]error{} // the files so far, with why one is left as it is
	for _, c := range slices.Backward(changes) {
		before, again := met[c.Path]
		if before != nil {
			continue
		}
		met[c.Path] = user.takeBack(ctx, c)
		if err := met[c.Path]; err != nil {
			refused = append(refused, fmt.Errorf("%s was left as it is: %w", c.Path, err))
		} else if !again {
			undone = append(undone, c.Path)
		}
	}
	return undone, refused
}

// takeBack reverses one change.
func (g *Gate) takeBack(ctx context.Context, c Change) error {
	p, unlock, err := g.lock(ctx, c.Path)
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case !p.Inside:
		return errors.New("it lies outside the directory")
	case c.Lossy:
		return errors.New("what it held before was not kept, since it had a secret in it or was no text")
	}
	_, err = g.change(ctx, p, "Undo "+p.shown(), "", func(l looks) (draft, error) {
		d, err := l.found(ctx, p)
		if err == nil && (d.exists == c.Deleted || d.exists && sumOf(d.old) != c.After) {
			err = errors.New("it changed since")
		}
		if !d.exists {
			d.mode = c.Mode
		}
		if d.remove = c.Created; err == nil && !d.remove {
			d.new, err = diff.Apply(d.old, c.Reverse)
		}
		d.diff = diff.Unified(d.old, d.new)
		return d, err
	})
	return err
}

// ledger knows how far files were read. It is one gate's own: what a sub-agent has read, its parent has not.
type ledger struct {
	mu    sync.Mutex
	files map[string]reading
}

// reading is which lines were seen of the content with that sum; nil once all were.
type reading struct {
	sum   string
	lines []bool
}

// sumOf is the SHA-256 of some content, in hex.
func sumOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// Saw notes that the lines from..to (1-based, inclusive) of a file of total lines were shown; once all were, the file counts as read
// whole.
func (g *Gate) Saw(f File, from, to, total int) {
	if f.Size > int64(len(f.Data)) {
		return
	}
	l, sum := g.seen, sumOf(f.Data)
	l.mu.Lock()
	defer l.mu.Unlock()
	r, known := l.files[f.Abs]
	if known && r.sum == sum && r.lines == nil {
		return
	}
	if r.sum != sum || len(r.lines) != total {
		r = reading{sum, make([]bool, total)}
	}
	for i := max(from, 1); i <= min(to, total); i++ {
		r.lines[i-1] = true
	}
	if !slices.Contains(r.lines, false) {
		r.lines = nil
		if g.o.Record != nil {
			_ = g.o.Record(Seen{Path: f.Name, Sum: sum}) // a loss costs one more reading after a resume
		}
	}
	l.files[f.Abs] = r
}

// whole notes that a file is known whole, with this content.
func (l *ledger) whole(abs, sum string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[abs] = reading{sum: sum}
}

// check returns why a file may not be replaced, or "".
func (l *ledger) check(abs, sum string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r, known := l.files[abs]; {
	case !known || r.lines != nil:
		return "was not read whole in this session: read it first"
	case r.sum != sum:
		return "changed since it was read: read it again"
	}
	return ""
}

// Restore takes over what a resumed session had read. It is called before the gate is used.
func (g *Gate) Restore(seen []Seen) {
	for _, s := range seen {
		g.seen.whole(g.resolve(s.Path).Abs, s.Sum)
	}
}
