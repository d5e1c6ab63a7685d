package gate

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"anchor/internal/ignore"
	"anchor/internal/secret"
)

// A scan goes through a tree once, on several goroutines. Each directory is opened from its parent's handle, so that nothing
// outside the root can be reached, whatever is renamed meanwhile; and a link is never entered, so there is no loop. An
// ignored directory is not entered at all.
type scan struct {
	pool
	o     WalkOptions
	files func(*branch) // gets each directory that was read; nil: the tree is kept, with sizes and times
	root  *branch
	// How much of an absolute name is in front of the part that ignore rules see, of the part relative to the root, and of
	// the part that is shown.
	top, rel, name int

	guard   sync.Mutex // guards what follows, and the branches' users
	skipped Skipped
	open    map[*branch]bool // those with a handle
}

// branch is a directory of the tree. Its handle is open while it has users: tasks that will need it.
type branch struct {
	parent  *branch
	abs     string
	depth   int
	rules   *ignore.Rules // for the directory itself
	ignored bool
	dir     handle
	users   int
	entries []found
}

type found struct {
	Entry
	wanted bool
	below  *branch // of a directory that is entered
}

func (l looks) scan(p place, o WalkOptions) (*scan, error) {
	s := &scan{o: o, open: map[*branch]bool{}}
	root, err := l.openDir(p)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dir, err := handleOf(root)
	if err != nil {
		return nil, err
	}
	abs := p.anchored(l.dir)
	top, rules := l.ignoreRules(abs)
	s.top, s.rel = prefix(top), prefix(abs)
	if p.Inside {
		s.name = prefix(l.dir)
	}
	s.root = &branch{abs: abs, rules: rules, users: 1}
	s.keep(s.root, dir)
	return s, nil
}

// prefix is the length of a directory's name and the slash after it.
func prefix(dir string) int { return len(strings.TrimSuffix(dir, string(filepath.Separator))) + 1 }

// run reads the tree. Afterwards s.skipped holds.
func (s *scan) run(ctx context.Context) error {
	defer func() {
		for b := range s.open { // what an early end left
			b.dir.close()
		}
	}()
	return s.pool.run(ctx, min(runtime.GOMAXPROCS(0), 8), func(*[]byte) error { return s.read(s.root) })
}

// keep gives a branch its handle.
func (s *scan) keep(b *branch, dir handle) {
	s.guard.Lock()
	defer s.guard.Unlock()
	b.dir = dir
	s.open[b] = true
}

// use changes the number of a branch's users; with the last one its handle is closed.
func (s *scan) use(b *branch, n int) {
	s.guard.Lock()
	defer s.guard.Unlock()
	if b.users += n; b.users == 0 && s.open[b] {
		b.dir.close()
		delete(s.open, b)
	}
}

func (s *scan) skip(o Skipped) {
	s.guard.Lock()
	defer s.guard.Unlock()
	s.skipped.add(o)
}

// read reads one directory and sees to it that what is below is read too.
func (s *scan) read(b *branch) error {
	defer s.use(b, -1)
	if b.parent != nil {
		dir, err := b.parent.dir.dir(filepath.Base(b.abs), b.abs)
		s.use(b.parent, -1)
		if err != nil {
			s.skip(Skipped{Unreadable: 1})
			return nil
		}
		s.keep(b, dir)
	}
	names, err := b.dir.list()
	if err != nil {
		s.skip(Skipped{Unreadable: 1})
	}
	s.sift(b, names)
	for _, e := range slices.Backward(b.entries) { // the newest task is done first
		if e.below != nil {
			s.use(b, 1)
			s.push(func(*[]byte) error { return s.read(e.below) })
		}
	}
	if s.files != nil {
		s.files(b)
		b.entries = nil
	}
	return nil
}

// sift keeps the entries of a directory that are wanted or entered, sorted.
func (s *scan) sift(b *branch, names []fs.DirEntry) {
	rules := s.rules(b, names)
	sep := string(filepath.Separator)
	dir := strings.TrimSuffix(b.abs, sep) + sep
	var out Skipped
	for _, d := range names {
		if d.Name() == ".git" {
			continue
		}
		abs := dir + d.Name()
		ignored := b.ignored || !s.o.Ignored && rules.Match(filepath.ToSlash(abs[s.top:]), d.IsDir())
		if ignored && !s.o.mark {
			out.Ignored++
			continue
		}
		e := found{Entry: Entry{Name: filepath.ToSlash(abs[s.name:]), Rel: filepath.ToSlash(abs[s.rel:]), Type: d.Type(), Depth: b.depth + 1, ignored: ignored}}
		e.wanted = s.o.Want == nil || s.o.Want(e.Entry)
		if !e.wanted && !d.IsDir() {
			continue
		}
		if !s.o.Secret && isSecret(abs) {
			out.Secret++
			continue
		}
		if e.wanted && s.files == nil {
			b.dir.stat(&e.Entry)
		}
		if d.IsDir() && (s.o.Depth == 0 || b.depth+1 < s.o.Depth) {
			e.below = &branch{parent: b, abs: abs, depth: b.depth + 1, rules: rules, ignored: ignored, users: 1}
		}
		b.entries = append(b.entries, e)
	}
	s.skip(out)
	slices.SortFunc(b.entries, func(x, y found) int { return cmp.Compare(x.Rel, y.Rel) })
}

// rules returns the ignore rules for the entries of a directory that holds names.
func (s *scan) rules(b *branch, names []fs.DirEntry) *ignore.Rules {
	if s.o.Ignored {
		return nil
	}
	rules, lists := b.rules, map[ignore.Kind]ignore.List{}
	for _, d := range names {
		switch d.Name() {
		case ".git":
			rules = rules.Repository()
			lists[ignore.Exclude] = ignore.Parse(repositoryExcludes(b.abs))
		case ".gitignore":
			lists[ignore.Gitignore] = ignore.Parse(readSmall(filepath.Join(b.abs, d.Name())))
		case ".ignore":
			lists[ignore.Ignore] = ignore.Parse(readSmall(filepath.Join(b.abs, d.Name())))
		}
	}
	if len(lists) == 0 {
		return rules
	}
	at := ""
	if len(b.abs) >= s.top {
		at = filepath.ToSlash(b.abs[s.top:])
	}
	return rules.With(at, lists)
}

// isSecret says whether a file is a secret by its name.
func isSecret(abs string) bool {
	_, secret := secret.File(filepath.ToSlash(abs))
	return secret
}
