package event

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible writes out what a reader or a terminal would be fooled by, as \x1b or \u202e: control characters but newline and tab,
// characters that change the direction of writing, and those that can't be seen. Joined emoji stay.
func Visible(s string) string {
	odd := func(r rune) bool {
		plain := r >= ' ' && r <= '~' || r == '\n' || r == '\t' || r == '\u200d'
		return !plain && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	if s = strings.ToValidUTF8(s, "\uFFFD"); strings.IndexFunc(s, odd) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !odd(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
