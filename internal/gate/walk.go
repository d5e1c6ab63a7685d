package gate

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anchor/internal/event"
	"anchor/internal/ignore"
	"anchor/internal/policy"
	"anchor/internal/secret"
)

// Entry is a file or directory that a walk found.
type Entry struct {
	Name  string // relative to the directory with slashes (absolute if the walk is outside), as shown
	Rel   string // relative to the walk's root
	Type  fs.FileMode
	Depth int // 1 for the root's own entries
	Size  int64
	Mod   time.Time

	mode            uint32 // as the system gives it
	changed, number int64  // when the inode last changed, which no program can set, in nanoseconds; and which one it is
	output          bool   // it lies in an ignored directory
}

// OneLine makes the control characters of a file's name visible, line ends too, so that no name forges another line.
func OneLine(name string) string { return strings.ReplaceAll(event.Visible(name), "\n", "\u240a") }

// WalkOptions say what is visited.
type WalkOptions struct {
	Ignored, Secret bool             // visit what ignore files leave out, and secret files
	Depth           int              // bounds the depth (0: none)
	Want            func(Entry) bool // which entries are visited (nil: all); directories are entered all the same

	marked, output bool // visit what is ignored but no directory's content; and that too, marked as output
}

// Skipped counts what a walk left out. An ignored directory counts once. Binary, Large (over 64 MB) and Denied (by a rule of the user's)
// are counted by Search only.
type Skipped struct {
	Ignored, Secret, Unreadable, Binary, Large, Denied int
}

// Walk visits what is below a directory in lexical order, .git left out, ignore files honoured, links never followed. A root that is
// itself ignored is walked since it was named.
func (g *Gate) Walk(ctx context.Context, root string, o WalkOptions, visit func(Entry) error) (Skipped, error) {
	p := g.resolve(root)
	return pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), p.directory, func(ctx context.Context, e effects) (Skipped, error) {
		s := scan{looks: e.looks, o: o, visit: visit}
		err := s.tree(ctx, p)
		return s.skipped, err
	})
}

// directory is the look at a place that must be a directory, if it is anything.
func (p place) directory(looks) (string, error) {
	if p.info != nil && !p.Dir {
		return "", &fs.PathError{Op: "list", Path: p.Name, Err: errors.New("it is a file, not a directory")}
	}
	return "", nil
}

// A scan goes through a tree once. Each directory is opened from its parent's handle, so that nothing outside the root can be reached,
// whatever is renamed meanwhile; and a link is never entered, so there is no loop.
type scan struct {
	looks
	o       WalkOptions
	visit   func(Entry) error // gets each entry, or else
	batches chan<- batch      // gets the regular files
	skipped Skipped
	// How much of an absolute name is in front of the part that ignore rules see, of the part relative to the root, and of what is shown.
	top, rel, name int
}

// node is an entry and, of a directory, what its own entries need to know.
type node struct {
	Entry
	abs             string // with slashes
	wanted, entered bool
	ignored         bool
	rules           *ignore.Rules // of the directories above
}

// tree goes through the tree of a place. Its error is ctx's, or the first of visit.
func (s *scan) tree(ctx context.Context, p place) error {
	root, err := s.openDir(p, 0, step)
	if err != nil {
		return err
	}
	n := node{abs: filepath.ToSlash(p.Abs)}
	if p.Inside {
		n.abs = path.Join(filepath.ToSlash(s.dir), p.Rel)
	}
	top := n.abs
	if !s.o.Ignored {
		top, n.rules = s.ignoreRules(n.abs)
	}
	prefix := func(dir string) int { return len(strings.TrimSuffix(dir, "/")) + 1 }
	s.top, s.rel = prefix(top), prefix(n.abs)
	if p.Inside {
		s.name = prefix(s.dir)
	}
	return s.enter(ctx, root, n)
}

// enter goes through a directory and what is below it, and closes it.
func (s *scan) enter(ctx context.Context, dir *os.Root, at node) error {
	defer dir.Close()
	f, err := openFolder(dir)
	if err != nil {
		s.skipped.Unreadable++
		return nil
	}
	found, err := f.list()
	f.Close()
	if err != nil {
		s.skipped.Unreadable++
	}
	nodes := s.sift(at, found)
	s.hand(ctx, dir, nodes)
	for _, n := range nodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n.wanted && s.visit != nil {
			if err := s.visit(n.Entry); err != nil {
				return err
			}
		}
		if !n.entered {
			continue
		}
		if next, err := step(dir, path.Base(n.abs)); err != nil {
			s.skipped.Unreadable++
		} else if err := s.enter(ctx, next, n); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// sift returns what of a directory is wanted or to be entered.
func (s *scan) sift(at node, found []Entry) []node {
	rules, base, out := at.rules, strings.TrimSuffix(at.abs, "/")+"/", make([]node, 0, len(found))
	if !s.o.Ignored {
		rules = withFiles(rules, at.abs, base[s.top:], func(name string) bool {
			_, there := slices.BinarySearchFunc(found, name, func(e Entry, name string) int { return cmp.Compare(e.Name, name) })
			return there
		})
	}
	for _, e := range found {
		if e.Name == ".git" {
			continue
		}
		n := node{Entry: e, abs: base + e.Name, rules: rules}
		n.Name, n.Rel, n.Depth, n.output = n.abs[s.name:], n.abs[s.rel:], at.Depth+1, at.ignored
		n.ignored = at.ignored || rules.Match(n.abs[s.top:], e.Type.IsDir())
		if n.ignored && !s.o.marked {
			s.skipped.Ignored++
			continue
		}
		n.wanted = s.o.Want == nil || s.o.Want(n.Entry)
		n.entered = e.Type.IsDir() && (s.o.Depth == 0 || n.Depth < s.o.Depth) && (!n.ignored || s.o.output)
		switch {
		case !n.wanted && !n.entered:
			continue
		case !s.o.Secret && isSecret(n.abs):
			s.skipped.Secret++
			continue
		case n.wanted && s.batches != nil:
			if n.wanted = e.Type.IsRegular(); n.wanted && s.denied(n.abs) {
				s.skipped.Denied++
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

// isSecret says whether a file is a secret by its name.
func isSecret(abs string) bool {
	_, secret := secret.File(filepath.ToSlash(abs))
	return secret
}

// ignoreRules returns the top directory that the rules of a tree start from (the repository that root lies in; else the gate's directory,
// or root itself outside of it) and the rules of root's parents.
func (l looks) ignoreRules(root string) (top string, rules *ignore.Rules) {
	if top = repositoryTop(root); top == "" {
		top = root
		if _, inside := below(root, l.dir); inside {
			top = l.dir
		}
	}
	rules = rules.With("", map[ignore.Kind]ignore.List{ignore.Global: ignore.Parse(l.globalExcludes())})
	parts := components(strings.TrimPrefix(root, top))
	for i := range parts {
		at := strings.Join(parts[:i], "/")
		rules = withFiles(rules, path.Join(top, at), at, func(name string) bool { return name != ".git" || i == 0 })
	}
	return top, rules
}

// withFiles adds the rules that the files of a directory give; at is its name as the rules see it.
func withFiles(rules *ignore.Rules, dir, at string, has func(name string) bool) *ignore.Rules {
	lists := map[ignore.Kind]ignore.List{}
	if has(".git") {
		rules = rules.Repository()
		if r, ok := findRepo(dir); ok {
			lists[ignore.Exclude] = ignore.Parse(readSmall(filepath.Join(r.common, "info", "exclude")))
		}
	}
	for kind, name := range map[ignore.Kind]string{ignore.Gitignore: ".gitignore", ignore.Ignore: ".ignore"} {
		if has(name) {
			lists[kind] = ignore.Parse(readSmall(filepath.Join(dir, name)))
		}
	}
	if len(lists) == 0 {
		return rules
	}
	return rules.With(strings.TrimSuffix(at, "/"), lists)
}
