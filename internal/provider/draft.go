package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"anchor/internal/msg"
)

// Draft is a reply as it comes in.
type Draft struct {
	Parts   []*Part
	Stop    string // the server's word for why the reply ended
	Refused bool   // the text is a refusal
	Usage   Usage
	Ends    bool // only the usage may follow, for a moment
	Over    bool // nothing follows
	show    func(Chunk)
	grew    bool
}

// The types of parts. Others are left out of the reply.
const (
	Text     = "text"
	Thinking = "thinking"
	Call     = "tool_use" // its text are the arguments
)

// Part is a block of a reply that grows.
type Part struct {
	Type      string
	Index     int
	ID, Name  string
	Signature string
	Redacted  string // opaque thinking; that of a call stands before it
	Text      []byte
}

// NewDraft returns an empty reply. show gets what comes of its text and thinking.
func NewDraft(show func(Chunk)) *Draft { return &Draft{show: show} }

// Part returns the first part of a type, which is begun if there is none.
func (d *Draft) Part(kind string) *Part {
	for _, p := range d.Parts {
		if p.Type == kind {
			return p
		}
	}
	return d.Begin(&Part{Type: kind})
}

// Begin adds a part.
func (d *Draft) Begin(p *Part) *Part {
	d.Parts, d.grew = append(d.Parts, p), true
	return p
}

// Add adds text to a part and shows it. Arguments may come after an empty object as a placeholder, or as a whole once more.
func (d *Draft) Add(p *Part, text string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	call := p.Type == Call
	switch {
	case text == "", call && Whole([]byte(text)) && Whole(p.Text) && string(p.Text) != "{}":
		return
	case call && string(p.Text) == "{}":
		p.Text = nil
	case p.Type == Text:
		d.show(TextDelta{text})
	case p.Type == Thinking:
		d.show(ThinkingDelta{text})
	}
	p.Text, d.grew = append(p.Text, text...), true
}

// Done makes the whole reply to req of the provider name.
func (d *Draft) Done(name string, req Request) Done {
	a := &msg.Assistant{Provider: name, Model: req.Model}
	ids := NewIDs(req.Messages)
	out := Done{Reply: a, Usage: d.Usage}
	for _, p := range d.Parts {
		text := string(p.Text)
		switch p.Type {
		case Text:
			if strings.TrimSpace(text) != "" {
				a.Blocks = append(a.Blocks, msg.Text{Text: text})
			}
		case Thinking:
			if text+p.Signature+p.Redacted != "" {
				a.Blocks = append(a.Blocks, msg.Thinking{Text: text, Signature: p.Signature, Redacted: p.Redacted})
			}
		case Call:
			if p.Redacted != "" {
				a.Blocks = append(a.Blocks, msg.Thinking{Redacted: p.Redacted})
			}
			a.Blocks = append(a.Blocks, newCall(ids.Unique(p.ID), p.Name, text))
			out.Stop = StopTools
		}
	}
	switch d.Stop {
	case "length", "max_tokens", "model_length":
		out.Stop = StopLength
	case "pause", "pause_turn":
		out.Stop = StopPause
	case "refusal", "content_filter":
		out.Stop = StopRefusal
	case "window", "model_context_window_exceeded":
		out.Stop = StopWindow
	default:
		if d.Refused && out.Stop == StopEnd {
			out.Stop = StopRefusal
		}
	}
	return out
}

// newCall makes a call of what a model sent. No arguments are an empty object, and an object that was sent as a string is taken
// out of it. Everything else that is no object is a bad call, which is answered and never run.
func newCall(id, name, args string) msg.Call {
	raw := strings.TrimSpace(args)
	if raw == "" || raw == "null" {
		raw = "{}"
	}
	var within string
	if raw[0] == '"' && json.Unmarshal([]byte(raw), &within) == nil && strings.HasPrefix(strings.TrimSpace(within), "{") {
		raw = strings.TrimSpace(within)
	}
	var v bytes.Buffer
	err := json.Compact(&v, []byte(raw)) // as the session file keeps it
	if err == nil && raw[0] == '{' {
		return msg.Call{ID: id, Name: name, Args: v.Bytes()}
	}
	fault := "the arguments must be a JSON object"
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := min(int(syntax.Offset), len(raw))
		near := strings.ToValidUTF8(raw[max(0, at-20):min(len(raw), at+10)], "")
		fault = fmt.Sprintf("the arguments are not valid JSON: %s at byte %d of %d, near %q", syntax, at, len(raw), near)
	}
	return msg.Call{ID: id, Name: name, Bad: raw, Fault: fault}
}

// Whole says whether args is already a whole JSON object, so that what comes next can't belong to it.
func Whole(args []byte) bool {
	args = bytes.TrimSpace(args)
	return len(args) > 1 && args[len(args)-1] == '}' && json.Valid(args)
}

// IDs makes the ids of new calls unique in a conversation: some servers begin again with each reply, some send none.
type IDs struct{ taken map[string]bool }

// NewIDs knows the ids of the calls in messages.
func NewIDs(messages []msg.Message) IDs {
	taken := map[string]bool{}
	for _, m := range messages {
		if a, ok := m.(*msg.Assistant); ok {
			for _, c := range a.Calls() {
				taken[c.ID] = true
			}
		}
	}
	return IDs{taken}
}

// Unique returns id, or a new one like it if it is taken or empty. Each result is then taken.
func (u IDs) Unique(id string) string {
	if id == "" {
		id = "call"
	}
	out := id
	for n := 2; u.taken[out] || out == "call"; n++ {
		out = fmt.Sprintf("%s_%d", id, len(u.taken)+n-1)
	}
	u.taken[out] = true
	return out
}
