package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"anchor/internal/home"
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

// resume reads the session and makes it ready for writing: a cut last line is ended, so that nothing is glued to it.
func (l *Log) resume() (*Past, error) {
	ix, past, err := read(l.path, l.id, false)
	if err != nil {
		return nil, err
	}
	l.seq, l.turns = ix.seq, ix.turns
	if l.file, err = home.Append(l.path); err != nil {
		return nil, err
	}
	if ix.cut > 0 {
		_, err = l.file.Write([]byte("\n"))
	}
	return past, err
}

// headOf is how every line begins.
type headOf struct {
	Kind  string    `json:"kind"`
	Seq   int       `json:"seq,omitempty"`
	Agent string    `json:"agent,omitempty"`
	N     int       `json:"n,omitempty"`
	Time  time.Time `json:"time,omitzero"`
}

const turnStart = `{"kind":"turn","n":`

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
	head := headOf{}
	switch v := e.(type) {
	case Usage:
		head.Kind, v.Agent = "usage", l.mask(v.Agent)
		e = v
	case Turn:
		head.Kind, v.Detail = "turn", l.mask(v.Detail)
		e = v
	case Reduced:
		head.Kind = "reduced"
	case Change:
		head.Kind, v.Path = "change", l.mask(v.Path)
		if l.mask(v.Reverse) != v.Reverse { // what is masked can't be put back
			v.Reverse, v.Lossy = "", true
		}
		e = v
	case Undone:
		v.Paths = slices.Clone(v.Paths)
		for i := range v.Paths {
			v.Paths[i] = l.mask(v.Paths[i])
		}
		head.Kind, e = "undone", v
	case Seen:
		head.Kind, v.Path = "seen", l.mask(v.Path)
		e = v
	default:
		return fmt.Errorf("session: %T is appended by Message", e)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if head.Kind == "turn" {
		head.N = l.turns + 1
	}
	if err := l.write(head, e); err != nil {
		return err
	}
	l.turns = max(l.turns, head.N)
	return nil
}

// write appends one line: the head's fields and then the body's.
func (l *Log) write(head headOf, body any) error {
	line, err := encode(head)
	if err != nil {
		return err
	}
	rest, err := encode(body)
	if err != nil {
		return err
	}
	if len(rest) > 2 {
		line = append(line[:len(line)-1], ',')
		line = append(line, rest[1:]...)
	}
	return l.put(line)
}

// put appends one line by one call. It isn't forced to the disk: a process's end loses nothing, only the machine's could.
func (l *Log) put(line []byte) error {
	if l.dead != nil {
		return l.dead
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		l.dead = fmt.Errorf("can't write the session: %w", err)
	}
	return l.dead
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Close ends the session and lets it go.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.file != nil {
		err = l.file.Close()
		l.file = nil
	}
	if l.unlock != nil {
		err = errors.Join(err, l.unlock())
		l.unlock = nil
	}
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
		out.Blocks = make([]msg.Block, len(m.Blocks))
		for i, b := range m.Blocks {
			switch b := b.(type) {
			case msg.Text:
				out.Blocks[i] = msg.Text{Text: mask(b.Text)}
			case msg.Thinking:
				if text := mask(b.Text); text != b.Text {
					b.Text, b.Signature = text, ""
				}
				out.Blocks[i] = b
			case msg.Call:
				b.Args, b.Name, b.Bad, b.Fault = maskedJSON(b.Args, mask), mask(b.Name), mask(b.Bad), mask(b.Fault)
				out.Blocks[i] = b
			default:
				out.Blocks[i] = b
			}
		}
		return &out
	}
	return m
}

// maskedJSON masks the strings of a JSON value, each by itself and then in sight of their names; the rest stays byte for byte.
func maskedJSON(raw json.RawMessage, mask func(string) string) json.RawMessage {
	var out []byte
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out = append(out, raw[i])
			i++
			continue
		}
		end := i + 1
		for end < len(raw) && raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		literal := raw[i:min(len(raw), end+1)]
		var text string
		if json.Unmarshal(literal, &text) == nil {
			if m := mask(text); m != text {
				if fresh, err := encode(m); err == nil {
					literal = fresh
				}
			}
		}
		out = append(out, literal...)
		i = end + 1
	}
	if whole := []byte(mask(string(out))); json.Valid(whole) {
		return whole
	}
	if out == nil {
		return raw
	}
	return out
}
