// Package gate is the only way to the user's workspace, to processes and to servers. Every action takes the same path,
// policy → approval → effect, through one generic function, pass.
package gate

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"time"

	"anchor/internal/event"
	"anchor/internal/policy"
	"anchor/internal/secret"
)

// Options make a Gate.
type Options struct {
	// Dir is the directory to work in; it must exist.
	Dir string
	// Home is the user's home directory, for ~ and for the denials. Env is anchor's own environment ("K=V").
	Home string
	Env  []string
	// Rules are the user's allow and deny rules and yolo.
	Rules policy.Rules
	// Approver is asked; nil refuses what would ask.
	Approver Approver
	// Sink gets FileChanged, Diff, and the notices of refusals.
	Sink event.Sink
	// OutputDir is where whole outputs of commands go, 0600. Empty: nowhere.
	OutputDir string
	// PassEnv names secret variables that commands may see.
	PassEnv []string
	// Record gets what the session keeps of the gate's work; nil for none. An error fails the write.
	Record func(Record) error
	// Self is anchor's own executable, started again to confine a command. Empty: no confinement.
	Self string
}

// Approver asks the user. Approve may be called by several goroutines at once. An error is a no.
type Approver interface {
	Approve(ctx context.Context, r Request) (Answer, error)
}

// Request is what the user is asked. All text in it is masked and shows control characters visibly.
type Request struct {
	// Title is Create PATH, Edit PATH, Overwrite PATH, Run command, Read PATH or Call MCP SERVER/TOOL, with the sub-agent's
	// id in front if one asks.
	Title string
	// Detail is the diff for writes, the command as it will run, or the arguments.
	Detail string
	// Always is the label of the "always" answer; empty if it is not offered.
	Always string
	// Allow is the --allow rule that would cover it, empty if none would.
	Allow string
}

// Answer is the user's. The zero answer is no.
type Answer struct {
	Yes    bool
	Always bool
	// Reason is why not, for the model; may be empty.
	Reason string
}

// Refusal is the error of an action that was not carried out.
type Refusal struct {
	Title  string
	Reason string // one sentence for the model and the user
	Allow  string // the --allow rule that would cover it, or empty
	Hard   bool
	ByUser bool // the user said no
}

func (r *Refusal) Error() string { return r.Reason }

// NotRegular is the error of reading what is no regular file.
type NotRegular struct {
	Path string
	Kind string // "directory", "named pipe", "device", "socket"
}

func (e *NotRegular) Error() string { return e.Path + " is a " + e.Kind }

// Record is something the session keeps: Change or Seen.
type Record interface{ record() }

// Change is a file change by a file tool, enough to take it back: the whole old content is given as reverse hunks.
type Change struct {
	Path    string      `json:"path"` // relative to the directory, or absolute outside it
	Created bool        `json:"created"`
	Deleted bool        `json:"deleted"`
	Mode    fs.FileMode `json:"mode"`    // before (or after, for Created)
	Reverse string      `json:"reverse"` // unified diff from new to old, masked; empty with Lossy
	After   string      `json:"after"`   // SHA-256 of the new content
	Lossy   bool        `json:"lossy"`   // a hunk held a secret: can't be taken back
}

// Seen says that a file was read whole.
type Seen struct {
	Path string `json:"path"`
	Sum  string `json:"sum"` // SHA-256 of the content
}

func (Change) record() {}
func (Seen) record()   {}

// Gate judges and carries out. Use New, and For for a sub-agent. All methods may be called concurrently.
type Gate struct{}

// New returns a gate, or an error that says what is wrong with the directory.
func New(o Options) (*Gate, error) { panic("not built") }

// For returns a gate with the same rules, grants, masker and approver whose events go to sink; approvals have agent in
// front of their titles; what was read through it is kept apart.
func (g *Gate) For(sink event.Sink, agent string) *Gate { panic("not built") }

// Dir returns the directory, absolute, links resolved.
func (g *Gate) Dir() string { panic("not built") }

// Mask masks secrets in text for the model, the events and the session.
func (g *Gate) Mask(text string) string { panic("not built") }

// Masker returns the masker behind Mask.
func (g *Gate) Masker() *secret.Masker { panic("not built") }

// Allow adds a grant for this session (an "always", /allow). It covers sub-agents too.
func (g *Gate) Allow(r policy.Rule) { panic("not built") }

// Judge says what would become of an action, for anchor policy. Nothing is carried out. One of the arguments is set.
func (g *Gate) Judge(command, read, write, mcp string) policy.Decision { panic("not built") }

// File is a regular file that was read.
type File struct {
	Name string // as shown: relative to the directory with slashes, or absolute outside it
	Abs  string
	Data []byte
	Mode fs.FileMode
	Size int64 // may be larger than len(Data) if Read was bounded
}

// Read reads a regular file. name is relative to the directory, absolute, or starts with ~/. At most max bytes are read
// (0: 64 MB). Errors: *Refusal, *NotRegular, fs.ErrNotExist and the like with the name as given, or ctx's.
func (g *Gate) Read(ctx context.Context, name string, max int64) (File, error) { panic("not built") }

// Saw notes that the lines from..to (1-based, inclusive) of a file of total lines were shown; once all were, the file
// counts as read whole.
func (g *Gate) Saw(f File, from, to, total int) { panic("not built") }

// Edit computes the new content of a file from the old one. exists is false for a new file. An error refuses the write
// and is returned as it is.
type Edit func(old []byte, exists bool) ([]byte, error)

// Written is a write that was made.
type Written struct {
	Name           string
	Added, Removed int
	Created        bool
	Unchanged      bool // the new content equals the old: nothing was written, nothing asked
}

// WriteOptions say what a write needs. NeedSeen refuses an existing file that was not read whole in this session or that
// changed since (StaleError).
type WriteOptions struct {
	CallID   string
	NeedSeen bool
}

// StaleError is the error of a write to a file that was not read, or that changed since, or while it was asked about.
type StaleError struct{ Path, Reason string }

func (e *StaleError) Error() string { return e.Path + " " + e.Reason }

// Write changes one file: it is looked up and judged, edit computes the new content, the diff is shown if policy asks, and
// if the file is then still the one that was looked at it is replaced atomically through the handle that was judged,
// keeping its mode, through links inside the directory; parent folders are made. FileChanged is emitted and the change
// recorded. New content that holds a mask which the old has not is refused.
func (g *Gate) Write(ctx context.Context, name string, o WriteOptions, edit Edit) (Written, error) {
	panic("not built")
}

// Command is a command for bash.
type Command struct {
	Text    string
	Timeout time.Duration // 0: 120 s; at most 1 h
	// ByUser marks a command that the user named (--until, !cmd): it is not asked about.
	ByUser bool
	// Limit is how many characters of output are kept in Output.Text (0: 30,000).
	Limit int
}

// Output is what a command gave. Text is both streams in order, masked, without escape codes, valid UTF-8, its middle left
// out (with a line that says so) if over the limit.
type Output struct {
	Text       string
	Exit       int    // -1 if it was ended by a signal
	Signal     string // "killed", … if it was
	TimedOut   bool
	Cancelled  bool
	Saved      string // the file that holds the whole output, if Text does not
	Background string // the file that gets the later output of children that live on, if any do
}

// Exec runs a command with bash in the directory: stdin empty, own session, pagers and prompts off, secret variables
// removed. A timeout or the end of ctx ends the whole group (TERM, then KILL). Children left behind live until Close.
// Errors: *Refusal, or that bash could not be started. A cancelled command returns its Output with ctx's error.
func (g *Gate) Exec(ctx context.Context, c Command) (Output, error) { panic("not built") }

// Server is a child process that speaks over its pipes. Reading gives its standard output. Close ends it and its group.
type Server interface {
	io.ReadWriteCloser
	// Stderr returns the tail of what it wrote there, at most 4 KB.
	Stderr() string
	// Done is closed when it has ended.
	Done() <-chan struct{}
}

// StartServer starts a server of the user's or of a trusted definition with a small environment plus env.
func (g *Gate) StartServer(ctx context.Context, command string, args []string, env []string, dir string) (Server, error) {
	panic("not built")
}

// CallMCP passes a call of a server's tool: args are shown to the user if policy asks.
func CallMCP[T any](ctx context.Context, g *Gate, server, tool string, args json.RawMessage, call func(context.Context) (T, error)) (T, error) {
	panic("not built")
}

// Fingerprint is the state of the directory's files, ignored ones left out, and of those that match the protect globs.
type Fingerprint struct {
	Sum       [32]byte
	Protected map[string]string // path to content hash
}

// Fingerprint takes the state of the directory: names, sizes, times, modes; contents where times can't tell.
func (g *Gate) Fingerprint(ctx context.Context, protect []string) (Fingerprint, error) {
	panic("not built")
}

// Protect refuses every write to files that match the globs, from now on, for sub-agents too.
func (g *Gate) Protect(globs []string) { panic("not built") }

// Close ends every process that the gate and its children still own and waits for them, bounded.
func (g *Gate) Close() { panic("not built") }
