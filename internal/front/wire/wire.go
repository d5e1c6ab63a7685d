// Package wire is standard input and output for the faces that programs drive: lines of JSON. Reading never waits for work, and
// work never for a client that does not read.
package wire

import (
	"bufio"
	"bytes"
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
	return bytes.Trim(line, " \t\r\n"), err // what JSON calls blanks
}

const (
	maxUnread = 64 << 20        // bytes; a client that leaves more unread is given up
	patience  = 5 * time.Second // with a client that reads nothing of what is left at the end
	piece     = 64 << 10        // bytes that are written at a time
)

// Queue is a Writer that keeps nobody waiting: what it takes is written in the background, in order. Safe for concurrent use.
type Queue struct {
	gone func(error)
	done chan struct{} // closed when nothing is written any more

	mu     sync.Mutex
	more   *sync.Cond // there is something to do
	unread []byte
	closed bool
	err    error
}

// NewQueue returns a queue before out. gone is called once, when nothing can be written any more, because that failed or the client
// does not read. Close it.
func NewQueue(out io.Writer, gone func(error)) *Queue {
	q := &Queue{gone: gone, done: make(chan struct{})}
	q.more = sync.NewCond(&q.mu)
	go q.drain(out)
	return q
}

func (q *Queue) drain(out io.Writer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer close(q.done)
	for q.err == nil && !(q.closed && len(q.unread) == 0) {
		if len(q.unread) == 0 {
			q.more.Wait()
			continue
		}
		lines := q.unread[:min(len(q.unread), piece)]
		q.unread = q.unread[len(lines):]
		q.mu.Unlock()
		_, err := out.Write(lines)
		q.mu.Lock()
		_ = q.fail(err)
	}
}

// Write takes whole lines. Its error is why the queue has failed. What comes after Close is dropped.
func (q *Queue) Write(lines []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.unread)+len(lines) > maxUnread {
		_ = q.fail(fmt.Errorf("the client left %d MB unread", maxUnread>>20))
	}
	if q.err == nil && !q.closed {
		q.unread = append(q.unread, lines...)
		q.more.Signal()
	}
	return len(lines), q.err
}

// fail keeps the first error, if there is one, and returns it. The lock is held.
func (q *Queue) fail(err error) error {
	if q.err == nil && err != nil {
		q.err = fmt.Errorf("standard output can't be written: %w", err)
		q.gone(q.err)
	}
	return q.err
}

// Close waits until all is written, but not long for a client that reads nothing. It returns what went wrong.
func (q *Queue) Close() (err error) {
	q.mu.Lock()
	q.closed = true
	q.more.Signal()
	q.mu.Unlock()
	for left := -1; err == nil; {
		select {
		case <-q.done:
			q.mu.Lock()
			defer q.mu.Unlock()
			return q.err
		case <-time.After(patience):
		}
		q.mu.Lock()
		if left == len(q.unread) {
			err = q.fail(errors.New("the client does not read"))
		}
		left = len(q.unread)
		q.mu.Unlock()
	}
	return err
}
