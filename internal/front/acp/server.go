// Package acp is the face for editors that speak the Agent Client Protocol, version 1, on standard input and output: the same
// events and questions as everywhere, in the protocol's words. It can serve several sessions at once, each with a gate of its own.
//
// What is not offered is declined: listing, closing, resuming and forking of sessions, audio, MCP servers over SSE, modes, models and
// options that a client sets, sign-in. The client's own files and terminals are not used: every effect goes through anchor's gate.
package acp

import (
	"cmp"
	"context"
	"io"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/event"
	"anchor/internal/front/wire"
	"anchor/internal/msg"
)

// Command is one that the user may call by /NAME.
type Command struct{ Name, Description, Hint string }

// Session is what the program makes for a session of the client's.
type Session struct {
	ID       string // empty if it is not saved
	Dir      string // absolute
	Past     []msg.Message
	Commands []Command
	Mask     func(text string) string // masks what comes from the client's files
	// Turn does the whole work for one input and tells how it ended. It obeys ctx.
	Turn  func(ctx context.Context, in msg.User) event.TurnEnd
	Close func()
}

// Server serves one client.
type Server struct {
	Version string
	// Open makes a session that works in dir, a new one for an empty id; NoSession is the error for one that is not there. Its events
	// may come before it returns, until its Close does. The context ends with the server, not with Open.
	Open func(ctx context.Context, id, dir string, servers []sdk.McpServer, t *Talk) (Session, error)

	ctx  context.Context
	out  *wire.Queue
	work sync.WaitGroup // what is under way

	mu       sync.Mutex
	sessions map[string]*Talk
	count    int                    // of the requests to the client
	waiting  map[string]chan packet // those that wait for their response, by id
}

// Run serves until in ends (nil), out can't be written, or ctx ends (its cause). Running turns are cancelled and waited for, then the
// sessions are closed. The reading goroutine may outlive Run until in's next line.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.ctx, s.out = ctx, wire.NewQueue(out, stop)
	s.sessions, s.waiting = map[string]*Talk{}, map[string]chan packet{}
	lines := wire.Read(ctx, in)
	for open := true; open; {
		var line wire.Line
		select {
		case line, open = <-lines:
			if open {
				s.hear(line)
			}
		case <-ctx.Done():
			open = false
		}
	}
	cause := context.Cause(ctx)
	stop(context.Canceled)
	s.work.Wait()
	for _, t := range s.sessions {
		t.session.Close()
	}
	return cmp.Or(cause, s.out.Close())
}

// request carries out what the client asks for. What takes time goes on beside the reading.
func (s *Server) request(m packet) {
	switch m.Method {
	case sdk.AgentMethodInitialize:
		s.respond(m.ID, s.offer(), nil)
	case sdk.AgentMethodSessionNew:
		if r, ok := decode[sdk.NewSessionRequest](s, m); ok {
			s.work.Go(func() { s.open(m.ID, "", r.Cwd, r.McpServers) })
		}
	case sdk.AgentMethodSessionLoad:
		if r, ok := decode[sdk.LoadSessionRequest](s, m); ok && r.SessionId == "" {
			s.respond(m.ID, nil, invalid("sessionId is empty"))
		} else if ok {
			s.work.Go(func() { s.open(m.ID, r.SessionId, r.Cwd, r.McpServers) })
		}
	case sdk.AgentMethodSessionPrompt:
		if r, ok := decode[sdk.PromptRequest](s, m); ok {
			s.prompt(m.ID, r)
		}
	case sdk.AgentMethodSessionCancel:
		if r, ok := decode[sdk.CancelNotification](s, m); ok {
			s.stop(r.SessionId, func() {})
			s.respond(m.ID, nil, nil)
		}
	default:
		s.respond(m.ID, nil, sdk.NewMethodNotFound(m.Method))
	}
}

// offer says what is offered. A client that asks for another version is told the one that is spoken.
func (s *Server) offer() sdk.InitializeResponse {
	return sdk.InitializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		AgentInfo:       &sdk.Implementation{Name: "anchor", Title: sdk.Ptr("anchor"), Version: s.Version},
		AuthMethods:     []sdk.AuthMethod{},
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: sdk.PromptCapabilities{Image: true, EmbeddedContext: true},
			McpCapabilities:    sdk.McpCapabilities{Http: true},
		},
	}
}
