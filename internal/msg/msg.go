// Package msg is the vocabulary of the conversation: typed messages, tool calls, tool definitions, and their JSON. What a
// message is stands in its type; nothing ever parses text to learn it. Only a provider knows the roles of its wire.
//
// A message is not changed once it is part of a conversation: providers may keep its encoded form by its address.
package msg

import "encoding/json"

// Message is one entry of a conversation: *User, *Assistant, *Tool, *Summary or *Note.
type Message interface{ kind() string }

// User is what the user said. Images are attached after the text.
type User struct {
	Text   string  `json:"text"`
	Images []Image `json:"images,omitempty"`
}

// Assistant is one reply of the model, its blocks in the order in which they came.
type Assistant struct {
	Blocks []Block
	// Provider and Model name who said it. Thinking goes back only to the same provider and model.
	Provider string
	Model    string
	// Interrupted is true for a reply that was cut off by a cancel: its text is kept, calls and half thinking are not.
	Interrupted bool
}

// Tool is the result of one call of the assistant message before it.
type Tool struct {
	CallID string  `json:"call_id"`
	Name   string  `json:"name"`
	OK     bool    `json:"ok"`
	Text   string  `json:"text"`
	Images []Image `json:"images,omitempty"`
}

// Summary stands for older turns that were compacted.
type Summary struct {
	Text string `json:"text"`
}

// Note is something the harness tells the model: a failed check, a warning of the loop guard, a sub-agent's result.
type Note struct {
	Text string `json:"text"`
}

// Image is a picture. Type is its media type, such as image/png.
type Image struct {
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// Block is a part of a reply: Text, Thinking or Call.
type Block interface{ block() }

// Text is a part of the answer.
type Text struct {
	Text string
}

// Thinking is a part of the model's thinking. Signature is the provider's, opaque, kept byte for byte; Redacted is the
// opaque data of a redacted block, which has neither text nor signature.
type Thinking struct {
	Text      string
	Signature string
	Redacted  string
}

// Call is a tool call. Args is valid JSON (an object) or, if what the model sent could not be parsed, nil with the raw
// text in Bad and what is wrong with it in Fault. Such a call is never run; it gets a failed result.
type Call struct {
	ID    string
	Name  string
	Args  json.RawMessage
	Bad   string
	Fault string
}

// Spec defines a tool to the model. Schema is a JSON Schema of type object.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

func (*User) kind() string      { return "user" }
func (*Assistant) kind() string { return "assistant" }
func (*Tool) kind() string      { return "tool" }
func (*Summary) kind() string   { return "summary" }
func (*Note) kind() string      { return "note" }

func (Text) block()     {}
func (Thinking) block() {}
func (Call) block()     {}

// Text returns the text blocks of the reply, joined.
func (a *Assistant) Text() string {
	var out string
	for _, b := range a.Blocks {
		if t, ok := b.(Text); ok {
			out += t.Text
		}
	}
	return out
}

// Calls returns the tool calls of the reply, in order.
func (a *Assistant) Calls() []Call {
	var out []Call
	for _, b := range a.Blocks {
		if c, ok := b.(Call); ok {
			out = append(out, c)
		}
	}
	return out
}
