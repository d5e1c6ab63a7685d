// Package ignore matches paths against the patterns of ignore files as git does (gitignore(5)). It is pure: the caller reads
// the files and walks the tree.
//
// A path is given with slashes, relative to the top of the tree. Git never looks below an ignored directory, so a negated
// pattern can't bring back what lies in one: the caller asks about a path only if none of its parents is ignored.
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
type List []pattern

// Rules is a chain of lists, one link for each directory on the way down. It is not changed once made; nil has no rules.
type Rules struct {
	parent *Rules
	base   int // the length of the directory's name with a final slash
	lists  [kinds]List
}

// With returns the rules of a directory (relative to the top, "" for the top itself) below r, with the lists by kind.
func (r *Rules) With(dir string, lists map[Kind]List) *Rules {
	n := &Rules{parent: r}
	if dir != "" {
		n.base = len(dir) + 1
	}
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
	return &Rules{r.parent.Repository(), r.base, [kinds]List{Global: r.lists[Global], Ignore: r.lists[Ignore]}}
}

// Match says whether a path is ignored, given that none of its parents is. The last pattern that matches decides, the
// deepest file first.
func (r *Rules) Match(path string, isDir bool) bool {
	for k := kinds; k > 0; k-- {
		for n := r; n != nil; n = n.parent {
			if p := n.lists[k-1].last(path[n.base:], isDir); p != nil {
				return !p.negated
			}
		}
	}
	return false
}

// last returns the last pattern that matches, or nil.
func (l List) last(path string, isDir bool) *pattern {
	for i := len(l) - 1; i >= 0; i-- {
		if p := &l[i]; (isDir || !p.dirOnly) && p.match(path) {
			return p
		}
	}
	return nil
}

// Parse reads the content of an ignore file.
func Parse(content []byte) (l List) {
	text := strings.TrimPrefix(string(content), "\xef\xbb\xbf")
	for line := range strings.SplitSeq(text, "\n") {
		if p, ok := parseLine(strings.TrimSuffix(line, "\r")); ok {
			l = append(l, p)
		}
	}
	return l
}

func parseLine(line string) (p pattern, ok bool) {
	line = trimBlanks(line)
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anchored = strings.Contains(line, "/")
	if line = strings.TrimPrefix(line, "/"); line == "" {
		return p, false
	}
	special := strings.IndexAny(line, wild)
	switch {
	case special < 0:
		p.text = line
		return p, true
	case !p.anchored && line[0] == '*' && !strings.ContainsAny(line[1:], wild):
		p.text, p.suffix = line[1:], true
		return p, true
	}
	p.glob, ok = compile(line[:special], line[special:])
	return p, ok
}

// trimBlanks takes blanks off the end, but not one that a backslash protects.
func trimBlanks(line string) string {
	out := strings.TrimRight(line, " ")
	if slashes := len(out) - len(strings.TrimRight(out, `\`)); slashes%2 == 1 && len(out) < len(line) {
		out += " "
	}
	return out
}
