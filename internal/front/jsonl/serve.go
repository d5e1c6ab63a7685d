package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"

	"anchor/internal/event"
	"anchor/internal/front/wire"
)

// Server runs the editor protocol: it reads requests, starts a turn at a time, and hears answers and cancel while one runs.
type Server struct {
	In   io.Reader
	Out  *Writer // over a wire.Queue, so that reading never waits for the client
	Desk *Desk
	// Turn does the whole work for one input, its events going to Out, and returns when that is over. It obeys ctx.
	Turn func(ctx context.Context, text string)
	// Ready returns what a ready event says now.
	Ready func() event.Ready

	cancel context.CancelCauseFunc // of the turn that runs
	done   chan struct{}           // closed at its end; nil if none runs
}

// Run serves until In ends (nil), or ctx does (its cause). A running turn is cancelled and waited for first. The reading
// goroutine may outlive Run when ctx ended, until In's next line.
func (s *Server) Run(ctx context.Context) error {
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	lines := wire.Read(reading, s.In)
	s.Out.Event(s.Ready())
	for {
		select {
		case line, open := <-lines:
			if !open {
				s.end(errors.New("the client closed the session"))
				return nil
			}
			if ctx.Err() == nil { // else nothing more begins
				s.hear(ctx, line)
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

// hear handles one line.
func (s *Server) hear(ctx context.Context, line wire.Line) {
	var r request
	err := line.Err
	if err == nil {
		r, err = parse(line.Text)
	}
	switch {
	case err != nil:
	case r.kind == userInput && s.done != nil:
		err = errors.New("a turn is running; send cancel, or wait for ready")
	case r.kind == userInput:
		s.start(ctx, r.text)
	case r.kind == cancelRequest:
		if s.done != nil {
			s.cancel(context.Canceled)
		}
	case (r.kind == approvalResponse) != (r.id[0] == 'a') || !s.Desk.answer(r):
		err = fmt.Errorf("%s: nothing with the id %q is open", r.kind, r.id)
	}
	if err != nil {
		s.Out.Event(event.Error{Message: err.Error()})
	}
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
