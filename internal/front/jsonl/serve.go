package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"

	"anchor/internal/event"
)

// Server runs the editor protocol: it reads requests, starts a turn at a time, and hears answers and cancel while one runs.
type Server struct {
	In   io.Reader
	Out  *Writer
	Desk *Desk
	// Turn does the whole work for one input, its events going to Out, and returns when that is over. It obeys ctx.
	Turn func(ctx context.Context, text string)
	// Ready returns what a ready event says now.
	Ready func() event.Ready

	cancel context.CancelCauseFunc // of the turn that runs
	done   chan struct{}           // closed at its end; nil if none runs
}

// Run serves until In ends (nil), or ctx does (its cause). A running turn is cancelled and waited for first. The reading
// goroutine ends with In; it may outlive Run when ctx ended, until the process does.
func (s *Server) Run(ctx context.Context) error {
	messages := make(chan message)
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go read(reading, s.In, messages)
	s.Out.Event(s.Ready())
	for {
		select {
		case m, open := <-messages:
			if !open {
				s.end(errors.New("the client closed the session"))
				return nil
			}
			if ctx.Err() == nil { // else nothing more begins
				s.hear(ctx, m)
			}
		case <-s.done:
			s.done = nil
			if ctx.Err() == nil { // else it ended both, and nothing is ready
				s.Out.Event(s.Ready())
			}
		case <-ctx.Done():
			s.end(context.Cause(ctx))
			return context.Cause(ctx)
		}
	}
}

// hear handles one message. It never waits for work.
func (s *Server) hear(ctx context.Context, m message) {
	switch kind, id := m.kind, m.id; {
	case m.err != nil:
		s.refuse("%v", m.err)
	case kind == userInput && s.done != nil:
		s.refuse("a turn is running; send cancel, or wait for ready")
	case kind == userInput:
		s.start(ctx, m.text)
	case kind == cancelRequest:
		if s.done != nil {
			s.cancel(context.Canceled)
		}
	case (kind == approvalResponse) != (id[0] == 'a') || !s.Desk.answer(id, m.request):
		s.refuse("%s: nothing with the id %q is open", kind, id)
	}
}

func (s *Server) refuse(format string, args ...any) {
	s.Out.Event(event.Error{Message: fmt.Sprintf(format, args...)})
}

func (s *Server) start(ctx context.Context, text string) {
	ctx, s.cancel = context.WithCancelCause(ctx)
	done := make(chan struct{})
	s.done = done
	go func() {
		defer close(done)
		defer s.cancel(nil)
		s.Turn(ctx, text)
	}()
}

// end cancels the turn that runs and waits for it; the turn's own bounds hold.
func (s *Server) end(cause error) {
	if s.done != nil {
		s.cancel(cause)
		<-s.done
	}
}
