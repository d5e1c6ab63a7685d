package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"anchor/internal/home"
	"anchor/internal/msg"
)

// A session is read twice. The first time every line's head is looked at: messages are only noted with their place in the
// file, the small entries are decoded, and reductions are replayed, which tells the messages of the view. The second time
// the wanted messages are decoded, so that a long session costs no more memory than what it goes on with.

const (
	maxLine = 64 << 20 // a longer line is damage
	spare   = 8 << 20  // bytes of messages outside of the view that Open reads
)

// record is a line that holds an entry.
type record struct {
	head headOf
	at   int64 // where the line begins
	size int
	line int   // its number, from 1
	e    Entry // nil for a message that is not decoded
}

// index is what the first reading finds.
type index struct {
	path    string
	meta    Meta
	records []record
	bySeq   map[int]int // places of the main agent's messages in records
	view    []int       // seqs
	trimmed map[int]bool
	past    *Past
	seq     int
	turns   int
	cut     int // the number of the last line if it has no end
	damage  []damage
}

// damage is a kind of fault and where it was found first.
type damage struct {
	what  string
	line  int
	count int
}

func (ix *index) fault(what string, line int) {
	for i := range ix.damage {
		if ix.damage[i].what == what {
			ix.damage[i].count++
			ix.damage[i].line = min(ix.damage[i].line, line)
			return
		}
	}
	ix.damage = append(ix.damage, damage{what, line, 1})
}

// read reads a session: all of its messages, or those that matter for going on.
func read(path, id string, all bool) (*index, *Past, error) {
	f, err := home.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	ix := &index{path: path, bySeq: map[int]int{}, trimmed: map[int]bool{}, meta: Meta{ID: id}, past: new(Past)}
	lines := newLines(f)
	for {
		at := lines.at
		line, whole, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("reading %s: %w", path, err)
		}
		if !whole {
			ix.cut = lines.number
		}
		ix.add(line, whole, at, lines.number)
	}
	ix.decode(f, all)
	ix.finish()
	return ix, ix.past, nil
}

// lines reads a file by lines of any length.
type lines struct {
	in     *bufio.Reader
	buf    []byte
	at     int64 // where the next line begins
	number int
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 256<<10)} }

// next returns a line without its end, good until the next call; whole is false if the file ends in it. Of a line that is
// too long nothing is returned.
func (l *lines) next() (line []byte, whole bool, err error) {
	l.buf = l.buf[:0]
	size := 0
	for {
		part, err := l.in.ReadSlice('\n')
		size += len(part)
		if size <= maxLine {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && size > 0, err == nil:
			l.at += int64(size)
			l.number++
			if size > maxLine {
				return nil, err == nil, nil
			}
			return bytes.TrimSuffix(l.buf, []byte("\n")), err == nil, nil
		}
		return nil, false, err
	}
}

// headLine reads the head of a line that holds an object. Of a line of our own no more than the head is read, since its text
// may be long: the head ends with the time.
func headLine(line []byte) (h headOf, err error) {
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
		return h, errors.New("no object")
	}
	if i := bytes.Index(line[:min(len(line), 300)], []byte(`,"time":"`)); i > 0 && bytes.HasPrefix(line, []byte(`{"kind":"`)) {
		if json.Unmarshal(append(slices.Clone(line[:i]), '}'), &h) == nil {
			h.Time, err = time.Parse(time.RFC3339Nano, string(line[i+9:i+9+max(0, bytes.IndexByte(line[i+9:], '"'))]))
			return h, err
		}
	}
	return h, json.Unmarshal(line, &h)
}

const (
	cutLine    = "the last line is cut off, as after a crash, and left out"
	badLine    = "can't be read and is left out"
	zeroes     = "holds NUL bytes, as after a power failure"
	unknown    = "is of a kind that this version doesn't know; it is kept and stepped over"
	keepsAbout = "reduces the context to messages that are not all there; those that are there are used"
)

// add takes up one line.
func (ix *index) add(line []byte, whole bool, at int64, number int) {
	if n := len(line); n > 0 && (line[0] == 0 || line[n-1] == 0) {
		ix.fault(zeroes, number)
		kept := bytes.TrimLeft(line, "\x00")
		at += int64(n - len(kept))
		if line = bytes.TrimRight(kept, "\x00"); len(line) == 0 {
			return
		}
	}
	h, err := headLine(line)
	switch {
	case len(line) == 0 && whole:
		return
	case err != nil && !whole:
		ix.fault(cutLine, number)
		return
	case err != nil || h.Kind == "":
		ix.fault(badLine, number)
		return
	}
	switch h.Kind {
	case "user", "assistant", "tool", "summary", "note":
		ix.message(record{head: h, at: at, size: len(line), line: number})
	case "session":
		if err := json.Unmarshal(line, &ix.meta); err != nil {
			ix.fault(badLine, number)
		}
	default:
		e, err := entryOf(h.Kind, line)
		switch {
		case err != nil:
			ix.fault(badLine, number)
		case e == nil:
			ix.fault(unknown, number)
		default:
			ix.records = append(ix.records, record{head: h, line: number, e: e})
			ix.entry(e, h, number)
		}
	}
}

func (ix *index) message(r record) {
	if _, known := ix.bySeq[r.head.Seq]; known || r.head.Seq <= 0 {
		r.head.Seq = ix.seq + 1
	}
	ix.seq = max(ix.seq, r.head.Seq)
	if r.head.Agent == "" {
		ix.bySeq[r.head.Seq] = len(ix.records)
		ix.view = append(ix.view, r.head.Seq)
	}
	ix.records = append(ix.records, r)
}

// entryOf decodes an entry that is no message; nil if its kind is not known.
func entryOf(kind string, line []byte) (Entry, error) {
	switch kind {
	case "usage":
		return decoded[Usage](line)
	case "turn":
		return decoded[Turn](line)
	case "reduced":
		return decoded[Reduced](line)
	case "change":
		return decoded[Change](line)
	case "undone":
		return decoded[Undone](line)
	case "seen":
		return decoded[Seen](line)
	}
	return nil, nil
}

func decoded[E Entry](line []byte) (Entry, error) {
	var e E
	err := json.Unmarshal(line, &e)
	return e, err
}

// entry replays what an entry does to the state.
func (ix *index) entry(e Entry, h headOf, number int) {
	switch e := e.(type) {
	case Usage:
		u := &ix.past.Usage
		u.Input, u.Output, u.Cached = u.Input+e.Usage.Input, u.Output+e.Usage.Output, u.Cached+e.Usage.Cached
		if e.Agent == "" {
			ix.past.Fill = e.Fill
		}
	case Turn:
		ix.turns = max(ix.turns+1, h.N)
	case Reduced:
		kept := slices.DeleteFunc(slices.Clone(e.Keep), func(seq int) bool { _, ok := ix.bySeq[seq]; return !ok })
		if len(kept) < len(e.Keep) || len(kept) == 0 {
			ix.fault(keepsAbout, number)
		}
		if len(kept) == 0 { // nothing to go by: all that was there stays
			return
		}
		ix.view, ix.trimmed, ix.past.Fill = kept, map[int]bool{}, e.After
		for _, seq := range e.Trimmed {
			ix.trimmed[seq] = true
		}
	}
}

// decode reads the messages: all, or those of the view and the newest of the rest.
func (ix *index) decode(f io.ReaderAt, all bool) {
	wanted := map[int]bool{}
	for _, seq := range ix.view {
		wanted[ix.bySeq[seq]] = true
	}
	left := spare
	var list []*record
	for i := len(ix.records) - 1; i >= 0; i-- {
		r := &ix.records[i]
		if r.e != nil {
			continue
		}
		if !all && !wanted[i] {
			if left -= r.size; left < 0 {
				r.e = r.entry(&msg.Note{Text: "(an older message, not read again)"})
				continue
			}
		}
		list = append(list, r)
	}
	var work sync.WaitGroup
	for part := range slices.Chunk(list, len(list)/runtime.GOMAXPROCS(0)+1) {
		work.Go(func() {
			var buf []byte
			for _, r := range part {
				buf = r.decode(f, buf)
			}
		})
	}
	work.Wait()
	for _, r := range list {
		if r.e != nil {
			continue
		}
		what := badLine
		if r.line == ix.cut {
			what = cutLine
		}
		ix.fault(what, r.line)
	}
}

func (r *record) entry(m msg.Message) Entry { return Message{r.head.Seq, r.head.Agent, m, r.head.Time} }

// decode reads a message; e stays nil if it is damaged. The buffer is for the next one.
func (r *record) decode(f io.ReaderAt, buf []byte) []byte {
	buf = slices.Grow(buf[:0], r.size)[:r.size]
	if _, err := f.ReadAt(buf, r.at); err != nil && !errors.Is(err, io.EOF) {
		return buf
	}
	if m, err := msg.Decode(r.head.Kind, buf); err == nil {
		r.e = r.entry(m)
	}
	return buf
}

// finish puts together what was found.
func (ix *index) finish() {
	p := ix.past
	p.Meta = ix.meta
	for _, seq := range ix.view {
		if m, ok := ix.records[ix.bySeq[seq]].e.(Message); ok {
			p.View = append(p.View, Viewed{seq, m.Message, ix.trimmed[seq]})
		}
	}
	for _, r := range ix.records {
		if r.e != nil {
			p.Entries = append(p.Entries, r.e)
		}
	}
	for _, d := range ix.damage {
		text := fmt.Sprintf("session file %s, line %d: %s", ix.path, d.line, d.what)
		if d.count > 1 {
			text += fmt.Sprintf(" (and %d more such lines)", d.count-1)
		}
		p.Notices = append(p.Notices, text)
	}
}
