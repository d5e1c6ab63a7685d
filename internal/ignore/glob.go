package ignore

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// wild are the bytes that make a pattern more than plain text.
const wild = `*?[\`

// pattern is one line. Without a slash in it, it is matched against the last part of a path, else (anchored) against the
// path relative to the file's directory. Most patterns are a plain text, or a star before one; the rest are expressions.
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

// runes makes a rune of each byte: git compares bytes, package regexp runes.
func runes(s string) string {
	var out strings.Builder
	for i := range len(s) {
		out.WriteRune(rune(s[i]))
	}
	return out.String()
}

// compile makes an expression of a pattern. Git compares the plain text in front by itself, so that stars after it count as
// stars at the start. It is false for what can never match: a set without end, an unknown class, a backslash at the end.
func compile(plain, glob string) (*regexp.Regexp, bool) {
	glob = runes(glob)
	expr := "(?s)^" + regexp.QuoteMeta(runes(plain))
	for s := glob; s != ""; {
		part, ok := "[^/]", true
		switch begun := glob[:len(glob)-len(s)]; s[0] {
		case '*':
			part, s = stars(s, begun == "" || strings.HasSuffix(begun, "/"))
		case '?':
			s = s[1:]
		case '[':
			part, s, ok = set(s[1:])
		default:
			c := char.FindString(s)
			part, s, ok = regexp.QuoteMeta(strings.TrimPrefix(c, `\`)), s[len(c):], c != ""
		}
		if !ok {
			return nil, false
		}
		expr += part
	}
	re, err := regexp.Compile(expr + "$")
	return re, err == nil
}

// stars reads a run of stars. Two or more between slashes (or the ends) cross directories; else they are as one.
func stars(s string, atStart bool) (expr, rest string) {
	rest = strings.TrimLeft(s, "*")
	switch {
	case !atStart || len(s)-len(rest) < 2:
	case strings.HasPrefix(rest, "/"):
		return "(?:.*/)?", rest[1:]
	case rest == "" || strings.HasPrefix(rest, `\/`):
		return ".*", rest
	}
	return "[^/]*", rest
}

var (
	char    = regexp.MustCompile(`(?s)^(?:\\.|[^\\])`)
	element = regexp.MustCompile(`(?s)^(?:\[:([^\]]*):\]|(\\.|[^\\])(?:-(\\.|[^\]\\]))?)`)
)

// posix are the classes of the C locale that git knows; regexp has some more.
const posix = "alnum alpha blank cntrl digit graph lower print punct space upper xdigit"

// set reads a bracket expression, from after the bracket on. It takes one byte, but no slash.
func set(s string) (expr, rest string, ok bool) {
	negated := strings.HasPrefix(s, "!") || strings.HasPrefix(s, "^")
	if rest = s; negated {
		rest = s[1:]
	}
	var in [256]bool
	for first := true; first || !strings.HasPrefix(rest, "]"); first = false {
		m := element.FindStringSubmatch(rest)
		if m == nil {
			return "", "", false
		}
		rest = rest[len(m[0]):]
		takes := func(c rune) bool { return m[3] != "" && last(m[2]) <= c && c <= last(m[3]) || c == last(m[2]) }
		if m[2] == "" {
			class, err := regexp.Compile("[[:" + m[1] + ":]]")
			if err != nil || !strings.Contains(posix, m[1]) {
				return "", "", false
			}
			takes = func(c rune) bool { return class.MatchString(string(c)) }
		}
		for c := range in {
			in[c] = in[c] || takes(rune(c))
		}
	}
	expr = `[\x00` // which no path has, so that the set is never empty
	for c := range in {
		if in[c] != negated && c != '/' {
			expr += fmt.Sprintf(`\x{%x}`, c)
		}
	}
	return expr + "]", rest[1:], true
}

// last is a character without the backslash in front.
func last(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
