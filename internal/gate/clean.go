package gate

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxLine bounds what is held back of a line that does not end.
const maxLine = 64 << 10

// cleaner turns what a program wrote for a terminal into plain lines: escape sequences go, a line that was drawn over is
// what it was in the end, a NUL is shown, other control characters go, what is no UTF-8 becomes U+FFFD. It is done before
// masking, so that no escape code hides a secret.
type cleaner struct{ line []byte }

// next takes a piece and returns the lines that are whole now.
func (c *cleaner) next(p []byte) []byte {
	var out []byte
	for _, part := range bytes.SplitAfter(p, []byte("\n")) {
		c.line = append(c.line, part...)
		if bytes.HasSuffix(part, []byte("\n")) || len(c.line) >= maxLine {
			out = append(out, c.take()...)
		}
	}
	return out
}

// take returns the line so far, cleaned; the begin of a character at its end stays.
func (c *cleaner) take() string {
	n := len(c.line)
	for i := max(0, n-utf8.UTFMax); i < n; i++ {
		if !utf8.FullRune(c.line[i:]) {
			n = i
		}
	}
	text, end := strings.CutSuffix(string(c.line[:n]), "\n")
	c.line = append(c.line[:0], c.line[n:]...)
	if text = tidy(text); end {
		text += "\n"
	}
	return text
}

// rest returns what is held back.
func (c *cleaner) rest() []byte {
	text := tidy(string(c.line))
	c.line = nil
	return []byte(text)
}

// tidy cleans one line.
func tidy(line string) string {
	line = strings.TrimRight(ansi.Strip(strings.ToValidUTF8(line, "\uFFFD")), "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	var out []rune
	for _, r := range line {
		switch {
		case r == 0:
			out = append(out, '␀')
		case r == '\b' && len(out) > 0:
			out = out[:len(out)-1]
		case r == '\t' || !unicode.IsControl(r):
			out = append(out, r)
		}
	}
	return string(out)
}
