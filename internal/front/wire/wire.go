// Package wire is standard input and output for the faces that programs drive: lines of JSON. Reading never waits for work, and
// work never for a client that does not read.
package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// MaxLine is the longest line that is read, in bytes. A longer one is skipped whole.
const MaxLine = 32 << 20

// Line is a line of input without the blanks around it. Err, for the client, says why nothing may be done with it.
type Line struct {
	Text []byte
	Err  error
}

// Read hands on the lines of in, but for blank ones, until it or ctx ends; then the channel is closed. Its goroutine may outlive ctx
// until in's next line.
func Read(ctx context.Context, in io.Reader) <-chan Line {
	lines := make(chan Line)
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(in, 64<<10)
		for ended := false; !ended; {
			text, err := readLine(r)
			l := Line{Text: text}
			switch ended = err != nil; {
			case len(text) == 0:
				continue
			case ended:
				l.Err = errors.New("the input ended in the middle of a line; nothing was done with it")
			case len(text) > MaxLine:
				l.Err = fmt.Errorf("the line is over %d MB", MaxLine>>20)
			case !utf8.Valid(text):
				l.Err = errors.New("the line is not valid UTF-8")
			}
			select {
			case lines <- l:
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// readLine returns the next line without the blanks around it, or of one over MaxLine more than that.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		var part []byte
		if part, err = r.ReadSlice('\n'); len(line) <= MaxLine {
			line = append(line, part...)
		}
	}
	return bytes.TrimSpace(line), err
}

const (
	maxUnread = 64 << 20         // bytes; a client that leaves more unread is given up
	patience  = 10 * time.Second // with a client that reads nothing at the end
)

// Queue is a Writer that keeps nobody waiting: what it takes is written in the background, in order. Safe for concurrent use.
type Queue struct {
	gone func(error)
	more chan struct{} // has a token if there is something to do
	done chan struct{} // closed when nothing is written any more

	mu     sync.Mutex
	unread []byte
	closed bool
	err    error
}

// NewQueue returns a queue before out. gone is called once, when nothing can be written any more, because that failed or the client
// does not read. Close it.
func NewQueue(out io.Writer, gone func(error)) *Queue {
	q := &Queue{gone: gone, more: make(chan struct{}, 1), done: make(chan struct{})}
	go q.drain(out)
	return q
}

func (q *Queue) drain(out io.Writer) {
	defer close(q.done)
	for range q.more {
		q.mu.Lock()
		lines, closed := q.unread, q.closed
		q.unread = nil
		q.mu.Unlock()
		var err error
		if len(lines) > 0 {
			_, err = out.Write(lines)
		}
		if err != nil || closed {
			q.mu.Lock()
			defer q.mu.Unlock()
			_ = q.fail(err)
			return
		}
	}
}

// Write takes whole lines. Its error is why the queue has failed.
func (q *Queue) Write(lines []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed, q.err != nil:
		return 0, cmp.Or(q.err, io.ErrClosedPipe)
	case len(q.unread)+len(lines) > maxUnread:
		return 0, q.fail(fmt.Errorf("the client left %d MB unread", maxUnread>>20))
	}
	q.unread = append(q.unread, lines...)
	q.wake()
	return len(lines), nil
}

func (q *Queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// fail keeps the first error, if there is one, and returns it. The lock is held.
func (q *Queue) fail(err error) error {
	if q.err == nil && err != nil {
		q.err = fmt.Errorf("standard output can't be written: %w", err)
		q.gone(q.err)
	}
	return q.err
}

// Close waits until all is written, and not long for a client that does not read. It returns what went wrong.
func (q *Queue) Close() error {
	q.mu.Lock()
	q.closed = true
	q.wake()
	err := q.err
	q.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-q.done:
	case <-time.After(patience):
		err = errors.New("the client does not read")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.fail(err)
}
