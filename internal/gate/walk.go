package gate

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"anchor/internal/event"
	"anchor/internal/policy"
)

// Entry is a file or directory that a walk found.
type Entry struct {
	Name string // relative to the directory with slashes (absolute if the walk is outside), as shown
	Rel  string // relative to the walk's root
	Type fs.FileMode
	Mode fs.FileMode
	Size int64
	Mod  time.Time
	// Changed is when the inode last changed, which no program can set.
	Changed time.Time
	Depth   int // 1 for the root's own entries
	info    fs.FileInfo
}

// OneLine makes the control characters of a file's name visible, line ends too, so that no name forges another line.
func OneLine(name string) string { return strings.ReplaceAll(event.Visible(name), "\n", "\u240a") }

// WalkOptions say what is visited.
type WalkOptions struct {
	// Ignored shows what ignore files leave out; Secret shows secret files.
	Ignored, Secret bool
	git             bool // shows what is in .git too
	// Depth bounds the depth (0: none).
	Depth int
	// Want says which entries are visited (nil: all); directories are entered all the same. It is called from several
	// goroutines, before Size, Mode and Mod are known; these are looked up for what is wanted only.
	Want func(Entry) bool
}

// Skipped counts what a walk left out. An ignored directory counts once. Binary, Large (over 64 MB) and Denied (by a rule of
// the user's) are counted by Search only.
type Skipped struct {
	Ignored, Secret, Unreadable, Binary, Large, Denied int
}

// Walk visits what is below a directory in lexical order, .git left out, ignore files honoured, links never followed. A
// root that is itself ignored is walked since it was named. The whole tree is read before the first visit.
func (g *Gate) Walk(ctx context.Context, root string, o WalkOptions, visit func(Entry) error) (Skipped, error) {
	p := g.resolve(root)
	return pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), p.directory, func(ctx context.Context, e effects) (Skipped, error) {
		return e.walk(ctx, p, o, visit)
	})
}

// directory is the look at a place that must be a directory, if it is anything.
func (p place) directory(looks) (string, error) {
	if p.info != nil && !p.Dir {
		return "", &fs.PathError{Op: "list", Path: p.Name, Err: errors.New("it is a file, not a directory")}
	}
	return "", nil
}

func (l looks) walk(ctx context.Context, p place, o WalkOptions, visit func(Entry) error) (Skipped, error) {
	s := scan{o: o}
	err := l.scan(ctx, p, &s)
	slices.SortFunc(s.entries, inOrder)
	for _, e := range s.entries {
		if err == nil {
			e.Mode, e.Size, e.Mod, e.Changed = e.info.Mode(), e.info.Size(), e.info.ModTime(), changed(e.info)
			err = visit(e)
		}
	}
	return s.skipped, err
}

// inOrder compares entries so that what is in a directory comes right after it.
func inOrder(a, b Entry) int {
	n := 0
	for n < min(len(a.Rel), len(b.Rel)) && a.Rel[n] == b.Rel[n] {
		n++
	}
	rank := func(rel string) int {
		switch {
		case n == len(rel):
			return -1
		case rel[n] == '/':
			return 0
		}
		return int(rel[n])
	}
	return rank(a.Rel) - rank(b.Rel)
}
