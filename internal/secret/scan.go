package secret

import (
	"regexp"
	"slices"
	"strings"
)

// A table holds everything that is looked for. It is never changed once made.
type table struct {
	all     []value
	values  map[string]value
	sizes   map[string][]int // the lengths of the values that begin with these minValue bytes, longest first
	labels  map[string]bool  // of all masks that it may give
	slot    [1 << slotBits]uint16
	trigger [][]trigger // by slot; several may share one
}

// trigger is a piece of text that is worth a closer look. look finds the secret that it shows at s[i], and says up to where
// triggers of this kind need no look, so that no text is read again and again.
type trigger struct {
	kind uint8
	text string
	look func(s string, i int) (h hit, upTo int, ok bool)
}

// Kinds of triggers. A secret found by one is not looked at by the kinds after it; values are always looked for.
const (
	aShape uint8 = iota
	aName        // of something secret
	aURL         // with a password
	aLogin       // with a password
	aValue
)

const slotBits = 12

// slotOf hashes three bytes, upper and lower case alike.
func slotOf(x uint32) uint32 { return x * 0x9E3779B1 >> (32 - slotBits) }

func three(s string, i int) uint32 {
	return uint32(s[i]|0x20) | uint32(s[i+1]|0x20)<<8 | uint32(s[i+2]|0x20)<<16
}

func newTable(all []value) *table {
	t := &table{all: all, values: map[string]value{}, sizes: map[string][]int{}, labels: map[string]bool{}, trigger: make([][]trigger, 1)}
	for _, label := range []string{keyLabel, restLabel, "password", "token", "key", "credential", "session"} { // the names' as well
		t.labels[label] = true
	}
	for _, v := range all {
		key := v.text[:minValue]
		t.values[v.text], t.labels[v.label] = v, true
		if t.sizes[key] == nil {
			t.watch(trigger{aValue, key, t.value})
		}
		if at, has := slices.BinarySearchFunc(t.sizes[key], len(v.text), func(a, b int) int { return b - a }); !has {
			t.sizes[key] = slices.Insert(t.sizes[key], at, len(v.text))
		}
	}
	for _, p := range shapes() {
		t.labels[p.label] = true
		t.watch(trigger{aShape, p.prefix, p.look})
	}
	for _, program := range []string{"curl", "sshpass", "mysql", "docker login", "redis-cli"} {
		t.watch(trigger{aLogin, program, loginPassword})
	}
	for _, word := range []string{"pass", "pwd", "secret", "token", "key", "auth", "cred", "sess", "sid"} {
		t.watch(trigger{aName, word, assignment})
	}
	t.watch(trigger{aURL, "://", urlPassword})
	for _, mark := range []string{maskStart, "PRIVATE KEY", puttyBody} { // hits and line look for these themselves
		t.watch(trigger{aValue, mark, func(_ string, i int) (hit, int, bool) { return hit{}, i, false }})
	}
	return t
}

func (t *table) watch(g trigger) {
	at := slotOf(three(g.text, 0))
	if t.slot[at] == 0 {
		t.slot[at] = uint16(len(t.trigger))
		t.trigger = append(t.trigger, nil)
	}
	t.trigger[t.slot[at]] = append(t.trigger[t.slot[at]], g)
}

// value finds the longest known value at s[i].
func (t *table) value(s string, i int) (h hit, upTo int, ok bool) {
	for _, n := range t.sizes[s[i:i+minValue]] {
		if i+n <= len(s) {
			if v, ok := t.values[s[i:i+n]]; ok {
				return hit{i, i + v.lead, i + n, v.label}, i + n, true
			}
		}
	}
	return hit{}, i, false
}

// hit is a secret's place in a text, and from where on the text shows that it is one. Without a label it is a mask that is
// already there, or the BEGIN or END of a private key.
type hit struct {
	from, start, end int
	label            string
}

const (
	keyLabel  = "private key"
	restLabel = "secret"
	longRun   = 512
)

var (
	maskMark = regexp.MustCompile(`\[masked: ([^\[\]\n]+)\]`)
	keyMark  = regexp.MustCompile(`----(?:-? ?)(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}`)
	// A run of a key's letters, with line ends written as \n or blanks.
	keyRun = regexp.MustCompile(`[A-Za-z0-9+/=\\]{20,}(?:[ \t]+[A-Za-z0-9+/=\\]+)*`)
)

// hits finds what is to be masked in s, in order and without overlap, and the masks and marks that are there: the text between
// two of them is judged for itself. inKey says that s begins in a private key; open that it ends in one, and goesOn that its
// body is there or is still to come.
func (t *table) hits(s string, inKey bool) (out []hit, open, goesOn bool) {
	var marks [][]int
	if strings.Contains(s, maskStart) {
		marks = maskMark.FindAllStringSubmatchIndex(s, -1)
		marks = slices.DeleteFunc(marks, func(m []int) bool { return !t.labels[s[m[2]:m[3]]] })
	}
	if strings.Contains(s, "PRIVATE KEY") {
		marks = append(marks, keyMark.FindAllStringSubmatchIndex(s, -1)...)
		slices.SortFunc(marks, func(a, b []int) int { return a[0] - b[0] })
	}
	pos, begun := 0, 0
	for _, m := range marks {
		out, _ = t.part(s[:m[0]], pos, inKey || s[m[2]:m[3]] == "END", out)
		out = append(out, hit{m[0], m[0], m[1], ""})
		if pos = m[1]; s[m[0]] == '-' {
			inKey, begun = s[m[2]:m[3]] == "BEGIN", pos
		}
	}
	out, hidden := t.part(s, pos, inKey, out)
	return out, inKey, inKey && (hidden || strings.Trim(s[begun:], " \t\r\n\\nr\"'+") == "")
}

// part finds the secrets in s[pos:], which has no masks.
func (t *table) part(s string, pos int, inKey bool, out []hit) (_ []hit, hidden bool) {
	for inKey {
		m := keyRun.FindStringIndex(s[pos:])
		if m == nil {
			break
		}
		start, end := pos+m[0], pos+m[1]
		out = append(t.scan(s[:start], pos, out), hit{start, start, end, keyLabel})
		pos, hidden = end, true
	}
	return t.scan(s, pos, out), hidden
}

// next says where in s[i:] the first trigger stands; if there is none, the length of s.
func (t *table) next(s string, i int) int {
	if i+2 >= len(s) {
		return len(s)
	}
	for x := three(s, i) << 8; i+2 < len(s); i++ {
		x = x>>8 | uint32(s[i+2]|0x20)<<16
		if slot := t.slot[slotOf(x)]; slot != 0 {
			for k := range t.trigger[slot] {
				if t.trigger[slot][k].at(s, i) {
					return i
				}
			}
		}
	}
	return len(s)
}

// scan finds the secrets in s[pos:] by their triggers.
func (t *table) scan(whole string, pos int, out []hit) []hit {
	s := whole[pos:]
	var seen [aValue + 1]int // how far each kind of trigger has been looked at
	for i := t.next(s, 0); i < len(s); i = t.next(s, i+1) {
		for _, g := range t.trigger[t.slot[slotOf(three(s, i))]] {
			if i < seen[g.kind] || !g.at(s, i) {
				continue
			}
			h, upTo, ok := g.look(s, i)
			seen[g.kind] = max(seen[g.kind], upTo)
			if !ok {
				continue
			}
			for kind := g.kind; kind < aValue; kind++ {
				seen[kind] = max(seen[kind], h.end)
			}
			h.from, h.start, h.end = h.from+pos, h.start+pos, h.end+pos
			if n := len(out) - 1; n < 0 || h.start >= out[n].end {
				out = append(out, h)
			} else { // a token in a value, which says more, or the reverse
				if g.kind == aShape && h.start == out[n].start {
					out[n].label = h.label
				}
				out[n].end = max(out[n].end, h.end)
			}
		}
	}
	return out
}

// at says whether the trigger's text stands at s[i]; only a name's may be in capitals.
func (g *trigger) at(s string, i int) bool {
	n := len(g.text)
	return len(s)-i >= n && (s[i:i+n] == g.text || g.kind == aName && strings.EqualFold(s[i:i+n], g.text))
}

// unit masks one line, as hits sees it. Masking may bring what was inside a word to its beginning, so it is repeated until
// nothing is left to mask; a line made to need many rounds is masked whole.
func (m *Masker) unit(s string, inKey bool) (masked string, open, goesOn bool) {
	t := m.table.Load()
	hits, open, goesOn := t.hits(s, inKey)
	for round := 0; ; round++ {
		var out strings.Builder
		end := 0
		for _, h := range hits {
			if h.label != "" {
				out.WriteString(s[end:h.start] + m.mask(h.label))
				end = h.end
			}
		}
		switch {
		case end == 0:
			return s, open, goesOn
		case round == 5:
			return m.mask(restLabel) + s[len(strings.TrimRight(s, "\r\n")):], open, goesOn
		}
		s = out.String() + s[end:]
		hits, _, _ = t.hits(s, inKey)
	}
}
