package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"anchor/internal/home"
	"anchor/internal/msg"
)

// The file is gone through once, line by line: of each line the head is looked at, the small entries are decoded, and reductions are
// replayed, which tells the messages of the view. Then the wanted messages are read from where they stand, the newest first, so that a
// long session costs little more than what it goes on with.

const (
	maxLine = 64 << 20 // bytes; longer ones are not ours
	maxView = 16 << 20 // bytes of messages that Open takes into the view; no window holds more
	spare   = 4 << 20  // bytes of messages outside of the view that Open decodes
)

// record is a line that holds an entry.
type record struct {
	e    Entry // nil for a message that is not decoded yet
	head headOf
	at   int64 // where it stands in the file
	size int   // in bytes
	line int   // its number, from 1
}

// reading is what is found in a session.
type reading struct {
	file interface { // the session's
		io.Reader
		io.ReaderAt
	}
	buffer  []byte
	past    *Past
	records []record
	bySeq   map[int]int // places of the main agent's messages in records
	view    []int       // seqs
	trimmed []int
	seq     int
	turns   int
	cut     int              // the number of the last line if it has no end
	faults  map[string][]int // the lines that have each
}

func (r *reading) fault(what string, line int) { r.faults[what] = append(r.faults[what], line) }

// bad tells of a line that can't be read.
func (r *reading) bad(line int) {
	if line == r.cut {
		r.fault(cutLine, line)
	} else {
		r.fault(badLine, line)
	}
}

// What can be wrong with lines, in the order in which it is told.
const (
	badLine    = "can't be read and is left out"
	unknown    = "is of a kind that this version doesn't know; it is kept and stepped over"
	keepsAbout = "reduces the context to messages that are not all there; those that are there are used"
	zeroes     = "holds NUL bytes, as after a power failure"
	cutLine    = "the last line is cut off, as after a crash, and left out"
)

// read reads a session: all of its messages, or those that matter for going on.
func read(path, id string, all bool) (*reading, error) {
	f, err := home.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &reading{file: f, past: &Past{Meta: Meta{ID: id}}, bySeq: map[int]int{}, faults: map[string][]int{}}
	if err := r.lines(); err != nil {
		return nil, err
	}
	r.decode(all)
	for _, what := range []string{badLine, unknown, keepsAbout, zeroes, cutLine} {
		if lines := r.faults[what]; len(lines) > 0 {
			text := fmt.Sprintf("session file %s, line %d: %s", path, slices.Min(lines), what)
			if len(lines) > 1 {
				text += fmt.Sprintf(" (and %d more such lines)", len(lines)-1)
			}
			r.past.Notices = append(r.past.Notices, text)
		}
	}
	return r, nil
}

// lines goes through the file, one line in memory at a time.
func (r *reading) lines() error {
	in := bufio.NewReaderSize(r.file, 64<<10)
	var line []byte
	for number, at := 1, int64(0); ; number++ {
		part, err, size := []byte(nil), bufio.ErrBufferFull, 0
		for line = line[:0]; errors.Is(err, bufio.ErrBufferFull); size += len(part) {
			if part, err = in.ReadSlice('\n'); size < maxLine {
				line = append(line, part...)
			}
		}
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case size > 0 && err != nil:
			r.cut = number
		case size == 0 && at == 0:
			r.past.Notices = append(r.past.Notices, "the session file is empty: nothing of the session is left")
			return nil
		case size == 0:
			return nil
		}
		r.add(line, record{at: at, size: size, line: number})
		at += int64(size)
	}
}

// headLine reads the head of a line that holds an object. Of a line of our own no more than the head is read, since its text
// may be long: the head ends with the time.
func headLine(line []byte) (h headOf, err error) {
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
		return h, errors.New("no object")
	}
	const mark = `,"time":"`
	if i := bytes.Index(line[:min(len(line), 300)], []byte(mark)); i > 0 && bytes.HasPrefix(line, []byte(`{"kind":"`)) {
		text, _, _ := strings.Cut(string(line[i+len(mark):min(len(line), i+60)]), `"`)
		if json.Unmarshal(append(slices.Clone(line[:i]), '}'), &h) == nil {
			h.Time, err = time.Parse(time.RFC3339Nano, text)
			return h, err
		}
	}
	return h, json.Unmarshal(line, &h)
}

// around is what may stand around the object of a line: its end, also as other programs write it, and what a power failure leaves.
const around = "\x00\r\n"

// add takes up one line.
func (r *reading) add(line []byte, m record) {
	object := bytes.Trim(line, around)
	if bytes.Count(line, []byte{0}) > bytes.Count(object, []byte{0}) {
		r.fault(zeroes, m.line)
	}
	if len(object) == 0 {
		return
	}
	var err error
	m.head, err = headLine(object)
	switch decode := kinds[m.head.Kind]; {
	case err != nil || m.head.Kind == "":
		r.bad(m.line)
	case slices.Contains([]string{"user", "assistant", "tool", "summary", "note"}, m.head.Kind):
		r.message(m)
	case m.head.Kind == "session":
		if json.Unmarshal(object, &r.past.Meta) != nil {
			r.bad(m.line)
		}
	case decode == nil:
		r.fault(unknown, m.line)
	default:
		if m.e, err = decode(object); err != nil {
			r.bad(m.line)
			return
		}
		r.records = append(r.records, m)
		r.replay(m.e, m.head, m.line)
	}
}

func (r *reading) message(m record) {
	if _, known := r.bySeq[m.head.Seq]; known || m.head.Seq <= 0 {
		m.head.Seq = r.seq + 1
	}
	r.seq = max(r.seq, m.head.Seq)
	if m.head.Agent == "" {
		r.bySeq[m.head.Seq] = len(r.records)
		r.view = append(r.view, m.head.Seq)
	}
	r.records = append(r.records, m)
}

// kinds decode the entries that are no messages.
var kinds = map[string]func([]byte) (Entry, error){
	"usage": decoded[Usage], "turn": decoded[Turn], "reduced": decoded[Reduced],
	"change": decoded[Change], "undone": decoded[Undone], "seen": decoded[Seen],
}

func decoded[E Entry](line []byte) (Entry, error) {
	var e E
	err := json.Unmarshal(line, &e)
	return e, err
}

// replay does to the state what an entry says.
func (r *reading) replay(e Entry, h headOf, number int) {
	switch e := e.(type) {
	case Usage:
		u := &r.past.Usage
		u.Input, u.Output, u.Cached = u.Input+e.Usage.Input, u.Output+e.Usage.Output, u.Cached+e.Usage.Cached
		if e.Agent == "" {
			r.past.Fill = e.Fill
		}
	case Turn:
		r.turns = max(r.turns+1, h.N)
	case Reduced:
		kept := slices.DeleteFunc(slices.Clone(e.Keep), func(seq int) bool { _, ok := r.bySeq[seq]; return !ok })
		if len(kept) < len(e.Keep) || len(kept) == 0 {
			r.fault(keepsAbout, number)
		}
		if len(kept) > 0 { // else there is nothing to go by: all that was there stays
			r.view, r.trimmed, r.past.Fill = kept, e.Trimmed, e.After
		}
	}
}

// bound leaves the oldest messages out of a view that no window could hold, but for what the user said first.
func (r *reading) bound() {
	left, first := maxView, slices.IndexFunc(r.view, func(seq int) bool { return r.records[r.bySeq[seq]].head.Kind == "user" })
	for i, seq := range slices.Backward(r.view) {
		if left -= r.records[r.bySeq[seq]].size; left >= 0 {
			continue
		}
		r.past.Notices = append(r.past.Notices, fmt.Sprintf("the session is longer than any context window: it goes on with its newest %d of %d messages and your first one; the file keeps all", len(r.view)-i-1, len(r.view)))
		newest := r.view[i+1:]
		if r.past.Fill = 0; first >= 0 && first <= i && r.records[r.bySeq[r.view[first]]].size < maxView {
			newest = slices.Insert(slices.Clone(newest), 0, r.view[first])
		}
		r.view = newest
		return
	}
}

// decode reads the messages: all, or those of the view and the newest of the rest.
func (r *reading) decode(all bool) {
	if !all {
		r.bound()
	}
	wanted := map[int]bool{}
	for _, seq := range r.view {
		wanted[r.bySeq[seq]] = true
	}
	left := spare
	for i, m := range slices.Backward(r.records) {
		if m.e != nil {
			continue
		}
		message, err := msg.Message(&msg.Note{Text: "(an older message, not read again)"}), error(nil)
		if !wanted[i] {
			left -= m.size
		}
		if all || wanted[i] || left >= 0 {
			message, err = r.messageAt(m)
		}
		if err != nil {
			r.bad(m.line)
			continue
		}
		r.records[i].e = Message{m.head.Seq, m.head.Agent, message, m.head.Time}
	}
	for _, m := range r.records {
		if m.e != nil {
			r.past.Entries = append(r.past.Entries, m.e)
		}
	}
	for _, seq := range r.view {
		if m, ok := r.records[r.bySeq[seq]].e.(Message); ok {
			r.past.View = append(r.past.View, Viewed{seq, m.Message, slices.Contains(r.trimmed, seq)})
		}
	}
}

// messageAt reads and decodes one message.
func (r *reading) messageAt(m record) (msg.Message, error) {
	if m.size > maxLine {
		return nil, errors.New("the line is too long")
	}
	r.buffer = slices.Grow(r.buffer[:0], m.size)[:m.size]
	if _, err := r.file.ReadAt(r.buffer, m.at); err != nil {
		return nil, err
	}
	return msg.Decode(m.head.Kind, bytes.Trim(r.buffer, around))
}
