// Package session keeps conversations: one append-only JSONL file each. An entry is written before the program goes on; a
// crash loses at most the reply in flight.
package session

import (
	"time"

	"anchor/internal/event"
	"anchor/internal/msg"
)

// Store is the directory of all sessions.
type Store struct{}

// NewStore returns the store below anchor's state directory. mask is applied to every text that is written, thinking
// signatures excepted.
func NewStore(state string, mask func(string) string) Store { panic("not built") }

// Meta is the first line of a session.
type Meta struct {
	Version string    `json:"version"`
	ID      string    `json:"id"`
	Dir     string    `json:"dir"`
	Model   string    `json:"model"`
	Time    time.Time `json:"time"`
}

// ValidID says whether s has the form of an id: YYYYMMDD-HHMMSS-xxxx.
func ValidID(s string) bool { panic("not built") }

// Create starts a session for a directory. The file appears with its first line.
func (s Store) Create(dir, model, version string) (*Log, error) { panic("not built") }

// Open locks a session and reads it. It fails with ErrLocked if another process has it, or ErrNoSession. dir is today's
// directory: a session of another one is opened with a notice in Past.Notices.
func (s Store) Open(id, dir string) (*Log, *Past, error) { panic("not built") }

// Newest returns the id of the newest session of a directory, or ErrNoSession. With skipLocked, sessions that are in use are passed over.
func (s Store) Newest(dir string, skipLocked bool) (string, error) { panic("not built") }

// Fork copies a session under a new id and returns that.
func (s Store) Fork(id string) (string, error) { panic("not built") }

// Load reads a session without locking it, for show and export.
func (s Store) Load(id string) (*Past, error) { panic("not built") }

// Remove deletes a session that nobody uses.
func (s Store) Remove(id string) error { panic("not built") }

// Info describes a session for a list.
type Info struct {
	ID     string
	Dir    string
	Time   time.Time // of the last entry
	Prompt string    // the first user message, one line
	Turns  int
}

// List returns the sessions of a directory, newest first; of all for an empty dir.
func (s Store) List(dir string) ([]Info, error) { panic("not built") }

// Entry is one entry after the first line: Message, Usage, Turn, Reduced, Change or Seen.
type Entry interface{ entry() }

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
	Agent string
	Usage event.Usage
	Fill  int
}

// Turn ends a turn.
type Turn struct {
	Reason string
	Detail string
}

// Reduced is a reduction of the context. Keep lists the messages (Seq) that are the context from now on, in order;
// Trimmed those of them whose tool result is sent as a stub.
type Reduced struct {
	Kind                 string
	Before, After, Count int
	Keep                 []int
	Trimmed              []int
}

// Change is a file change by a file tool. See gate.Change, whose fields it has.
type Change struct {
	Path    string
	Created bool
	Deleted bool
	Mode    uint32
	Reverse string
	After   string
	Lossy   bool
}

// Undone says that /undo took back the changes of a turn: their number, counted from the end of the file.
type Undone struct {
	Paths []string
}

// Seen says that a file was read whole.
type Seen struct {
	Path string
	Sum  string
}

func (Message) entry() {}
func (Usage) entry()   {}
func (Turn) entry()    {}
func (Reduced) entry() {}
func (Change) entry()  {}
func (Undone) entry()  {}
func (Seen) entry()    {}

// Past is what a session holds.
type Past struct {
	Meta    Meta
	Entries []Entry
	// View is the context to go on with: the messages after the last reduction, in order. Trimmed ones are marked.
	View    []Viewed
	Usage   event.Usage
	Fill    int
	Notices []string // damage that was found, the directory that moved
}

// Viewed is a message of the context.
type Viewed struct {
	Seq     int
	Message msg.Message
	Trimmed bool
}

// Log is a session that is being written. Safe for concurrent use. After a failed write every later one fails too,
// quickly, with the same error: the caller says it once and goes on.
type Log struct{}

// ID returns the session's id.
func (l *Log) ID() string { panic("not built") }

// Message appends a message and returns its Seq.
func (l *Log) Message(agent string, m msg.Message) (int, error) { panic("not built") }

// Append appends any other entry.
func (l *Log) Append(e Entry) error { panic("not built") }

// Close ends the session and lets it go.
func (l *Log) Close() error { panic("not built") }
