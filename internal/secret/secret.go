// Package secret knows secrets by the names of files and by the shape and value of text. It is pure.
//
// A [Masker] looks up every three bytes of a text in a small table; where they may begin a known value, the prefix of a token or a
// telling name, that place alone is looked at closely, so the cost does not depend on how many values and shapes there are. Private
// keys are followed over lines. What is encoded, split or reversed is not found.
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

// value is a text to be masked; lead is how much of it stands in front of the secret itself and is shown.
type value struct {
	label, text string
	lead        int
}

const (
	minValue  = 8 // shorter values would be found in ordinary words
	maxSource = 1 << 20
	maskStart = "[masked: "
)

// badLabel is what may not be in a label: it keeps to one line and has no brackets.
var badLabel = regexp.MustCompile(`[\[\]\x00-\x1f\x{FFFD}]`)

// Add teaches the masker values, each with the name under which it is shown as masked: "environment variable GH_TOKEN".
// Values under 8 characters are ignored; each line of a multi-line value counts for itself, as written and as in JSON.
func (m *Masker) Add(name string, text string) { m.add([]value{{label: name, text: text}}) }

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
			all = append(all, value{label, line, v.lead}, value{label, quoted[1 : len(quoted)-1], v.lead})
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
			more = append(more, value{label: "environment variable " + name, text: v})
		}
		if h, _, ok := urlPassword(v, max(0, strings.Index(v, "://"))); ok {
			more = append(more, value{label: "password in environment variable " + name, text: v[h.start:h.end]})
		}
	}
	m.add(more)
}

// filePair is a line with one name and its value, as in .env files, .npmrc, JSON and YAML.
var filePair = regexp.MustCompile(`^(?:export |- |//\S*:)?["']?([\w.-]+)["']?(?: *= *|: *)(?:"(.*?)"|'(.*?)'|(.*?))[,;]?(?: +#.*)?$`)

// setting is the form of values with digits that tell no secret: numbers, versions and dates, addresses, paths, hosts, and
// words of which one has a number (us-east-1).
var setting = regexp.MustCompile(`^v?\d+([.:, -]\d+)*([-.+ T]?[a-z]*[\d.:]*Z?)?$|^[a-z+.-]+://|^\S+@\S+\.[a-z]+$|^[~.]*/|^\w+(/[\w.-]+)+$|` +
	`^([\w-]+\.)+[a-z]{2,}(:\d+)?(/.*)?$|^[\d.]+(:\d+|/\d+)$|^[a-z][\w.-]*:[\w.-]{1,12}$|^([A-Za-z]+[-_. ])+[A-Za-z]*\d{1,2}([-_. ][A-Za-z]+)*$|[ {}<>()$\[\]]`)

// told says whether the value of a name in a secret file may be looked for in all text.
func told(name, v string) bool {
	word := splitName(name)
	plain := len(word) > 0 && listed("setting", word[len(word)-1]) || setting.MatchString(v)
	return saysSecret(name) || len(v) >= 16 && changes(v) >= 4 || !plain && strings.ContainsAny(v, "0123456789")
}

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
			more = append(more, value{label: label, text: line[h.start:h.end]})
		}
		v, sure := strings.Trim(line, `"',;`), line == text
		if p := filePair.FindStringSubmatch(line); p != nil {
			v = p[2] + p[3] + p[4]
			sure = told(p[1], v)
			if len(v) >= 4 && len(v) < minValue && saysSecret(p[1]) && !listed("placeholder", strings.ToLower(v)) { // only behind its name
				for _, sign := range []string{"=", `="`, "='", ": ", `: "`, `": "`, `":"`, " = "} {
					more = append(more, value{label, p[1] + sign + v, len(p[1] + sign)})
				}
			}
		} else if !strings.ContainsAny(line, " \t#<>()$") && !strings.HasSuffix(line, ":") {
			sure = sure || changes(v) > 0
		}
		if sure && worthKnowing(v) {
			more = append(more, value{label: label, text: v})
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
