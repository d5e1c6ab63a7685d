package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"

	"anchor/internal/msg"
)

// Log is a session that is being written. Safe for concurrent use. After a failed write every later one fails too,
// quickly, with the same error: the caller says it once and goes on.
type Log struct {
	id, path string
	mask     func(string) string
	unlock   func() error

	mu    sync.Mutex
	file  io.WriteCloser
	seq   int   // of the last message
	turns int   // ended so far
	dead  error // why nothing can be written any more
}

// ID returns the session's id.
func (l *Log) ID() string { return l.id }

// headOf is how every line begins.
type headOf struct {
	Kind  string    `json:"kind"`
	Seq   int       `json:"seq,omitempty"`
	Agent string    `json:"agent,omitempty"`
	N     int       `json:"n,omitempty"`
	Time  time.Time `json:"time,omitzero"`
}

// Message appends a message and returns its Seq.
func (l *Log) Message(agent string, m msg.Message) (int, error) {
	m = masked(m, l.mask)
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.write(headOf{Kind: msg.Kind(m), Seq: l.seq + 1, Agent: l.mask(agent), Time: time.Now().UTC()}, m)
	if err != nil {
		return 0, err
	}
	l.seq++
	return l.seq, nil
}

// Append appends any other entry.
func (l *Log) Append(e Entry) error {
	if c, ok := e.(Change); ok && l.mask(c.Reverse) != c.Reverse { // what is masked can't be put back
		c.Reverse, c.Lossy = "", true
		e = c
	}
	body, err := msg.Encode(e)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	head := headOf{Kind: e.kind()}
	if head.Kind == "turn" {
		head.N = l.turns + 1
	}
	if err := l.write(head, maskedJSON(body, l.mask)); err != nil {
		return err
	}
	l.turns = max(l.turns, head.N)
	return nil
}

// write appends one line by one call: the head's fields and then the body's.
func (l *Log) write(head headOf, body any) error {
	if l.dead != nil {
		return l.dead
	}
	line, err := msg.Encode(head)
	rest, err2 := msg.Encode(body)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if len(rest) > len("{}") {
		line = append(append(line[:len(line)-1], ','), rest[1:]...)
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		l.dead = fmt.Errorf("can't write the session: %w", err)
	}
	return l.dead
}

// Close ends the session and lets it go.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.file != nil {
		err = l.file.Close()
	}
	if l.unlock != nil {
		err = errors.Join(err, l.unlock())
	}
	l.file, l.unlock = nil, nil
	if l.dead == nil {
		l.dead = errors.New("the session is closed")
	}
	return err
}

// masked returns a message with its texts masked. Image data, signatures and redacted thinking stay as they are; thinking
// whose text had to be masked loses its signature, which would no longer fit.
func masked(m msg.Message, mask func(string) string) msg.Message {
	switch m := m.(type) {
	case *msg.User:
		return &msg.User{Text: mask(m.Text), Images: m.Images}
	case *msg.Tool:
		return &msg.Tool{CallID: m.CallID, Name: mask(m.Name), OK: m.OK, Text: mask(m.Text), Images: m.Images}
	case *msg.Summary:
		return &msg.Summary{Text: mask(m.Text)}
	case *msg.Note:
		return &msg.Note{Text: mask(m.Text)}
	case *msg.Assistant:
		out := *m
		out.Blocks = nil
		for _, b := range m.Blocks {
			switch v := b.(type) {
			case msg.Text:
				b = msg.Text{Text: mask(v.Text)}
			case msg.Thinking:
				if text := mask(v.Text); text != v.Text {
					v.Text, v.Signature = text, ""
				}
				b = v
			case msg.Call:
				b = msg.Call{ID: v.ID, Name: mask(v.Name), Args: maskedJSON(v.Args, mask), Bad: mask(v.Bad), Fault: mask(v.Fault)}
			}
			out.Blocks = append(out.Blocks, b)
		}
		return &out
	}
	return m
}

// literal is a string in valid JSON.
var literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// maskedJSON masks the strings of a JSON value, each by itself and then in sight of their names; the rest stays byte for byte.
func maskedJSON(raw json.RawMessage, mask func(string) string) json.RawMessage {
	out := literal.ReplaceAllFunc(raw, func(quoted []byte) []byte {
		var text string
		if json.Unmarshal(quoted, &text) == nil {
			if m := mask(text); m != text {
				quoted, _ = msg.Encode(m) // a string can be encoded
			}
		}
		return quoted
	})
	if whole := []byte(mask(string(out))); json.Valid(whole) {
		return whole
	}
	return out
}
