// Package secret knows secrets by the names of files and by the shape and value of text. It is pure.
//
// A [Masker] reads text line by line. One scan over a line looks up every three bytes in a small table; where they may begin
// a known value, the prefix of a token or a telling name, that place alone is looked at closely. So the cost does not depend
// on how many values and shapes there are. Private keys are followed over lines. What is encoded, split or reversed is not found.
package secret

import (
	"regexp"
	"slices"
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

type value struct{ label, text string }

const (
	minValue  = 8 // shorter values would be found in ordinary words
	maxSource = 1 << 20
	maskStart = "[masked: "
)

// badLabel is what may not be in a label: it keeps to one line and has no brackets.
var badLabel = regexp.MustCompile(`[\[\]\x00-\x1f\x{FFFD}]`)

// Add teaches the masker values, each with the name under which it is shown as masked: "environment variable GH_TOKEN".
// Values under 8 characters are ignored; each line of a multi-line value counts for itself, as written and as in JSON.
func (m *Masker) Add(name string, text string) { m.add([]value{{name, text}}) }

func (m *Masker) add(more []value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.table.Load().all
	all := slices.Clip(known)
	for _, v := range more {
		label := badLabel.ReplaceAllString(v.label, "_")
		for line := range strings.SplitSeq(strings.ReplaceAll(v.text, `\n`, "\n"), "\n") {
			line = strings.TrimSpace(line)
			if len(line) < minValue || !utf8.ValidString(line) || strings.Contains(line, "-----") || strings.Contains(line, maskStart) {
				continue
			}
			quoted := strconv.Quote(line)
			all = append(all, value{label, line}, value{label, quoted[1 : len(quoted)-1]})
		}
	}
	if len(all) > len(known) {
		m.table.Store(newTable(all))
	}
}

// AddEnv teaches it the values of the variables ("K=V") whose names or values say secret.
func (m *Masker) AddEnv(env []string) {
	var more []value
	for _, kv := range env {
		name, v, _ := strings.Cut(kv, "=")
		if Variable(name) && worthKnowing(v) {
			more = append(more, value{"environment variable " + name, v})
		}
		if h, _, ok := urlPassword(v, max(0, strings.Index(v, "://"))); ok {
			more = append(more, value{"password in environment variable " + name, v[h.start:h.end]})
		}
	}
	m.add(more)
}

// filePair is a line with one name and its value, as in .env files, JSON and YAML.
var filePair = regexp.MustCompile(`^(?:export |- )?["']?([\w.-]+)["']?(?: *= *|: *)(?:"(.*?)"|'(.*?)'|(.*?))[,;]?(?: +#.*)?$`)

// A value of letters and digits alone, both of them, names no region, version, host or path.
var (
	wordOnly = regexp.MustCompile(`^[A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*$`)
	numbered = regexp.MustCompile(`[0-9]`)
)

// AddFile teaches it the values in the content of a secret file: what shapes give away, those whose name says secret or that
// look random, and words on a line of their own, as token files have them. At most the first MiB is read.
func (m *Masker) AddFile(path string, content []byte) {
	var more []value
	t, label := newTable(nil), "value in "+path
	text := strings.TrimSpace(string(content[:min(len(content), maxSource)]))
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		hits, _, _ := t.hits(line, false)
		for _, h := range hits {
			more = append(more, value{label, line[h.start:h.end]})
		}
		v, sure := strings.Trim(line, `"',;`), line == text
		if p := filePair.FindStringSubmatch(line); p != nil {
			v = p[2] + p[3] + p[4]
			sure = Variable(p[1]) || len(v) >= 16 && changes(v) >= 4 || wordOnly.MatchString(v) && numbered.MatchString(v)
		} else if !strings.ContainsAny(line, " \t#<>()$") && !strings.HasSuffix(line, ":") {
			sure = sure || changes(v) > 0
		}
		if sure && worthKnowing(v) {
			more = append(more, value{label, v})
		}
	}
	m.add(more)
}

// mask returns the mask of a label and remembers that it was given out.
func (m *Masker) mask(label string) string {
	m.given.Store(label, true)
	return maskStart + label + "]"
}

// Given returns the masks in text that this masker has given out.
func (m *Masker) Given(text string) (out []string) {
	for _, found := range maskMark.FindAllStringSubmatch(text, -1) {
		if _, ok := m.given.Load(found[1]); ok {
			out = append(out, found[0])
		}
	}
	return out
}
