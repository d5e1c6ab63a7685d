package gate

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"anchor/internal/ignore"
	"anchor/internal/secret"
)

// A scan goes through a tree once, on several goroutines. Each directory is opened from its parent's handle, so that nothing
// outside the root can be reached, whatever is renamed meanwhile; and a link is never entered, so there is no loop. An
// ignored directory is not entered at all. A directory stays open until all that is below it is done: its goroutine shares
// the work with others as long as there is room for more of them, and else does it itself.
type scan struct {
	o    WalkOptions
	look func(Entry, []byte) error // gets each file; nil: the entries are kept, with sizes and times
	l    looks
	// How much of an absolute name is in front of the part that ignore rules see, of the part relative to the root, and of
	// the part that is shown.
	top, rel, name int

	ctx     context.Context
	end     context.CancelCauseFunc
	busy    chan struct{} // has a token of each goroutine at work
	buffers sync.Pool

	mu      sync.Mutex // guards what follows
	entries []Entry
	skipped Skipped
}

const (
	scanners = 8  // goroutines, at most
	batch    = 64 // files that one goroutine reads before others may take over
)

// branch is a directory of the tree.
type branch struct {
	abs   string
	depth int
	rules *ignore.Rules // of its parents
}

// scan goes through the tree of a place. Its error is ctx's, or the first of look.
func (l looks) scan(ctx context.Context, p place, s *scan) error {
	root, err := l.openDir(p)
	if err != nil {
		return err
	}
	s.l = l
	s.ctx, s.end = context.WithCancelCause(ctx)
	defer s.end(nil)
	abs := p.anchored(l.dir)
	top, rules := abs, (*ignore.Rules)(nil)
	if !s.o.Ignored {
		top, rules = l.ignoreRules(abs)
	}
	s.top, s.rel = prefix(top), prefix(abs)
	if p.Inside {
		s.name = prefix(l.dir)
	}
	s.busy = make(chan struct{}, min(runtime.GOMAXPROCS(0), scanners))
	s.busy <- struct{}{}
	s.directory(root, branch{abs: abs, rules: rules})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return context.Cause(s.ctx)
}

// prefix is the length of a directory's name and the slash after it.
func prefix(dir string) int { return len(strings.TrimSuffix(dir, separator)) + 1 }

// share does a part of a directory's work on another goroutine, if there is room for one, or at once.
func (s *scan) share(parts *sync.WaitGroup, part func()) {
	select {
	case s.busy <- struct{}{}:
		parts.Go(func() {
			defer func() { <-s.busy }()
			part()
		})
	default:
		part()
	}
}

// directory goes through a directory and what is below it, and closes it.
func (s *scan) directory(dir *os.Root, b branch) {
	defer dir.Close()
	names, open, done, err := listing(dir)
	defer func() { _ = done() }()
	wanted, below, out := s.sift(b, names)
	if err != nil {
		out.Unreadable++
	}
	var parts sync.WaitGroup
	for _, sub := range below {
		s.share(&parts, func() {
			if next, err := step(dir, filepath.Base(sub.abs)); err == nil {
				s.directory(next, sub)
			} else {
				s.add(nil, Skipped{Unreadable: 1})
			}
		})
	}
	if s.look != nil {
		for files := range slices.Chunk(wanted, batch) {
			s.share(&parts, func() { s.add(nil, s.search(open, files)) })
		}
		wanted = nil
	}
	for i := range wanted {
		wanted[i].info, _ = dir.Lstat(filepath.Base(wanted[i].Rel))
	}
	s.add(slices.DeleteFunc(wanted, func(e Entry) bool { return e.info == nil }), out) // gone meanwhile
	<-s.busy                                                                           // room for another, while this one waits
	parts.Wait()
	s.busy <- struct{}{}
}

func (s *scan) add(found []Entry, o Skipped) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, found...)
	t := &s.skipped
	*t = Skipped{t.Ignored + o.Ignored, t.Secret + o.Secret, t.Unreadable + o.Unreadable, t.Binary + o.Binary, t.Large + o.Large, t.Denied + o.Denied}
}

// sift returns what of a directory is wanted, and what is to be entered.
func (s *scan) sift(b branch, names []fs.DirEntry) (wanted []Entry, below []branch, out Skipped) {
	rules, base := b.rules, strings.TrimSuffix(b.abs, separator)+separator
	if !s.o.Ignored {
		rules = with(rules, b.abs, filepath.ToSlash(base[s.top:]), names)
	}
	for _, d := range names {
		if d.Name() == ".git" && !s.o.git {
			continue
		}
		abs := base + d.Name()
		e := Entry{Name: filepath.ToSlash(abs[s.name:]), Rel: filepath.ToSlash(abs[s.rel:]), Type: d.Type(), Depth: b.depth + 1}
		if rules.Match(filepath.ToSlash(abs[s.top:]), d.IsDir()) {
			out.Ignored++
			continue
		}
		wants := s.o.Want == nil || s.o.Want(e)
		switch {
		case !wants && !d.IsDir():
			continue
		case !s.o.Secret && isSecret(abs):
			out.Secret++
			continue
		case d.IsDir() && (s.o.Depth == 0 || e.Depth < s.o.Depth):
			below = append(below, branch{abs, e.Depth, rules})
		}
		switch {
		case !wants || s.look != nil && !d.Type().IsRegular():
		case s.look != nil && s.l.denied(abs):
			out.Denied++
		default:
			wanted = append(wanted, e)
		}
	}
	return wanted, below, out
}

// changed is when an inode last changed; where the system does not tell, when its content did.
func changed(info fs.FileInfo) time.Time {
	for _, name := range []string{"Ctim", "Ctimespec"} { // of syscall.Stat_t, by system
		if f := reflect.Indirect(reflect.ValueOf(info.Sys())).FieldByName(name); f.IsValid() {
			return time.Unix(f.Field(0).Int(), f.Field(1).Int())
		}
	}
	return info.ModTime()
}

// isSecret says whether a file is a secret by its name.
func isSecret(abs string) bool {
	_, secret := secret.File(filepath.ToSlash(abs))
	return secret
}
