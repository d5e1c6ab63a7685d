package shellread

import (
	"regexp"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// word is an argument with one known value, or with a pattern of its values.
type word struct {
	text    string
	pattern string // for a word with unquoted wildcards: see Path
	tilde   bool   // begins with an unquoted ~ that stands for the home directory
	status  bool   // holds $?
}

func (w word) glob() bool { return w.pattern != "" }

var (
	// asWritten leaves ~ and $? in the text.
	asWritten = expand.ListEnviron("HOME=~", "?=$?")
	escapes   = regexp.MustCompile(`(?s)\\.`)
	// braces that bash leaves alone: without a comma or .. in them
	closedBraces = regexp.MustCompile(`\{(?:[^{},.]|\.[^{},.])*\.?\}`)
	// the escapes of $'…' that mean the same everywhere, and give no NUL
	plainANSI = regexp.MustCompile(`^(?:[^\\]|\\(?:[abeEfnrtv\\'"?]|x[0-9a-fA-F]{2}|[0-3][0-7]{2}|u[0-9a-fA-F]{4}))*$`)
	nulANSI   = regexp.MustCompile(`\\(?:x00|000|u0000)`)
	// the parts of a pattern: an escaped character, a simple set, stars
	patternParts = regexp.MustCompile(`(?s)\\.|\[[!^]?[A-Za-z0-9_-]+\]|\*+`)
)

// readWord returns the word, or the reason why its value is not known. What bash does to unquoted characters (globs, braces,
// tilde) is looked for in the shape: the text with an x for whatever is quoted.
func readWord(w *syntax.Word) (out word, reason string) {
	if lit := w.Lit(); lit != "" && !strings.ContainsFunc(lit, func(c rune) bool { return c > '~' || strings.ContainsRune(`\*?[{~`, c) }) {
		return word{text: lit}, ""
	}
	shape := ""
	for _, p := range w.Parts {
		s, reason := out.shape(p)
		if reason != "" {
			return out, reason
		}
		shape += s
	}
	out.tilde = strings.HasPrefix(shape, "~")
	switch {
	case strings.Contains(shape, `\`):
		return out, "ends in a backslash"
	case out.tilde && shape != "~" && shape[1] != '/':
		return out, "names another home directory"
	case strings.Contains(shape, "=~"), strings.Contains(shape, ":~"):
		return out, "holds a ~ that may be expanded"
	case strings.Contains(closedBraces.ReplaceAllString(shape, ""), "{"):
		return out, "holds a brace expansion"
	}
	fields, err := expand.Fields(&expand.Config{Env: asWritten}, w)
	if err != nil || len(fields) != 1 {
		return out, "holds an expansion"
	}
	out.text = fields[0]
	if strings.ContainsAny(shape, "*?[") && shape != "[" {
		out.pattern, reason = pattern(w)
	}
	return out, reason
}

// shape returns the shape of one part of a word, or the reason why it has no known value.
func (w *word) shape(p syntax.WordPart) (shape, reason string) {
	switch p := p.(type) {
	case *syntax.Lit:
		if strings.ContainsFunc(p.Value, invisible) {
			return "", "holds a blank or format character outside quotes"
		}
		return escapes.ReplaceAllString(p.Value, "x"), ""
	case *syntax.SglQuoted:
		if p.Dollar && (!plainANSI.MatchString(p.Value) || nulANSI.MatchString(p.Value)) {
			return "", "holds a $'…' that cannot be read"
		}
	case *syntax.DblQuoted:
		if p.Dollar {
			return "", "holds a translated string"
		}
		for _, q := range p.Parts {
			if _, lit := q.(*syntax.Lit); lit {
				continue
			}
			if _, reason = w.shape(q); reason != "" {
				return "", reason
			}
		}
	case *syntax.ParamExp:
		if !p.Short || p.Param == nil || p.Param.Value != "?" || p.Index != nil {
			return "", "holds a variable"
		}
		w.status = true // digits, whatever happens
	case *syntax.CmdSubst, *syntax.ProcSubst:
		return "", "holds a command substitution"
	default:
		return "", "holds an expansion"
	}
	return "x", ""
}

// invisible reports whether some shell may take a character that is not ASCII for a blank: with some locales the bytes 85
// and A0 separate words.
func invisible(c rune) bool {
	return c > unicode.MaxASCII && (!unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) ||
		strings.IndexByte(string(c), 0x85) >= 0 || strings.IndexByte(string(c), 0xa0) >= 0)
}

// pattern writes a wildcard word as Path wants it. A simple bracket expression becomes a ?, which matches more; a ** is a
// *, as in bash without globstar.
func pattern(w *syntax.Word) (text, reason string) {
	text, err := expand.Pattern(&expand.Config{Env: asWritten}, w)
	if err != nil || strings.Contains(patternParts.ReplaceAllString(text, ""), "[") {
		return "", "holds a pattern that is too involved"
	}
	return patternParts.ReplaceAllStringFunc(text, func(part string) string {
		switch part[0] {
		case '[':
			return "?"
		case '*':
			return "*"
		}
		return part
	}), ""
}
