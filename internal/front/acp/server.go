// Package acp is the face for editors that speak the Agent Client Protocol, version 1, on standard input and output: the same
// events and questions as everywhere, in the protocol's words. It can serve several sessions at once, each with a gate of its own.
//
// What is not offered: audio, MCP servers over SSE, modes, models and options that a client sets, sign-in. The client's own files
// and terminals are not used: every effect goes through anchor's gate.
package acp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/msg"
	"anchor/internal/tool"
)

// ErrNoSession is the error of Open for an id that names no session.
var ErrNoSession = errors.New("no such session")

// Face is what a session shows its events to, and whom it asks.
type Face interface {
	Event(event.Event)
	gate.Approver
	tool.Asker
}

// Command is one that the user may call by /NAME.
type Command struct{ Name, Description, Hint string }

// Session is what the program makes for a session of the client's.
type Session struct {
	ID       string
	Dir      string // absolute
	Past     []msg.Message
	Commands []Command
	Title    func(msg.Call) string    // of a call in Past
	Mask     func(text string) string // masks what comes from the client's files
	// Turn does the whole work for one input and tells how it ended. It obeys ctx.
	Turn  func(ctx context.Context, in msg.User) event.TurnEnd
	Close func()
}

// Info is a session in the list.
type Info struct {
	ID, Dir, Title string
	Time           time.Time
}

// Server serves one client.
type Server struct {
	Version string
	// Open makes a session that works in dir, a new one for an empty id. Its events may come before it returns, until its Close
	// does. The context ends with the server, not with Open.
	Open func(ctx context.Context, id, dir string, servers []sdk.McpServer, f Face) (Session, error)
	// List returns the saved sessions of a directory, or all for "".
	List func(dir string) ([]Info, error)

	ctx      context.Context
	conn     *sdk.AgentSideConnection
	out      io.Writer
	prompted chan struct{} // has a token once the newest prompt has begun

	mu       sync.Mutex
	work     sync.WaitGroup // what is under way; none is added once ctx has ended
	sessions map[string]*talk
	waiting  map[string]*talk // those whose id the client will learn with the next response
}

// Run serves until in ends (nil), out can't be written, or ctx ends (its cause). Running turns are cancelled and waited for, then the
// sessions are closed. The reading goroutine may outlive Run until the process ends.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	s.ctx, s.sessions, s.waiting = ctx, map[string]*talk{}, map[string]*talk{}
	s.prompted, s.out = make(chan struct{}, 1), &writer{s: s, out: out, gone: gone}
	lines, to := io.Pipe()
	s.conn = sdk.NewAgentSideConnection(agent{s}, s.out, lines)
	s.conn.SetLogger(slog.New(slog.DiscardHandler))
	go s.pump(in, to)
	var cause error
	select {
	case <-s.conn.Done():
	case <-ctx.Done():
		cause = context.Cause(ctx)
	}
	s.mu.Lock()
	gone(context.Canceled)
	s.mu.Unlock()
	s.work.Wait()
	for _, t := range s.sessions {
		t.session.Close()
	}
	return cause
}

// begin says that something is under way that Run must wait for; done ends it.
func (s *Server) begin() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, sdk.NewRequestCancelled(map[string]any{"error": "anchor is ending"})
	}
	s.work.Add(1)
	return s.work.Done, nil
}

// open makes a session and its face. known says that the client knows its id; replay, that it is to get what was said.
func (s *Server) open(id, dir string, servers []sdk.McpServer, replay bool) (string, error) {
	done, err := s.begin()
	if err != nil {
		return "", err
	}
	defer done()
	if id != "" {
		s.drop(id)
	}
	t := &talk{conn: s.conn, busy: make(chan struct{}, 1), stop: func() {}, diffs: map[string][]sdk.ToolCallContent{}}
	session, err := s.Open(s.ctx, id, dir, servers, t)
	if errors.Is(err, ErrNoSession) {
		return "", &sdk.RequestError{Code: -32002, Message: "Resource not found", Data: map[string]any{"error": err.Error()}}
	}
	if err != nil {
		return "", sdk.NewInternalError(map[string]any{"error": err.Error()})
	}
	t.mu.Lock()
	t.session = session
	if replay {
		t.held = append(t.replay(session.Past), t.held...)
	}
	t.mu.Unlock()
	s.mu.Lock()
	s.sessions[session.ID] = t
	if id == "" {
		s.waiting[session.ID] = t
	}
	s.mu.Unlock()
	if id != "" {
		t.release()
	}
	return session.ID, nil
}

// drop ends a session of this connection, if there is one: its turn is cancelled and waited for.
func (s *Server) drop(id string) bool {
	s.mu.Lock()
	t := s.sessions[id]
	delete(s.sessions, id)
	if t != nil {
		t.stop()
	}
	s.mu.Unlock()
	if t == nil {
		return false
	}
	t.busy <- struct{}{} // never given back: a prompt that waits for it ends with its request
	t.session.Close()
	return true
}
