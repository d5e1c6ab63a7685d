package gate

import (
	"bytes"
	"unicode/utf8"
)

// maxLine bounds what is held back of a line that does not end.
const maxLine = 64 << 10

// cleaner turns what a program wrote for a terminal into plain lines: escape sequences go, a line that was drawn over is what
// it was in the end, a NUL is shown, other control characters go, what is no UTF-8 becomes U+FFFD. It is done before
// masking, so that no escape code hides a secret.
type cleaner struct {
	line  []byte
	state escape
	size  int    // of the escape sequence so far
	part  []byte // the begin of a UTF-8 sequence
	over  bool   // a carriage return came: the next character draws over the line
}

// escape says how far an escape sequence has come (ECMA-48).
type escape uint8

const (
	plain  escape = iota
	begun         // after ESC
	csi           // ESC [ … a letter
	str           // ESC ] P X ^ _ … BEL or ESC \, as in a window title
	strEnd        // ESC in such a string
)

// next takes a piece and returns the lines that are whole now.
func (c *cleaner) next(p []byte) []byte {
	var out []byte
	p = append(c.part, p...)
	c.part = nil
	for len(p) > 0 {
		if !utf8.FullRune(p) {
			c.part = bytes.Clone(p)
			break
		}
		r, n := utf8.DecodeRune(p)
		p = p[n:]
		if c.state != plain && c.escaped(r) {
			continue
		}
		out = c.char(out, r)
	}
	return out
}

// rest returns what is held back.
func (c *cleaner) rest() []byte {
	out := c.line
	if len(c.part) > 0 {
		out = append(out, "\uFFFD"...)
	}
	*c = cleaner{}
	return out
}

// escaped takes a character of an escape sequence. It is false if the character is none of it.
func (c *cleaner) escaped(r rune) bool {
	c.size++
	switch {
	case r == '\n' || c.size > 4096: // never closed: what follows is text
		c.state = plain
		return false
	case c.state == begun && r == '[':
		c.state = csi
	case c.state == begun && (r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_'):
		c.state = str
	case c.state == str && r == 0x1b:
		c.state = strEnd
	case c.state == str && r != '\a':
	case c.state == begun && r >= 0x20 && r < 0x30:
	case c.state == csi && (r < 0x40 || r > 0x7e) && r != 0x1b:
	case r == 0x1b:
		c.state, c.size = begun, 0
	default:
		c.state = plain
	}
	return true
}

// char takes a character of the text.
func (c *cleaner) char(out []byte, r rune) []byte {
	switch {
	case r == '\n':
		out = append(append(out, c.line...), '\n')
		c.line, c.over = c.line[:0], false
		return out
	case r == '\r':
		c.over = true
		return out
	case r == 0x1b:
		c.state, c.size = begun, 0
		return out
	case r == 0x9b:
		c.state, c.size = csi, 0
		return out
	case r == '\b':
		_, n := utf8.DecodeLastRune(c.line)
		c.line = c.line[:len(c.line)-n]
		return out
	case r == 0:
		r = '␀'
	case r < 0x20 && r != '\t', r >= 0x7f && r < 0xa0:
		return out
	}
	if c.over {
		c.line, c.over = c.line[:0], false
	}
	c.line = utf8.AppendRune(c.line, r)
	if len(c.line) >= maxLine {
		out = append(out, c.line...)
		c.line = c.line[:0]
	}
	return out
}
