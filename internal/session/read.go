package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anchor/internal/home"
	"anchor/internal/msg"
)

// Every line's head is looked at first: the small entries are decoded, and reductions are replayed, which tells the messages
// of the view. Then the wanted messages are decoded, so that a long session costs little more than what it goes on with.

const (
	maxFile = 4 << 30
	spare   = 8 << 20 // bytes of messages outside of the view that Open decodes
)

// record is a line that holds an entry.
type record struct {
	e    Entry // nil for a message that is not decoded yet
	head headOf
	raw  []byte
	line int // its number, from 1
}

// reading is what is found in a session.
type reading struct {
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
	data, err := home.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	r := &reading{past: &Past{Meta: Meta{ID: id}}, bySeq: map[int]int{}, faults: map[string][]int{}}
	number := 0
	for line := range bytes.Lines(data) {
		if number++; line[len(line)-1] != '\n' {
			r.cut = number
		}
		r.add(bytes.TrimSuffix(line, []byte("\n")), number)
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

// add takes up one line.
func (r *reading) add(line []byte, number int) {
	if kept := bytes.Trim(line, "\x00"); len(kept) < len(line) {
		r.fault(zeroes, number)
		line = kept
	}
	if len(line) == 0 {
		return
	}
	h, err := headLine(line)
	switch decode := kinds[h.Kind]; {
	case err != nil || h.Kind == "":
		r.bad(number)
	case slices.Contains([]string{"user", "assistant", "tool", "summary", "note"}, h.Kind):
		r.message(record{head: h, raw: line, line: number})
	case h.Kind == "session":
		if json.Unmarshal(line, &r.past.Meta) != nil {
			r.bad(number)
		}
	case decode == nil:
		r.fault(unknown, number)
	default:
		e, err := decode(line)
		if err != nil {
			r.bad(number)
			return
		}
		r.records = append(r.records, record{e: e})
		r.replay(e, h, number)
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

// decode reads the messages: all, or those of the view and the newest of the rest.
func (r *reading) decode(all bool) {
	wanted := map[int]bool{}
	for _, seq := range r.view {
		wanted[r.bySeq[seq]] = true
	}
	left := spare
	for i, m := range slices.Backward(r.records) {
		if m.raw == nil {
			continue
		}
		message, err := msg.Message(&msg.Note{Text: "(an older message, not read again)"}), error(nil)
		if !wanted[i] {
			left -= len(m.raw)
		}
		if all || wanted[i] || left >= 0 {
			message, err = msg.Decode(m.head.Kind, m.raw)
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
