package secret

import (
	"slices"
	"sort"
	"strings"
)

// A table holds everything that is looked for. It is never changed once made.
type table struct {
	all     []value
	values  map[string]bucket // by their first minValue bytes
	labels  map[string]bool   // of all masks that it may give
	slot    [1 << slotBits]uint16
	trigger [][]trigger // by slot; several may share one
}

// bucket holds values that begin alike, sorted. parent is the place of the longest other value that begins this one, or -1.
// So the longest value at a place is found by one binary search, however many there are.
type bucket struct {
	values []value
	parent []int
}

// trigger is a piece of text that is worth a closer look.
type trigger struct {
	text string
	kind uint8
	by   *shape
}

const (
	aValue uint8 = iota
	aShape
	aName   // of something secret
	aURL    // with a password
	aBearer // Authorization's scheme anywhere
)

const slotBits = 12

// slotOf hashes three bytes, upper and lower case alike.
func slotOf(x uint32) uint32 { return x * 0x9E3779B1 >> (32 - slotBits) }

func three(s string, i int) uint32 {
	return uint32(s[i]|0x20) | uint32(s[i+1]|0x20)<<8 | uint32(s[i+2]|0x20)<<16
}

func newTable(all []value) *table {
	t := &table{all: all, values: map[string]bucket{}, labels: map[string]bool{keyLabel: true, restLabel: true}, trigger: make([][]trigger, 1)}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b value) int { return strings.Compare(a.text, b.text) })
	for _, v := range slices.CompactFunc(sorted, func(a, b value) bool { return a.text == b.text }) {
		t.labels[v.label] = true
		key := v.text[:minValue]
		t.watch(trigger{text: key, kind: aValue})
		same := t.values[key]
		up := len(same.values) - 1
		for up >= 0 && !strings.HasPrefix(v.text, same.values[up].text) {
			up = same.parent[up]
		}
		t.values[key] = bucket{append(same.values, v), append(same.parent, up)}
	}
	for i := range shapes {
		t.labels[shapes[i].label] = true
		t.watch(trigger{shapes[i].prefix, aShape, &shapes[i]})
	}
	for _, w := range nameWordsSeen {
		t.watch(trigger{text: w, kind: aName})
	}
	for _, l := range nameLabels {
		t.labels[l] = true
	}
	t.watch(trigger{text: "://", kind: aURL})
	t.watch(trigger{text: "bearer ", kind: aBearer})
	return t
}

func (t *table) watch(g trigger) {
	at := slotOf(three(g.text, 0))
	if t.slot[at] == 0 {
		t.slot[at] = uint16(len(t.trigger))
		t.trigger = append(t.trigger, nil)
	}
	list := &t.trigger[t.slot[at]]
	if !slices.ContainsFunc(*list, func(o trigger) bool { return o.kind == aValue && g.kind == aValue }) {
		*list = append(*list, g)
	}
}

// hit is a secret's place in a text, and from where on the text shows that it is one. Without a label it is a mask that is
// already there.
type hit struct {
	from, start, end int
	label            string
}

// hits finds what is to be masked in s, in order and without overlap, and the masks that are there. The text between two
// masks is judged for itself.
func (t *table) hits(s string) (out []hit) {
	var marks [][]int // BEGIN and END of private keys stay as they are
	if strings.Contains(s, "PRIVATE KEY") {
		marks = keyMark.FindAllStringIndex(s, -1)
	}
	for pos := 0; ; {
		a, b := t.nextMask(s, pos)
		for len(marks) > 0 && (a < 0 || marks[0][0] < a) {
			if marks[0][0] >= pos {
				a, b = marks[0][0], marks[0][1]
			}
			marks = marks[1:]
		}
		if a < 0 {
			return t.between(s[pos:], pos, out)
		}
		out = append(t.between(s[pos:a], pos, out), hit{a, a, b, ""})
		pos = b
	}
}

// nextMask finds the first mask in s from pos on that this table may have given; start is -1 if there is none.
func (t *table) nextMask(s string, pos int) (start, end int) {
	for {
		i := strings.Index(s[pos:], maskStart)
		if i < 0 {
			return -1, 0
		}
		start = pos + i
		pos = start + len(maskStart)
		if n := strings.IndexByte(s[pos:min(len(s), pos+maxLabel)], ']'); n >= 0 && t.labels[s[pos:pos+n]] {
			return start, pos + n + 1
		}
	}
}

// between finds the secrets of a text without masks; at is its place in the whole.
func (t *table) between(s string, at int, out []hit) []hit {
	if len(s) < minValue {
		return out
	}
	own := len(out)
	add := func(h hit) {
		h.from, h.start, h.end = h.from+at, h.start+at, h.end+at
		if n := len(out) - 1; n >= 0 && h.start < out[n].end && out[n].label != "" { // a known value within a token, or the reverse
			out[n].end = max(out[n].end, h.end)
			return
		}
		out = append(out, h)
	}
	var seen [aBearer + 1]int // how far each kind of trigger has been looked at
	x := three(s, 0) << 8
	for i := 0; i+2 < len(s); i++ {
		x = x>>8 | uint32(s[i+2]|0x20)<<16
		slot := t.slot[slotOf(x)]
		if slot == 0 {
			continue
		}
		for _, g := range t.trigger[slot] {
			if i < seen[g.kind] || !g.at(s, i) {
				continue
			}
			h, upTo, ok := t.look(g, s, i)
			seen[g.kind] = max(seen[g.kind], upTo)
			if ok {
				add(h)
				for kind := aShape; ok && g.kind != aValue && kind <= aBearer; kind++ {
					seen[kind] = max(seen[kind], h.end)
				}
			}
		}
	}
	slices.SortStableFunc(out[own:], func(a, b hit) int { return a.start - b.start })
	return out
}

// value returns the length and label of the longest known value at s[i].
func (t *table) value(s string, i int) (int, string) {
	if i+minValue > len(s) {
		return 0, ""
	}
	same, ok := t.values[s[i:i+minValue]]
	if !ok {
		return 0, ""
	}
	k := sort.Search(len(same.values), func(k int) bool { return same.values[k].text > s[i:] }) - 1
	for k >= 0 && !strings.HasPrefix(s[i:], same.values[k].text) {
		k = same.parent[k]
	}
	if k < 0 {
		return 0, ""
	}
	return len(same.values[k].text), same.values[k].label
}

// at says whether the trigger's text stands at s[i]; only a shape's prefix minds the case.
func (g *trigger) at(s string, i int) bool {
	if g.kind == aValue {
		return true
	}
	if len(s)-i < len(g.text) {
		return false
	}
	if g.kind == aShape {
		return s[i:i+len(g.text)] == g.text
	}
	for j := range len(g.text) {
		if s[i+j] != g.text[j] && (s[i+j]|0x20 != g.text[j] || !is(s[i+j], upperSet)) {
			return false
		}
	}
	return true
}

// look takes the closer look at s[i]. upTo is how far triggers of this kind need no more looks: behind what was found, and
// behind a long run that is nothing, so that no text is read again and again.
func (t *table) look(g trigger, s string, i int) (h hit, upTo int, ok bool) {
	switch g.kind {
	case aValue:
		n, label := t.value(s, i)
		return hit{i, i, i + n, label}, i + n, n > 0
	case aShape:
		a, b, ok := g.by.match(s, i)
		if !ok && b-i < longRun {
			b = i
		}
		return hit{a, a, b, g.by.label}, b, ok
	case aName:
		return t.assignment(s, i)
	case aURL:
		a, b, ok := urlPassword(s, i)
		return hit{i, a, b, "password"}, b, ok
	case aBearer:
		a := i + len(g.text)
		b := run(s, a, urlSet|base64Set|dotSet)
		return hit{i, a, b, "bearer token"}, b, b-a >= 16 && boundary(s, i) && rich(s[a:b], strict) && !plain(s[a:b])
	}
	return hit{}, 0, false
}

const longRun = 512

// run returns the end of the run of letters of a set.
func run(s string, i int, set uint16) int {
	for i < len(s) && is(s[i], set) {
		i++
	}
	return i
}

const restLabel = "secret"

// unit masks one line. Masking may bring what was inside a word to its beginning, so it is repeated until nothing is left to
// mask; text made to need many rounds loses the rest of its line.
func (m *Masker) unit(s string) string {
	t := m.table.Load()
	for range 4 {
		hits := t.hits(s)
		if !slices.ContainsFunc(hits, func(h hit) bool { return h.label != "" }) {
			return s
		}
		s = m.replace(s, hits)
	}
	hits := t.hits(s)
	var all []hit
	end, text := 0, len(strings.TrimRight(s, "\r\n"))
	for _, h := range append(hits, hit{start: text, end: text}) {
		if h.label == "" {
			if h.start > end {
				all = append(all, hit{end, end, h.start, restLabel})
			}
			all = append(all, h)
			end = h.end
		}
	}
	return m.replace(s, all)
}

func (m *Masker) replace(s string, hits []hit) string {
	var out strings.Builder
	end := 0
	for _, h := range hits {
		if h.label != "" {
			out.WriteString(s[end:h.start])
			out.WriteString(m.mask(h.label))
			end = h.end
		}
	}
	out.WriteString(s[end:])
	return out.String()
}
