package gate

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"anchor/internal/policy"
)

// Judge says what would become of an action, for anchor policy. Nothing is carried out. One of the arguments is set.
func (g *Gate) Judge(command, read, write, mcp string) policy.Decision { panic("not built") }

// Command is a command for bash.
type Command struct {
	Text    string
	Timeout time.Duration // 0: 120 s; at most 1 h
	// ByUser marks a command that the user named (--until, !cmd): it is not asked about.
	ByUser bool
	// Limit is how many characters of output are kept in Output.Text (0: 30,000).
	Limit int
}

// Output is what a command gave.
type Output struct {
	Text       string
	Exit       int    // -1 if it was ended by a signal
	Signal     string // "killed", … if it was
	TimedOut   bool
	Cancelled  bool
	Saved      string // the file that holds the whole output, if Text does not
	Background string // the file that gets the later output of children that live on, if any do
}

// Exec runs a command with bash in the directory.
func (g *Gate) Exec(ctx context.Context, c Command) (Output, error) { panic("not built") }

// Server is a child process that speaks over its pipes.
type Server interface {
	io.ReadWriteCloser
	Stderr() string
	Done() <-chan struct{}
}

// StartServer starts a server.
func (g *Gate) StartServer(ctx context.Context, command string, args []string, env []string, dir string) (Server, error) {
	panic("not built")
}

// CallMCP passes a call of a server's tool: args are shown to the user if policy asks.
func CallMCP[T any](ctx context.Context, g *Gate, server, tool string, args json.RawMessage, call func(context.Context) (T, error)) (T, error) {
	panic("not built")
}

// Fingerprint is the state of the directory's files.
type Fingerprint struct {
	Sum       [32]byte
	Protected map[string]string // path to content hash
}

// Fingerprint takes the state of the directory.
func (g *Gate) Fingerprint(ctx context.Context, protect []string) (Fingerprint, error) {
	panic("not built")
}

// Close ends every process.
func (g *Gate) Close() { panic("not built") }

type jobs struct{ mark string }

func newMark() string { return "" }

func (g *Gate) learnSecrets() {}

func (g *Gate) isProtected(rel string) bool { return false }
