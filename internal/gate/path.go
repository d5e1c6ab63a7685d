package gate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"anchor/internal/policy"
)

// A path is judged where it really points. resolve follows every link itself, one component after the other, also in front of what does
// not exist yet, and so gets a name without links. The effects then open exactly that name, from the directory's handle down, and follow
// no link at all (files.go): what was judged is what is used.

const (
	maxName   = 4096
	maxLinks  = 40
	separator = string(filepath.Separator)
)

// place is a resolved path and what was there when it was resolved; info is nil if there was nothing.
type place struct {
	policy.Path
	info fs.FileInfo
}

// resolve finds out what a name means. name is relative to the directory, absolute, or starts with ~/.
func (g *Gate) resolve(name string) place {
	p := place{Path: policy.Path{Name: name, Lexical: g.dir, Abs: g.dir}}
	switch {
	case name == "":
		p.Fault = "the path is empty"
	case strings.ContainsRune(name, 0):
		p.Fault = "the path has a NUL in it"
	case len(name) > maxName:
		p.Fault = "the path is too long"
	}
	if p.Fault != "" {
		return p
	}
	full := g.expand(name)
	p.Lexical = filepath.Clean(full)
	p.Abs, p.info, p.Fault = g.follow(full)
	if p.info != nil {
		p.Exists, p.Dir = true, p.info.IsDir()
		if p.info.Mode().IsRegular() {
			p.Links = linkCount(p.info)
		}
	}
	if rel, ok := g.within(p.Abs); ok && p.Fault == "" {
		p.Inside, p.Rel = true, rel
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p.Own = slices.ContainsFunc(g.own, func(own string) bool { _, in := below(p.Abs, own); return in })
	return p
}

// expand makes a name absolute, without cleaning it: a/link/.. is not a.
func (g *Gate) expand(name string) string {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		return g.o.Home + name[1:]
	case filepath.IsAbs(name):
		return name
	}
	return g.dir + separator + name
}

// follow resolves the links of an absolute name. Where nothing exists any more, the rest is taken as it stands.
func (s *shared) follow(full string) (abs string, info fs.FileInfo, fault string) {
	cur, rest := split(full)
	missing := false
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == ".." {
			cur, info, missing = filepath.Dir(cur), nil, false
			continue
		}
		next := filepath.Join(cur, part)
		if at, ok := s.ownProcess(next); ok {
			cur, info = at, nil
			continue
		}
		if missing {
			cur = next
			continue
		}
		fi, err := os.Lstat(next)
		switch {
		case errors.Is(err, syscall.ENAMETOOLONG):
			return next, nil, "a part of the path is too long"
		case err != nil:
			missing, cur, info = true, next, nil
		case fi.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(next)
			if links++; err != nil || links > maxLinks {
				return next, nil, "the path goes round in a loop of links"
			}
			more := components(target)
			if filepath.IsAbs(target) {
				cur, more = split(target)
			}
			info, rest = nil, append(more, rest...)
		default:
			cur, info = next, fi
		}
	}
	if info == nil && !missing {
		info, _ = os.Lstat(cur)
	}
	return cur, info, ""
}

// split takes an absolute name apart.
func split(abs string) (root string, parts []string) {
	root = filepath.VolumeName(abs) + separator
	return root, components(abs[len(root)-1:])
}

// components splits a name; empty ones and dots are left out.
func components(name string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(name), "/"), func(part string) bool { return part == "" || part == "." })
}

// ownProcess says what the names of a process for itself stand for: a command is run in the directory, so for it /proc/self/cwd is the
// directory. /proc/self itself is left as it is.
func (s *shared) ownProcess(name string) (string, bool) {
	switch name {
	case "/proc/self", "/proc/thread-self":
		return name, true
	case "/proc/self/cwd", "/proc/thread-self/cwd":
		return s.dir, true
	case "/proc/self/root", "/proc/thread-self/root":
		return "/", true
	}
	return "", false
}

// within says whether a resolved name is the directory or below it, and gives it relative to the directory. Where the disk takes two
// spellings of the directory's name for the same, so does this.
func (s *shared) within(abs string) (rel string, ok bool) {
	if len(abs) >= len(s.dir) && abs[:len(s.dir)] != s.dir && strings.EqualFold(abs[:len(s.dir)], s.dir) {
		a, errA := os.Stat(abs[:len(s.dir)])
		b, errB := os.Stat(s.dir)
		if errA == nil && errB == nil && os.SameFile(a, b) {
			abs = s.dir + abs[len(s.dir):]
		}
	}
	return below(abs, s.dir)
}

// below says whether abs is dir or below it, by components, and returns it relative to dir with slashes.
func below(abs, dir string) (rel string, ok bool) {
	if abs == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(abs, strings.TrimSuffix(dir, separator)+separator)
	return filepath.ToSlash(rest), ok
}

// aboveHome says whether a folder is the home directory or one that it lies in.
func (s *shared) aboveHome(dir string) bool {
	_, above := below(resolved(s.o.Home), dir)
	return above
}

// resolved resolves the links of a name as far as it exists.
func resolved(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	out, _, _ := (&shared{}).follow(abs)
	return out
}

// shown is the name of a place for people: relative to the directory, or absolute.
func (p place) shown() string {
	if p.Inside {
		return p.Rel
	}
	return filepath.ToSlash(p.Abs)
}
