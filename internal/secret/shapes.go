package secret

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed shapes.txt
var shapesText string

// shape is the form of a token: a prefix, and what must follow it.
type shape struct {
	prefix, label  string
	rest           *regexp.Regexp
	random, inWord bool
}

var shapes = sync.OnceValue(func() (out []*shape) {
	for label, items := range entries(shapesText) {
		fields := strings.Fields(items)
		label, random := strings.CutSuffix(label, "?")
		rest := regexp.MustCompile("^" + fields[len(fields)-1])
		for _, prefix := range fields[:len(fields)-1] {
			prefix, inWord := strings.CutPrefix(prefix, "*")
			out = append(out, &shape{prefix, label, rest, random, inWord})
		}
	}
	return out
})

// look finds the token whose prefix stands at s[i]. Behind a long one that is none nothing more needs to be looked at.
func (p *shape) look(s string, i int) (h hit, upTo int, ok bool) {
	if !p.inWord && !boundary(s, i) || p.random && i > 0 && (s[i-1] == '_' || s[i-1] == '-') {
		return hit{}, i, false
	}
	from := i + len(p.prefix)
	m := p.rest.FindStringSubmatchIndex(s[from:])
	if m == nil {
		return hit{}, i, false
	}
	h = hit{i, i, from + m[1], p.label}
	if len(m) > 2 {
		from += m[2]
		h.start = from
	}
	body := strings.TrimRight(s[from:h.end], ".")
	h.end = from + len(body)
	switch {
	case p.random && !rich(body, strict), changes(body) < 2 && body != strings.ToUpper(body), plain(body),
		p.prefix == "eyJ" && !strings.Contains(body, "."): // base64 of some JSON has one part only
		if len(body) < longRun {
			return hit{}, i, false
		}
		return hit{}, h.end, false
	}
	return h, h.end, true
}

// escape is what may stand right before a token though it ends in a letter: \n, %3D, ESC[32m.
var escape = regexp.MustCompile(`(\\[ntr]|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*[A-Za-z])$`)

// boundary says whether a token may begin at s[i]: not inside a word.
func boundary(s string, i int) bool {
	before := s[max(0, i-16):i]
	return i == 0 || kindOf(s[i-1]) == 0 || strings.ContainsAny(before, "\\%\x1b") && escape.MatchString(before)
}

// kindOf returns which kind of letter a byte is: 'a', 'A', '0' or none.
func kindOf(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z':
		return 'a'
	case c >= 'A' && c <= 'Z':
		return 'A'
	case c >= '0' && c <= '9':
		return '0'
	}
	return 0
}
