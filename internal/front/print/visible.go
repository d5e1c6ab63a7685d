package print

import (
	"strconv"
	"strings"
	"unicode"
)

// Visible makes text of models and tools safe to show: control characters and those that turn the reading direction are
// written out as \x1b, so that none of them reaches a terminal. Lines and tabs stay.
func Visible(s string) string {
	clean := func(r rune) bool {
		return r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) && r != '\u2028' && r != '\u2029'
	}
	if strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		if clean(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteToASCII(string(r)), `"`))
		}
	}
	return b.String()
}

// line returns the first line of a text, at most n characters.
func line(s string, n int) string {
	s, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	if rest != "" {
		return s + " …"
	}
	return s
}
