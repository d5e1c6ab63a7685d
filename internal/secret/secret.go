// Package secret knows secrets by the names of files and by the shape and value of text. It is pure.
//
// A [Masker] reads text line by line. One scan over a line looks up every three bytes in a small table; where they may begin
// a known value, the prefix of a token or a telling name, that place alone is looked at closely. So the cost does not depend
// on how many values and shapes there are. Private keys are followed over lines (pem.go). What is encoded, split or reversed
// is not found, apart from the usual encodings of known values.
package secret

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Masker masks secret values in text. It is safe for concurrent use.
type Masker struct {
	mu    sync.Mutex // held by those who replace the table
	table atomic.Pointer[table]
	given sync.Map // label → true
}

// NewMasker returns a masker that knows the curated shapes and no values yet.
func NewMasker() *Masker {
	m := new(Masker)
	m.table.Store(newTable(nil))
	return m
}

// named value
type value struct{ label, text string }

const (
	minValue  = 8 // shorter values would be found in ordinary words
	maxLabel  = 120
	maxSource = 1 << 20
)

// Add teaches the masker values, each with the name under which it is shown as masked: "environment variable GH_TOKEN".
// Values under 8 characters are ignored; each line of a multi-line value counts too. Base64, hex, URL and JSON forms of a
// value are known as well.
func (m *Masker) Add(name string, text string) { m.add([]value{{name, text}}) }

func (m *Masker) add(more []value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.table.Load().all
	all := append(make([]value, 0, len(known)+len(more)), known...)
	for _, v := range more {
		label := strings.Map(labelRune, v.label)
		label = label[:min(len(label), maxLabel-1)]
		lines := strings.Split(strings.ReplaceAll(v.text, `\n`, "\n"), "\n")
		if len(lines) > 1 {
			lines = append(lines, v.text)
		}
		for _, line := range lines {
			line = strings.TrimSpace(line)
			if len(line) < minValue || !utf8.ValidString(line) || strings.Contains(line, "-----") || strings.Contains(line, maskStart) {
				continue
			}
			for _, form := range forms(line) {
				all = append(all, value{label, form})
			}
		}
	}
	if len(all) > len(known) {
		m.table.Store(newTable(all))
	}
}

// labelRune keeps a label on one line and free of brackets.
func labelRune(r rune) rune {
	if r == '[' || r == ']' || r < ' ' || r == utf8.RuneError {
		return '_'
	}
	return r
}

// forms returns a value as it is and as programs usually write it.
func forms(v string) []string {
	quoted := strconv.Quote(v)
	out := []string{v, base64.StdEncoding.EncodeToString([]byte(v)), hex.EncodeToString([]byte(v))}
	for _, f := range []string{base64.RawStdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)),
		url.QueryEscape(v), url.PathEscape(v), quoted[1 : len(quoted)-1]} {
		if f != v && f != out[1] {
			out = append(out, f)
		}
	}
	return out
}

// AddEnv teaches it the values of the variables ("K=V") whose names or values say secret.
func (m *Masker) AddEnv(env []string) {
	var more []value
	for _, kv := range env {
		name, v, _ := strings.Cut(kv, "=")
		if Variable(name) && worthKnowing(v) {
			more = append(more, value{"environment variable " + name, v})
		}
		if a, b, ok := urlPassword(v, max(0, strings.Index(v, "://"))); ok {
			more = append(more, value{"password in environment variable " + name, v[a:b]})
		}
	}
	m.add(more)
}

// AddFile teaches it the values in the content of a secret file: what its names or shapes give away, and single words on a
// line of their own, as token and password files have them. At most the first MiB is read.
func (m *Masker) AddFile(path string, content []byte) {
	var more []value
	t := newTable(nil)
	label := "value in " + path
	text := strings.TrimSpace(string(content[:min(len(content), maxSource)]))
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, h := range t.hits(line) {
			more = append(more, value{label, line[h.start:h.end]})
		}
		v, sure := fileValue(line, strings.Contains(path, "pgpass"))
		if (sure || changes(v) > 0 || line == text) && worthKnowing(v) {
			more = append(more, value{label, v})
		}
	}
	m.add(more)
}

// fileValue finds the value of a line of a secret file that no rule found: NAME=value with a secret name or a rich value, a
// line of .pgpass or .netrc, or a lone word, which is not sure to be one.
func fileValue(line string, pgpass bool) (v string, sure bool) {
	line = strings.TrimPrefix(line, "export ")
	name, v, pair := strings.Cut(line, "=")
	if !pair || strings.ContainsAny(name, ` "'/+:`) {
		name, v, pair = strings.Cut(line, ": ")
	}
	words := strings.Fields(line)
	switch {
	case len(words) == 0 || line[0] == '#':
		return "", false
	case pair:
		v = strings.TrimSpace(v)
		if q := v[:min(len(v), 1)]; q == `"` || q == "'" {
			v, _, _ = strings.Cut(v[1:], q)
		} else {
			v, _, _ = strings.Cut(v, " #")
		}
		if Variable(strings.Trim(name, ` "'-`)) || len(v) >= 16 && changes(v) >= 4 {
			return v, true
		}
		return "", false
	case pgpass:
		return line[strings.LastIndexByte(line, ':')+1:], true
	case len(words) > 1:
		for i := range words[1:] {
			if words[i] == "password" || words[i] == "account" {
				return words[i+1], true
			}
		}
		return "", false
	case strings.ContainsAny(line, "<>()$") || strings.HasSuffix(line, ":"):
		return "", false
	}
	return strings.Trim(line, `"',;`), false
}

// Mask returns text with every secret replaced by "[masked: KIND]". Masking twice changes nothing more.
func (m *Masker) Mask(text string) string {
	f := filter{m: m, out: make([]byte, 0, len(text)+64)}
	f.run(text, true)
	return string(f.out)
}

const maskStart = "[masked: "

// mask returns the mask of a label and remembers that it was given out.
func (m *Masker) mask(label string) string {
	m.given.Store(label, true)
	return maskStart + label + "]"
}

// Given returns the masks in text that this masker has given out.
func (m *Masker) Given(text string) []string {
	var out []string
	for {
		i := strings.Index(text, maskStart)
		if i < 0 {
			return out
		}
		text = text[i:]
		end := strings.IndexByte(text, ']')
		if end < 0 {
			return out
		}
		if _, ok := m.given.Load(text[len(maskStart):end]); ok {
			out = append(out, text[:end+1])
		}
		text = text[len(maskStart):]
	}
}

// Stream returns a writer's filter that masks as Mask does, over a text that comes in pieces: Next takes a piece and
// returns what can be let out now (whole lines), Rest returns what was held back. Memory is bounded.
func (m *Masker) Stream() *Stream { return &Stream{f: filter{m: m}} }

// Stream is a masking filter for one text. Not for concurrent use.
type Stream struct {
	f   filter
	buf []byte
}

// Next takes a piece and returns what can be let out.
func (s *Stream) Next(p []byte) []byte {
	s.buf = append(s.buf, p...)
	if len(s.buf) <= window && !strings.Contains(string(p), "\n") {
		return nil
	}
	n := s.f.run(string(s.buf), false)
	s.buf = append(s.buf[:0], s.buf[n:]...)
	return s.f.take()
}

// Rest ends the text and returns what was held back.
func (s *Stream) Rest() []byte {
	s.f.run(string(s.buf), true)
	s.buf = nil
	return s.f.take()
}
