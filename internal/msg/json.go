package msg

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Kind returns the kind of a message as the session file and the SPEC name it: user, assistant, tool, summary or note.
func Kind(m Message) string { return m.kind() }

// Decode reads a message of a kind from its JSON object. Unknown fields are ignored; an unknown kind is an error.
func Decode(kind string, data []byte) (Message, error) {
	var m Message
	switch kind {
	case "user":
		m = new(User)
	case "assistant": // asked itself, or the text would be gone through twice more
		a := new(Assistant)
		return a, a.UnmarshalJSON(data)
	case "tool":
		m = new(Tool)
	case "summary":
		m = new(Summary)
	case "note":
		m = new(Note)
	default:
		return nil, fmt.Errorf("no message kind %q", kind)
	}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, err
	}
	return m, nil
}

type wireAssistant struct {
	Blocks      []wireBlock `json:"blocks"`
	Provider    string      `json:"provider,omitempty"`
	Model       string      `json:"model,omitempty"`
	Interrupted bool        `json:"interrupted,omitempty"`
}

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Redacted  string          `json:"redacted,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Bad       string          `json:"bad,omitempty"`
	Fault     string          `json:"fault,omitempty"`
}

// MarshalJSON encodes the reply with one tagged object per block.
func (a *Assistant) MarshalJSON() ([]byte, error) {
	w := wireAssistant{Blocks: make([]wireBlock, 0, len(a.Blocks)), Provider: a.Provider, Model: a.Model, Interrupted: a.Interrupted}
	for _, b := range a.Blocks {
		switch b := b.(type) {
		case Text:
			w.Blocks = append(w.Blocks, wireBlock{Type: "text", Text: b.Text})
		case Thinking:
			w.Blocks = append(w.Blocks, wireBlock{Type: "thinking", Text: b.Text, Signature: b.Signature, Redacted: b.Redacted})
		case Call:
			w.Blocks = append(w.Blocks, wireBlock{Type: "call", ID: b.ID, Name: b.Name, Args: b.Args, Bad: b.Bad, Fault: b.Fault})
		default:
			return nil, fmt.Errorf("msg: no JSON form for block %T", b)
		}
	}
	return Encode(w)
}

// Encode is v as JSON on one line, with <, > and & left as they are: what a model wrote goes back to it byte by byte.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// UnmarshalJSON reads what MarshalJSON wrote. A block of an unknown type is an error.
func (a *Assistant) UnmarshalJSON(data []byte) error {
	var w wireAssistant
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*a = Assistant{Provider: w.Provider, Model: w.Model, Interrupted: w.Interrupted}
	for _, b := range w.Blocks {
		switch b.Type {
		case "text":
			a.Blocks = append(a.Blocks, Text{b.Text})
		case "thinking":
			a.Blocks = append(a.Blocks, Thinking{b.Text, b.Signature, b.Redacted})
		case "call":
			a.Blocks = append(a.Blocks, Call{b.ID, b.Name, b.Args, b.Bad, b.Fault})
		default:
			return fmt.Errorf("no block type %q", b.Type)
		}
	}
	return nil
}
