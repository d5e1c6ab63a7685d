package jsonl

import (
	"bufio"
	"bytes"
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
}

// errClosed is the cause of a turn's end when the client closed its side.
var errClosed = errors.New("the client closed the session")

// Run serves until In ends (nil), or ctx does (its cause). A running turn is cancelled and waited for first. The reading
// goroutine ends with In; it may outlive Run when ctx ended, until the process does.
func (s *Server) Run(ctx context.Context) error {
	lines := make(chan line)
	stop := make(chan struct{})
	defer close(stop)
	go read(s.In, lines, stop)
	t := turns{s: s}
	s.Out.Event(s.Ready())
	for {
		select {
		case l, open := <-lines:
			if !open {
				t.end(errClosed)
				return nil
			}
			s.hear(ctx, l, &t)
		case <-t.done:
			t.done = nil
			s.Out.Event(s.Ready())
		case <-ctx.Done():
			t.end(context.Cause(ctx))
			return context.Cause(ctx)
		}
	}
}

// hear handles one line. It never waits for work.
func (s *Server) hear(ctx context.Context, l line, t *turns) {
	if l.err == nil && len(bytes.TrimSpace(l.text)) == 0 {
		return
	}
	var r request
	err := l.err
	if err == nil {
		r, err = parse(l.text)
	}
	if err != nil {
		s.refuse("%v", err)
		return
	}
	switch kind, id := r.word("type"), r.word("id"); kind {
	case userInput:
		if t.done != nil {
			s.refuse("a turn is running; send cancel, or wait for ready")
			return
		}
		t.start(ctx, r.word("text"))
	case approvalResponse, questionResponse:
		if (kind == approvalResponse) != (id[0] == 'a') || !s.Desk.answer(id, r) {
			s.refuse("%s: nothing with the id %q is open", kind, id)
		}
	case cancelRequest:
		if t.done != nil {
			t.cancel(context.Canceled)
		}
	}
}

func (s *Server) refuse(format string, args ...any) {
	s.Out.Event(event.Error{Message: fmt.Sprintf(format, args...)})
}

// turns is the turn that runs, if one does: then done is not nil.
type turns struct {
	s      *Server
	cancel context.CancelCauseFunc
	done   chan struct{}
}

func (t *turns) start(ctx context.Context, text string) {
	ctx, t.cancel = context.WithCancelCause(ctx)
	done := make(chan struct{})
	t.done = done
	go func() {
		defer close(done)
		defer t.cancel(nil)
		t.s.Turn(ctx, text)
	}()
}

// end cancels the turn that runs and waits for it; the turn's own bounds hold.
func (t *turns) end(cause error) {
	if t.done != nil {
		t.cancel(cause)
		<-t.done
	}
}

// line is a line that was read, or why it could not be.
type line struct {
	text []byte
	err  error
}

// read hands on the lines of in until it ends or stop is closed, then closes lines.
func read(in io.Reader, lines chan<- line, stop <-chan struct{}) {
	defer close(lines)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		text, err := readLine(r)
		if err != nil && !errors.Is(err, errTooLong) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the input ended in the middle of a line; nothing was done with it")
		}
		select {
		case lines <- line{text, err}:
		case <-stop:
			return
		}
	}
}
