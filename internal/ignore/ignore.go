// Package ignore matches paths against the patterns of ignore files as git does (gitignore(5)). It is pure: the caller reads
// the files and walks the tree.
//
// Patterns and paths are bytes, not runes. A path is given with slashes, relative to the top of the tree. Git never looks
// below an ignored directory, so a negated pattern can't bring back what lies in one: the caller does the same by not entering
// directories that are ignored, and asks about a path only if none of its parents is.
package ignore

import "strings"

// Kind ranks the ignore files: a match in a later kind beats all of the kinds before it.
type Kind uint8

// The kinds, weakest first: the user's excludes and .git/info/exclude, .gitignore files, .ignore files.
const (
	Global Kind = iota
	Exclude
	Gitignore
	Ignore
	kinds
)

// List is the patterns of one ignore file, in their order.
type List struct{ patterns []pattern }

// Rules is a chain of lists, one link for each directory on the way down. It is not changed once made; nil has no rules.
type Rules struct {
	parent *Rules
	base   string // the directory of the lists, with a final slash; empty for the top
	lists  [kinds]List
}

// With returns the rules of a directory (relative to the top, "" for the top itself) below r, with the lists by kind.
func (r *Rules) With(dir string, lists map[Kind]List) *Rules {
	if dir != "" {
		dir += "/"
	}
	n := &Rules{parent: r, base: dir}
	for k, l := range lists {
		n.lists[k] = l
	}
	return n
}

// Repository returns what remains of the rules at the top of another repository below: ignore files of the outer one say
// nothing about it, .ignore files and the user's excludes do.
func (r *Rules) Repository() *Rules {
	if r == nil {
		return nil
	}
	n := *r
	n.parent = r.parent.Repository()
	n.lists[Exclude], n.lists[Gitignore] = List{}, List{}
	return &n
}

// Match says whether a path is ignored, given that none of its parents is. The last pattern that matches decides, the
// deepest file first.
func (r *Rules) Match(path string, isDir bool) bool {
	for k := kinds; k > 0; k-- {
		for n := r; n != nil; n = n.parent {
			if ignored, found := n.lists[k-1].match(path, len(n.base), isDir); found {
				return ignored
			}
		}
	}
	return false
}

// Parse reads the content of an ignore file.
func Parse(content []byte) List {
	var l List
	text := strings.TrimPrefix(string(content), "\xef\xbb\xbf")
	for line := range strings.SplitSeq(text, "\n") {
		if p, ok := parseLine(strings.TrimSuffix(line, "\r")); ok {
			l.patterns = append(l.patterns, p)
		}
	}
	return l
}

func (l List) match(path string, base int, isDir bool) (ignored, found bool) {
	if len(l.patterns) == 0 || len(path) < base {
		return false, false
	}
	path = path[base:]
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(l.patterns) - 1; i >= 0; i-- {
		p := &l.patterns[i]
		if p.dirOnly && !isDir {
			continue
		}
		subject := name
		if p.anchored {
			subject = path
		}
		if p.match(subject) {
			return !p.negated, true
		}
	}
	return false, false
}

// pattern is one line. Without a slash in it, it is matched against the last part of a path, else (anchored) against the
// path relative to the file's directory. Most patterns are a plain text or a star before one; the rest are tokens.
type pattern struct {
	negated, dirOnly, anchored bool
	shape                      shape
	text                       string
	tokens                     []token
}

type shape uint8

const (
	literal shape = iota // equals text
	suffix               // ends with text
	glob                 // tokens after text
)

func (p *pattern) match(s string) bool {
	switch p.shape {
	case literal:
		return s == p.text
	case suffix:
		return strings.HasSuffix(s, p.text)
	}
	return strings.HasPrefix(s, p.text) && matchTokens(p.tokens, s[len(p.text):])
}

func parseLine(line string) (p pattern, ok bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return p, false
	}
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	special := strings.IndexAny(line, `*?[\`)
	switch {
	case special < 0:
		p.text = line
		return p, true
	case !p.anchored && line[0] == '*' && !strings.ContainsAny(line[1:], `*?[\`):
		p.shape, p.text = suffix, line[1:]
		return p, true
	}
	// Git compares the plain part in front by itself, so that stars after it count as stars at the start.
	p.shape, p.text = glob, line[:special]
	p.tokens, ok = compile(line[special:])
	return p, ok
}

// trimBlanks takes blanks off the end, but not one that a backslash protects.
func trimBlanks(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		} else if s[i] == ' ' {
			continue
		}
		end = i + 1
	}
	return s[:end]
}
