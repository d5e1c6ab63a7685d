package secret

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A text is masked line by line; a line longer than window in pieces. Where a piece ends depends on the text alone, never on
// how it came, so a stream and a whole text give the same. A long line is cut behind a separator and never inside a secret.
//
// Private keys go over many lines. After the BEGIN line of one, lines that look like its body are masked until one does not,
// with END or without.

const (
	window  = 64 << 10
	overlap = 4 << 10
	ahead   = 128 // longer than a BEGIN or END

	puttyBody = "Private-Lines: " // stands before the body of a key of PuTTY's
)

// Stream is a masking filter for one text. Not for concurrent use.
type Stream struct {
	m      *Masker
	buf    []byte
	inKey  bool   // the line before belongs to a private key
	inLine bool   // in a private key that began on this very line
	name   string // that stands alone on the line before: its value may be on this one
}

// Stream returns a filter that masks as Mask does, over a text that comes in pieces: Next takes a piece and returns what can be
// let out now (whole lines), Rest returns what was held back. Memory is bounded.
func (m *Masker) Stream() *Stream { return &Stream{m: m} }

// Mask returns text with every secret replaced by "[masked: KIND]". Masking twice changes nothing more.
func (m *Masker) Mask(text string) string {
	out, _ := m.Stream().run(text, true)
	return string(out)
}

// Next takes a piece and returns what can be let out.
func (s *Stream) Next(p []byte) []byte {
	s.buf = append(s.buf, p...)
	if len(s.buf) <= window && bytes.IndexByte(p, '\n') < 0 {
		return nil
	}
	out, n := s.run(string(s.buf), false)
	s.buf = append(s.buf[:0], s.buf[n:]...)
	return out
}

// Rest ends the text and returns what was held back.
func (s *Stream) Rest() []byte {
	out, _ := s.run(string(s.buf), true)
	s.buf = nil
	return out
}

// run masks what of a text is complete, all if it is the end of it, and returns how much that was.
func (s *Stream) run(text string, final bool) (out []byte, pos int) {
	out = make([]byte, 0, len(text))
	t, next := s.m.table.Load(), 0 // where something is to be looked at
	for pos < len(text) {
		if !s.inKey && !s.inLine && s.name == "" { // whole lines before that
			if next <= pos {
				next = t.next(text, pos)
			}
			n := strings.LastIndexByte(text[pos:min(next, pos+window)], '\n') + 1
			if out = append(out, text[pos:pos+n]...); n > 0 {
				pos += n
				continue
			}
		}
		rest := text[pos:]
		n := strings.IndexByte(rest[:min(len(rest), window)], '\n') + 1
		switch {
		case n > 0:
		case len(rest) > window:
			n = s.cut(rest)
		case !final:
			return out, pos
		default:
			n = len(rest)
		}
		out = append(out, s.line(rest[:n])...)
		pos += n
	}
	return out, pos
}

// cut says where the first piece of a long line ends.
func (s *Stream) cut(text string) int {
	n := window - ahead
	for n > window-ahead-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	if i := strings.LastIndexAny(text[n-overlap:n], " \t,;}"); i >= 0 {
		n += i + 1 - overlap
	}
	hits, _, _ := s.m.table.Load().hits(text[:window], s.inLine)
	for _, h := range hits {
		if h.from < n && n < h.end {
			n = h.end
		}
	}
	return n
}

var (
	// A body line may stand behind a file name, a line number, a diff or quote mark, and in quotes.
	bodyLine = regexp.MustCompile(`^((?:[^\s:\[\]]*:)?[\s\d:|>#*."'-]*?\+?[\s\d|"']*?)([A-Za-z0-9+/=]{1,80})(?:(?:\\[nr])*["',;\\)\s+]*)$`)
	longBody = regexp.MustCompile(`[A-Za-z0-9+/=]{81}`) // not folded
	// A name and its value on two lines, as in a list of variables.
	nameLine   = regexp.MustCompile(`(?i)^[\s\d:|+>-]*"?(?:name|key)"?\s*[:=]\s*["']?([\w.-]{1,80})["']?,?\r?\n$`)
	valueLine  = regexp.MustCompile(`(?i)^[\s\d:|+>-]*"?value"?\s*[:=]\s*["']?([^\s"']{8,})["']?,?\s*$`)
	headerLine = regexp.MustCompile(`^[\s\d:|>#+-]*((Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Private-MAC): .*)?\s*$`)
)

// line masks a line, or a piece of one.
func (s *Stream) line(text string) string {
	inKey := s.inLine
	if s.name != "" {
		label, weak := judgeName(s.name)
		m := valueLine.FindStringSubmatchIndex(text)
		if m != nil && !strings.Contains(text, maskStart) && worthHiding(text[m[2]:m[3]], label, weak, clear) {
			text = text[:m[2]] + s.m.mask(label) + text[m[3]:]
		}
		s.name = ""
	}
	if s.inKey {
		var m []int
		if len(text) < 400 && !longBody.MatchString(text) { // or digits of it would pass for a line number
			m = bodyLine.FindStringSubmatchIndex(text)
		}
		s.inKey = m != nil || headerLine.MatchString(text)
		if m != nil {
			text = text[:m[4]] + s.m.mask(keyLabel) + text[m[5]:]
		}
		if s.inKey {
			masked, _, _ := s.m.unit(text, false)
			return masked
		}
		inKey = inKey || longBody.MatchString(text)
	}
	masked, open, goesOn := s.m.unit(text, inKey)
	whole := strings.HasSuffix(text, "\n")
	s.inLine, s.inKey = open && !whole, goesOn && whole || strings.HasPrefix(text, puttyBody)
	if m := nameLine.FindStringSubmatch(masked); m != nil && Variable(m[1]) {
		s.name = m[1]
	}
	return masked
}
