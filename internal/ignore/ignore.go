// Package ignore matches paths against the patterns of ignore files as git does (gitignore(5)). It is pure: the caller reads the files and
// walks the tree.
//
// A path is given with slashes, relative to the top of the tree. Git never looks below an ignored directory, so a negated pattern can't
// bring back what lies in one: the caller asks about a path only if none of its parents is ignored.
package ignore

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

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

// Repository returns what remains of the rules at the top of another repository below: ignore files of the outer one say nothing about
// it, .ignore files and the user's excludes do.
func (r *Rules) Repository() *Rules {
	if r == nil {
		return nil
	}
	return &Rules{r.parent.Repository(), r.base, [kinds]List{Global: r.lists[Global], Ignore: r.lists[Ignore]}}
}

// Match says whether a path is ignored, given that none of its parents is. The last pattern that matches decides, the deepest file first.
func (r *Rules) Match(path string, isDir bool) bool {
	for k := kinds; k > 0; k-- {
		for n := r; n != nil; n = n.parent {
			list := n.lists[k-1]
			for i := len(list) - 1; i >= 0; i-- {
				if p := &list[i]; (isDir || !p.dirOnly) && p.match(path[n.base:]) {
					return !p.negated
				}
			}
		}
	}
	return false
}

// pattern is one line. Without a slash in it, it is matched against the last part of a path, else (anchored) against the path relative to
// the file's directory. Most patterns are a plain text, or a star before one; the rest are expressions.
type pattern struct {
	negated, dirOnly, anchored, suffix bool
	text                               string
	glob                               *regexp.Regexp
}

func (p *pattern) match(path string) bool {
	if !p.anchored {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	switch {
	case p.glob != nil:
		return p.glob.MatchString(runes(path))
	case p.suffix:
		return strings.HasSuffix(path, p.text)
	}
	return path == p.text
}

// Parse reads the content of an ignore file.
func Parse(content []byte) (l List) {
	for line := range strings.SplitSeq(strings.TrimPrefix(string(content), "\xef\xbb\xbf"), "\n") {
		if p, ok := parseLine(strings.TrimSuffix(line, "\r")); ok {
			l = append(l, p)
		}
	}
	return l
}

func parseLine(line string) (p pattern, ok bool) {
	trimmed := strings.TrimRight(line, " ")
	if slashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`)); slashes%2 == 1 && len(trimmed) < len(line) {
		trimmed += " " // which the backslash protects
	}
	if strings.HasPrefix(trimmed, "#") {
		return p, false
	}
	line, p.negated = strings.CutPrefix(trimmed, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anchored = strings.Contains(line, "/")
	if line = strings.TrimPrefix(line, "/"); line == "" {
		return p, false
	}
	const wild = `*?[\`
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

// slash stands for the slashes of a path in expressions, so that no set of characters takes one.
const slash = "\U0010FFFF"

// runes makes a rune of each byte, since git compares bytes, and of a slash the stand-in.
func runes(s string) string {
	var out strings.Builder
	for i := range len(s) {
		if s[i] == '/' {
			out.WriteString(slash)
		} else {
			out.WriteRune(rune(s[i]))
		}
	}
	return out.String()
}

// The parts of a pattern: two or more stars between slashes (or the ends), which cross directories; a set, with its sign and what it
// takes; and a character, which a backslash may quote.
var (
	deep   = regexp.MustCompile(`^\*\*+(?:` + slash + `|$|(\\` + slash + `))`)
	set    = regexp.MustCompile(`(?s)^\[([!^]?)(\]?(?:\[*\[:[a-z]+:\]|\\.|[^][\\]|\[+[^][:\\])*\[*)\]`)
	char   = regexp.MustCompile(`(?s)^(?:\\.|[^\\[])`)
	member = regexp.MustCompile(`(?s)\[:[a-z]+:\]|-|\\?.`)
)

// compile makes an expression of a pattern. Git compares the plain text in front by itself, so that stars after it count as stars at the
// start. It is false for what can never match: a set without end, an unknown class, a backslash at the end.
func compile(plain, glob string) (*regexp.Regexp, bool) {
	expr, begun := "(?s)^"+regexp.QuoteMeta(runes(plain)), true // at the start or after a slash
	for s := runes(glob); s != ""; {
		part, rest := "", ""
		if m := deep.FindStringSubmatch(s); begun && m != nil {
			part, rest = "(?:.*"+slash+")?", s[len(m[0]):]
			if m[1] != "" || !strings.HasSuffix(m[0], slash) {
				part, rest = ".*", s[len(m[0])-len(m[1]):]
			}
		} else if s[0] == '*' {
			part, rest = "[^"+slash+"]*", strings.TrimLeft(s, "*")
		} else if s[0] == '?' {
			part, rest = "[^"+slash+"]", s[1:]
		} else if m := set.FindStringSubmatch(s); m != nil {
			part, rest = members(m[1] != "", m[2]), s[len(m[0]):]
		} else if c := char.FindString(s); c != "" {
			part, rest = regexp.QuoteMeta(strings.TrimPrefix(c, `\`)), s[len(c):]
		} else {
			return nil, false
		}
		begun = strings.HasSuffix(s[:len(s)-len(rest)], slash)
		expr, s = expr+part, rest
	}
	re, err := regexp.Compile(expr + "$")
	return re, err == nil
}

// members writes a set as package regexp does.
func members(negated bool, in string) string {
	out := "["
	if negated {
		out += "^" + slash
	}
	return out + member.ReplaceAllStringFunc(strings.ReplaceAll(in, slash, ""), func(m string) string {
		if m == "-" || strings.HasPrefix(m, "[:") {
			return m
		}
		r, _ := utf8.DecodeLastRuneInString(m)
		return fmt.Sprintf(`\x{%x}`, r)
	}) + "]"
}
