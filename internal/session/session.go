// Package session keeps conversations: one append-only JSONL file each. An entry is written before the program goes on; a
// crash loses at most the reply in flight.
//
// Every line is one JSON object with its kind first:
//
//	{"kind":"session","version":…,"id":…,"dir":…,"model":…,"time":…}
//	{"kind":"user","seq":1,"time":…,"text":…}         also assistant, tool, summary, note, with the message's own fields;
//	                                                  "agent" names the sub-agent whose message it is
//	{"kind":"usage",…} {"kind":"turn","n":1,…} {"kind":"reduced",…} {"kind":"change",…} {"kind":"undone",…} {"kind":"seen",…}
//
// A line is written by one call, so only a crash or a full disk can cut it, and only the last. The next writer ends such a
// line, so that it stays alone. Lines that can't be read and kinds that are not known are stepped over, with a notice.
package session

import (
	"io/fs"
	"time"

	"anchor/internal/event"
	"anchor/internal/msg"
)

// Meta is the first line of a session.
type Meta struct {
	Version string    `json:"version"`
	ID      string    `json:"id"`
	Dir     string    `json:"dir"`
	Model   string    `json:"model"`
	Time    time.Time `json:"time"`
}

// Entry is one entry after the first line: Message, Usage, Turn, Reduced, Change, Undone or Seen.
type Entry interface{ kind() string }

// Message is a message of the conversation. Seq counts messages from 1, in the order of the file. Agent is empty for the main
// agent; sub-agents' messages are kept for the reader and are in no view.
type Message struct {
	Seq     int
	Agent   string
	Message msg.Message
	Time    time.Time
}

// Usage is one model request's usage. Fill is the number of prompt and reply tokens in the window after it.
type Usage struct {
	Agent string      `json:"agent,omitempty"`
	Usage event.Usage `json:"usage"`
	Fill  int         `json:"fill"`
}

// Turn ends a turn.
type Turn struct {
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Reduced is a reduction of the context. Keep lists the messages (Seq) that are the context from now on, in order;
// Trimmed those of them whose tool result is sent as a stub.
type Reduced struct {
	Kind    string `json:"how"`
	Before  int    `json:"before"`
	After   int    `json:"after"`
	Count   int    `json:"count"`
	Keep    []int  `json:"keep"`
	Trimmed []int  `json:"trimmed,omitempty"`
}

// Change is a file change by a file tool. See gate.Change, whose fields it has.
type Change struct {
	Path    string      `json:"path"`
	Created bool        `json:"created,omitempty"`
	Deleted bool        `json:"deleted,omitempty"`
	Mode    fs.FileMode `json:"mode"`
	Reverse string      `json:"reverse,omitempty"`
	After   string      `json:"after"`
	Lossy   bool        `json:"lossy,omitempty"`
}

// Undone says that /undo took back the changes of a turn: their number, counted from the end of the file. Without paths the turn was passed
// over.
type Undone struct {
	Paths []string `json:"paths"`
}

// Seen says that a file was read whole.
type Seen struct {
	Path string `json:"path"`
	Sum  string `json:"sum"`
}

func (m Message) kind() string { return msg.Kind(m.Message) }
func (Usage) kind() string     { return "usage" }
func (Turn) kind() string      { return "turn" }
func (Reduced) kind() string   { return "reduced" }
func (Change) kind() string    { return "change" }
func (Undone) kind() string    { return "undone" }
func (Seen) kind() string      { return "seen" }

// Past is what a session holds.
type Past struct {
	Meta Meta
	// View is the context to go on with: the messages after the last reduction, in order. Trimmed ones are marked.
	View    []Viewed
	Entries []Entry // all that are no messages
	Usage   event.Usage
	Fill    int
	Agents  int      // the number of the last sub-agent
	Notices []string // damage that was found, the directory that moved
	path    string
	records []record // all
}

// Viewed is a message of the context.
type Viewed struct {
	Seq     int
	Message msg.Message
	Trimmed bool
}
