package shellread

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A word is read into its text, the value that the program gets, and its shape: the same bytes with every quoted one
// replaced by an x. What bash does to unquoted characters (globs, braces, tilde) is then looked for in the shape alone.

// word is an argument with one known value, or with a pattern of its values.
type word struct {
	text    string
	pattern string // for a word with unquoted wildcards: see Path
	tilde   bool   // begins with an unquoted ~ that stands for the home directory
	status  bool   // holds $?
}

func (w word) glob() bool { return w.pattern != "" }

// spelling collects a word.
type spelling struct {
	text, shape []byte
	status      bool
}

func (s *spelling) add(text string, quoted bool) {
	s.text = append(s.text, text...)
	if !quoted {
		s.shape = append(s.shape, text...)
		return
	}
	for range len(text) {
		s.shape = append(s.shape, 'x')
	}
}

// readWord returns the word, or the reason why its value is not known.
func readWord(w *syntax.Word) (word, string) {
	var s spelling
	for _, p := range w.Parts {
		if reason := s.part(p); reason != "" {
			return word{}, reason
		}
	}
	return s.word()
}

// part adds one part of a word, or returns the reason why it has no known value.
func (s *spelling) part(p syntax.WordPart) string {
	switch p := p.(type) {
	case *syntax.Lit:
		return s.literal(p.Value)
	case *syntax.SglQuoted:
		text, ok := p.Value, true
		if p.Dollar {
			text, ok = decodeANSI(p.Value)
		}
		if !ok {
			return "holds a $'…' that cannot be read"
		}
		s.add(text, true)
	case *syntax.DblQuoted:
		if p.Dollar {
			return "holds a translated string"
		}
		for _, q := range p.Parts {
			if lit, ok := q.(*syntax.Lit); ok {
				s.add(unescapeDouble(lit.Value), true)
			} else if reason := s.part(q); reason != "" {
				return reason
			}
		}
	case *syntax.ParamExp:
		if p.Short && p.Param != nil && p.Param.Value == "?" && p.Index == nil { // digits, whatever happens
			s.add("$?", true)
			s.status = true
			return ""
		}
		return "holds a variable"
	case *syntax.CmdSubst, *syntax.ProcSubst:
		return "holds a command substitution"
	default:
		return "holds an expansion"
	}
	return ""
}

const invisible = "holds a blank or format character outside quotes"

// literal adds unquoted text, whose backslashes the parser keeps. Blanks that are no blanks to every bash are refused:
// with some locales the bytes 85 and A0 separate words.
func (s *spelling) literal(v string) string {
	for i := 0; i < len(v); {
		c, n := utf8.DecodeRuneInString(v[i:])
		switch {
		case c == '\\' && i+1 == len(v):
			return "ends in a backslash"
		case c == '\\' && v[i+1] == '\n':
			n = 2
		case c == '\\':
			_, n = utf8.DecodeRuneInString(v[i+1:])
			if n > 1 && !visible(v[i+1:i+1+n]) {
				return invisible
			}
			s.add(v[i+1:i+1+n], true)
			n++
		case n > 1 && !visible(v[i:i+n]):
			return invisible
		default:
			s.add(v[i:i+n], false)
		}
		i += n
	}
	return ""
}

// visible reports whether a non-ASCII character is one that no shell takes for a blank.
func visible(char string) bool {
	c, _ := utf8.DecodeRuneInString(char)
	return unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) &&
		strings.IndexByte(char, 0x85) < 0 && strings.IndexByte(char, 0xa0) < 0
}

// word judges what bash would do to the unquoted characters.
func (s *spelling) word() (word, string) {
	w := word{text: string(s.text), status: s.status}
	if !strings.ContainsAny(string(s.shape), "*?[{~") {
		return w, ""
	}
	shape := string(s.shape)
	if strings.HasPrefix(shape, "~") {
		if shape != "~" && !strings.HasPrefix(shape, "~/") {
			return w, "names another home directory"
		}
		w.tilde = true
	}
	switch {
	case strings.Contains(shape, "=~") || strings.Contains(shape, ":~"):
		return w, "holds a ~ that may be expanded"
	case braces(shape):
		return w, "holds a brace expansion"
	}
	if strings.ContainsAny(shape, "*?[") && shape != "[" {
		var ok bool
		if w.pattern, ok = pattern(w.text, shape); !ok {
			return w, "holds a pattern that is too involved"
		}
	}
	return w, ""
}

// braces reports whether bash may expand a brace: it does not if the next special thing after every { is its }.
func braces(shape string) bool {
	for {
		i := strings.IndexByte(shape, '{')
		if i < 0 {
			return false
		}
		shape = shape[i+1:]
		end := strings.IndexAny(shape, "{},")
		if end < 0 || shape[end] != '}' || strings.Contains(shape[:end], "..") {
			return true
		}
	}
}

// pattern writes a wildcard word as Path wants it. A simple bracket expression becomes a ?, which matches more; a ** is a
// *, as in bash without globstar.
func pattern(text, shape string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := shape[i]; {
		case c == '*' && strings.HasSuffix(b.String(), "*") && shape[i-1] == '*':
		case c == '*' || c == '?':
			b.WriteByte(c)
		case c == '[':
			set, _, closed := strings.Cut(shape[i+1:], "]")
			body := strings.TrimLeft(set, "!^")
			if !closed || body == "" || len(set)-len(body) > 1 || strings.ContainsFunc(body, notSetMember) {
				return "", false
			}
			b.WriteByte('?')
			i += len(set) + 1
		default:
			if strings.IndexByte(`*?[]{}\`, text[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(text[i])
		}
	}
	return b.String(), true
}

func notSetMember(c rune) bool {
	return c > unicode.MaxASCII || c != '-' && c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
}

// unescapeDouble removes the backslashes that bash removes inside double quotes.
func unescapeDouble(v string) string {
	if strings.IndexByte(v, '\\') < 0 {
		return v
	}
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) {
			if v[i+1] == '\n' {
				i++
				continue
			}
			if strings.IndexByte("$`\"\\", v[i+1]) >= 0 {
				i++
			}
		}
		b.WriteByte(v[i])
	}
	return b.String()
}

// decodeANSI returns the value of the inside of a $'…' string, and false where it is not certain: a NUL, \c, and escapes
// that are shorter than they may be.
func decodeANSI(v string) (string, bool) {
	var b strings.Builder
	for v != "" {
		if i := strings.IndexByte(`"?eE`, (v + `\\`)[1]); v[0] == '\\' && i >= 0 { // not in Go
			b.WriteByte("\"?\x1b\x1b"[i])
			v = v[2:]
			continue
		}
		c, wide, rest, err := strconv.UnquoteChar(v, '\'')
		if err != nil || c == 0 {
			return "", false
		}
		if v = rest; wide {
			b.WriteRune(c)
		} else {
			b.WriteByte(byte(c))
		}
	}
	return b.String(), true
}
