package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
)

// ledger knows which files were read whole, and what they held then. It is one gate's own: what a sub-agent has read, its
// parent has not.
type ledger struct {
	mu    sync.Mutex
	files map[string]reading
}

// reading is how far a file was read: which lines were seen of the content with that sum; nil once all were.
type reading struct {
	sum   string
	lines []bool
}

func newLedger() *ledger { return &ledger{files: map[string]reading{}} }

// sumOf is the SHA-256 of some content, in hex.
func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Saw notes that the lines from..to (1-based, inclusive) of a file of total lines were shown; once all were, the file
// counts as read whole.
func (g *Gate) Saw(f File, from, to, total int) {
	if f.Size > int64(len(f.Data)) {
		return
	}
	sum := sumOf(f.Data)
	if g.seen.saw(f.Abs, sum, from, to, total) && g.o.Record != nil {
		_ = g.o.Record(Seen{Path: f.Name, Sum: sum}) // a loss costs one more reading after a resume
	}
}

// saw says whether the file has now become read whole.
func (l *ledger) saw(abs, sum string, from, to, total int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, known := l.files[abs]
	switch {
	case !known || r.sum != sum || r.lines != nil && len(r.lines) != total:
		r = reading{sum, make([]bool, total)}
	case r.lines == nil:
		return false
	}
	for i := max(from, 1); i <= min(to, total); i++ {
		r.lines[i-1] = true
	}
	whole := !slices.Contains(r.lines, false)
	if whole {
		r.lines = nil
	}
	l.files[abs] = r
	return whole
}

// whole notes that a file is known whole, with this content.
func (l *ledger) whole(abs, sum string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[abs] = reading{sum: sum}
}

// check returns why a file may not be replaced, or "".
func (l *ledger) check(abs, sum string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, known := l.files[abs]
	switch {
	case !known || r.lines != nil:
		return "was not read whole in this session: read it first"
	case r.sum != sum:
		return "changed since it was read: read it again"
	}
	return ""
}

// Restore takes over what a resumed session had read. It is called before the gate is used.
func (g *Gate) Restore(seen []Seen) {
	for _, s := range seen {
		g.seen.whole(g.resolve(s.Path).Abs, s.Sum)
	}
}
