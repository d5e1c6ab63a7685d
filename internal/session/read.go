package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"anchor/internal/home"
	"anchor/internal/msg"
)

// The file is gone through once, line by line: of each message only the head is looked at, the small entries are decoded, and
// reductions are replayed, which tells the messages of the view. Those are then read from where they stand; the others only
// when somebody wants them, one at a time.

// maxView is how many bytes of messages are taken into the view; no window holds more.
const maxView = 16 << 20

// record is a line that holds an entry.
type record struct {
	e          Entry // nil for a message
	head       headOf
	at         int64 // where it stands in the file
	size, line int   // in bytes; its number, from 1
}

// reading is the state while a session is read.
type reading struct {
	*Past
	bySeq         map[int]int // places of the main agent's messages in records
	view, trimmed []int       // seqs
	seq, turns    int
	cut           int // the number of the last line if it has no end
	told          map[string]bool
}

// What can be wrong with lines.
const (
	badLine = "can't be read and is left out"
	unknown = "is of a kind that this version doesn't know; it is kept and stepped over"
	zeroes  = "holds NUL bytes, as after a power failure"
	cutLine = "the last line is cut off, as after a crash, and left out"
)

// read reads a session.
func read(path, id string) (*reading, error) {
	f, err := home.OpenOwn(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &reading{Past: &Past{Meta: Meta{ID: id}, path: path}, bySeq: map[int]int{}, told: map[string]bool{}}
	if err := r.lines(f); err != nil {
		return nil, err
	}
	r.bound()
	for _, seq := range r.view {
		if m, err := r.message(seq).decode(f); err == nil {
			r.View = append(r.View, Viewed{seq, m, slices.Contains(r.trimmed, seq)})
		} else {
			r.fault(badLine, r.message(seq).line)
		}
	}
	return r, nil
}

// fault tells of the first line that has one.
func (r *reading) fault(what string, line int) {
	if what == badLine && line == r.cut {
		what = cutLine
	}
	if !r.told[what] {
		r.told[what] = true
		r.Notices = append(r.Notices, fmt.Sprintf("session file %s, line %d: %s", r.path, line, what))
	}
}

// lines goes through the file, one line in memory at a time.
func (r *reading) lines(f io.Reader) error {
	in := bufio.NewReaderSize(f, 64<<10)
	for number, at := 1, int64(0); ; number++ {
		line, err := in.ReadSlice('\n') // which needs no memory of its own for most
		if errors.Is(err, bufio.ErrBufferFull) {
			var rest []byte
			start := slices.Clone(line)
			rest, err = in.ReadBytes('\n')
			line = append(start, rest...)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) > 0 {
			if err != nil {
				r.cut = number
			}
			r.add(line, record{at: at, size: len(line), line: number})
		}
		if at += int64(len(line)); at == 0 {
			r.Notices = append(r.Notices, "the session file is empty: nothing of the session is left")
		}
		if err != nil {
			return nil
		}
	}
}

// headLine reads the head of an object. It ends with the time in a message of our own, of which no more is read.
func headLine(object []byte) (h headOf, err error) {
	const mark = `,"time":"`
	if before, after, ok := bytes.Cut(object[:min(len(object), 300)], []byte(mark)); ok && object[len(object)-1] == '}' {
		time, _, _ := bytes.Cut(after, []byte(`"`))
		if json.Unmarshal(slices.Concat(before, []byte(mark), time, []byte(`"}`)), &h) == nil {
			return h, nil
		}
	}
	return h, json.Unmarshal(object, &h)
}

// around is what may stand around the object of a line: its end, also as other programs write it, and what a power failure leaves.
const around = "\x00\r\n"

// add takes up one line.
func (r *reading) add(line []byte, m record) {
	object := bytes.Trim(line, around)
	if bytes.IndexByte(line, 0) >= 0 { // in JSON it is written out
		r.fault(zeroes, m.line)
	}
	if len(object) == 0 {
		return
	}
	var err error
	m.head, err = headLine(object)
	switch decode := kinds[m.head.Kind]; {
	case err != nil || m.head.Kind == "":
	case slices.Contains([]string{"user", "assistant", "tool", "summary", "note"}, m.head.Kind):
		r.said(m)
	case m.head.Kind == "session":
		err = json.Unmarshal(object, &r.Meta)
	case decode == nil:
		r.fault(unknown, m.line)
	default:
		if m.e, err = decode(object); err == nil {
			r.records, r.Entries = append(r.records, m), append(r.Entries, m.e)
			r.replay(m.e, m.head)
		}
	}
	if err != nil || m.head.Kind == "" {
		r.fault(badLine, m.line)
	}
}

// said takes up a message.
func (r *reading) said(m record) {
	if _, known := r.bySeq[m.head.Seq]; known || m.head.Seq <= 0 {
		m.head.Seq = r.seq + 1
	}
	r.seq = max(r.seq, m.head.Seq)
	if m.head.Agent == "" {
		r.bySeq[m.head.Seq] = len(r.records)
		r.view = append(r.view, m.head.Seq)
	}
	n, _ := strconv.Atoi(m.head.Agent[strings.LastIndexByte(m.head.Agent, '-')+1:])
	r.Agents = max(r.Agents, n)
	r.records = append(r.records, m)
}

// brokeOff says that files were changed after the last turn that ended: the program was killed.
func (r *reading) brokeOff() bool {
	for _, e := range slices.Backward(r.Entries) {
		switch e.(type) {
		case Change:
			return true
		case Turn, Undone:
			return false
		}
	}
	return false
}

// message is the record of a message of the main agent.
func (r *reading) message(seq int) record { return r.records[r.bySeq[seq]] }

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
func (r *reading) replay(e Entry, h headOf) {
	switch e := e.(type) {
	case Usage:
		if r.Usage = r.Usage.Add(e.Usage); e.Agent == "" {
			r.Fill = e.Fill
		}
	case Turn:
		r.turns = max(r.turns+1, h.N)
	case Reduced:
		kept := slices.DeleteFunc(slices.Clone(e.Keep), func(seq int) bool { _, ok := r.bySeq[seq]; return !ok })
		if len(kept) > 0 { // else there is nothing to go by: all that was there stays
			r.view, r.trimmed, r.Fill = kept, e.Trimmed, e.After
		}
	}
}

// bound leaves the oldest messages out of a view that no window could hold, but for what the user said first.
func (r *reading) bound() {
	left, first := maxView, slices.IndexFunc(r.view, func(seq int) bool { return r.message(seq).head.Kind == "user" })
	for i, seq := range slices.Backward(r.view) {
		if left -= r.message(seq).size; left >= 0 {
			continue
		}
		r.Notices = append(r.Notices, fmt.Sprintf("the session is longer than any context window: it goes on with its newest %d of %d messages and your first one; the file keeps all", len(r.view)-i-1, len(r.view)))
		newest := r.view[i+1:]
		if r.Fill = 0; first >= 0 && first <= i && r.message(r.view[first]).size < maxView {
			newest = slices.Insert(slices.Clone(newest), 0, r.view[first])
		}
		r.view = newest
		return
	}
}

// decode reads a message from its file.
func (m record) decode(f io.ReaderAt) (msg.Message, error) {
	line := make([]byte, m.size)
	if _, err := f.ReadAt(line, m.at); err != nil {
		return nil, err
	}
	return msg.Decode(m.head.Kind, bytes.Trim(line, around))
}

// All yields all entries in the order of the file, messages as they are read from it, one at a time.
func (p *Past) All(yield func(Entry) bool) {
	f, err := home.Open(p.path)
	if err != nil {
		return
	}
	defer f.Close()
	for _, r := range p.records {
		if r.e == nil {
			m, err := r.decode(f)
			if err != nil {
				m = &msg.Note{Text: fmt.Sprintf("(line %d of the session file can't be read)", r.line)}
			}
			r.e = Message{r.head.Seq, r.head.Agent, m, r.head.Time}
		}
		if !yield(r.e) {
			return
		}
	}
}
