package gate

import (
	"context"
	"errors"
	"io/fs"
	"time"

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
	ignored bool
}

// WalkOptions say what is visited.
type WalkOptions struct {
	// Ignored shows what ignore files leave out; Secret shows secret files.
	Ignored, Secret bool
	mark            bool // shows what is ignored too, and marks it
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

func (s *Skipped) add(o Skipped) {
	s.Ignored += o.Ignored
	s.Secret += o.Secret
	s.Unreadable += o.Unreadable
	s.Binary += o.Binary
	s.Large += o.Large
	s.Denied += o.Denied
}

// Walk visits what is below a directory in lexical order, .git left out, ignore files honoured, links never followed. A
// root that is itself ignored is walked since it was named. visit may return fs.SkipDir or fs.SkipAll. The whole tree is
// read before the first visit.
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

// walk reads the tree with all hands and then visits it in order.
func (l looks) walk(ctx context.Context, p place, o WalkOptions, visit func(Entry) error) (Skipped, error) {
	s, err := l.scan(p, o)
	if err != nil {
		return Skipped{}, err
	}
	if err = s.run(ctx); err == nil {
		err = s.root.visit(visit)
	}
	return s.skipped, unless(err, fs.SkipAll)
}

// visit goes through what was kept of a branch.
func (b *branch) visit(visit func(Entry) error) error {
	for _, e := range b.entries {
		var err error
		if e.wanted {
			err = visit(e.Entry)
		}
		if err == nil && e.below != nil {
			err = e.below.visit(visit)
		}
		if err != nil && !(errors.Is(err, fs.SkipDir) && e.Type.IsDir()) {
			return err
		}
	}
	return nil
}

// unless returns err, or nil if it is the one that only ends the work.
func unless(err, end error) error {
	if errors.Is(err, end) {
		return nil
	}
	return err
}
