package provider

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/tidwall/gjson"
)

// A reply is read under one watch, a timer that runs only while its reader waits for the server, so what the reader does with
// it takes no time of the server's. A read may last the stall timeout, and none lasts beyond until, which is put off whenever
// something of the reply came: pings alone keep no reply alive for ever. After the end of a reply until is near, for the
// little that may follow. When the watch runs out, the request's context ends, and the read with it.

const (
	maxLine      = 32 << 20              // a line of a stream, an event, a whole JSON answer, in bytes
	maxQuiet     = 10 * time.Minute      // in which only pings came
	afterEnd     = time.Second           // for the usage and the closing event: some servers never send them, some never close
	drainTimeout = 50 * time.Millisecond // for what is on its way when a reply is closed, so that the connection serves again
)

var errStalled = errors.New("stalled")

// reply is the body of a server's answer.
type reply struct {
	c      *Client
	parent context.Context // of the request
	ctx    context.Context // ends when the reply stalls
	cancel context.CancelCauseFunc
	watch  *time.Timer
	until  time.Time
	url    string
	body   io.ReadCloser // nil before the answer began
	json   bool          // the server sent one JSON value instead of a stream
	events events
}

func (r *reply) keep(d time.Duration) { r.until = time.Now().Add(d) }

// Read implements io.Reader.
func (r *reply) Read(p []byte) (int, error) {
	r.watch.Reset(min(r.c.StallTimeout, time.Until(r.until)))
	n, err := r.body.Read(p)
	r.watch.Stop()
	return n, err
}

// next returns the next event, or the whole value of a JSON answer. The end of the data is an error too.
func (r *reply) next() (gjson.Result, error) {
	var data []byte
	var err error
	for err == nil && (len(data) == 0 || data[0] == ':') { // a keep-alive sent as data
		if !r.json {
			data, err = r.events.next()
		} else if data, err = io.ReadAll(io.LimitReader(r, maxLine)); len(data) == 0 && err == nil {
			err = io.EOF
		}
	}
	switch {
	case err == io.EOF || string(data) == "[DONE]":
		err = r.broken("the reply ended before its end")
	case err != nil:
		err = r.fault(err)
	case !gjson.ValidBytes(data):
		err = r.broken("the reply is not understood: " + oneLine(string(data)))
	default:
		return gjson.ParseBytes(data), nil
	}
	return gjson.Result{}, err
}

func (r *reply) broken(message string) *Error {
	return &Error{Kind: Broken, URL: r.url, Message: message}
}

// fault says why a request failed below HTTP.
func (r *reply) fault(err error) error {
	own, isOwn := errors.AsType[*Error](err)
	e := network(err)
	e.URL = r.url
	stalled := context.Cause(r.ctx) == errStalled
	switch {
	case r.parent.Err() != nil:
		return r.parent.Err()
	case isOwn:
		return own
	case stalled && r.body == nil:
		e.Message = "the server did not begin to answer within " + short(r.c.FirstByte)
	case stalled && time.Now().After(r.until):
		e.Message = "the reply broke off: nothing but pings came for " + short(maxQuiet)
	case stalled:
		e.Message = "the reply broke off: nothing came for " + short(r.c.StallTimeout)
	case r.body == nil:
		return e
	default:
		e.Message = "the reply broke off: " + e.Message
	}
	e.Kind, e.Advice = Broken, ""
	return e
}

// close ends the request.
func (r *reply) close() {
	if r.body != nil {
		r.keep(drainTimeout)
		_, _ = io.CopyN(io.Discard, r, 4<<10)
		_ = r.body.Close()
	}
	r.watch.Stop()
	r.cancel(nil)
}

// events reads server-sent events. It takes what servers send, not only what the standard says: lines end by LF, CRLF or CR,
// the blank after the colon may be missing, comments are skipped, several data lines are joined by LF, and an event at the
// very end of the stream needs no empty line after it.
type events struct {
	*bufio.Scanner
	data []byte
}

func newEvents(r io.Reader) events {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 16<<10), maxLine)
	s.Split(splitLines())
	return events{Scanner: s}
}

// next returns the data of the next event that has any. It is valid until the next call. At the end it returns io.EOF.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	some := false
	for e.Scan() {
		line := e.Bytes()
		if len(line) == 0 && some {
			return e.data, nil
		}
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		if some {
			e.data = append(e.data, '\n')
		}
		some = true
		if e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...); len(e.data) > maxLine {
			return nil, bufio.ErrTooLong
		}
	}
	if e.Err() != nil || some {
		return e.data, e.Err()
	}
	return nil, io.EOF
}

// splitLines makes a function that cuts off a line as soon as its LF or CR is there.
func splitLines() bufio.SplitFunc {
	cr := false // the last line ended by CR: an LF right after it belongs to it
	return func(data []byte, eof bool) (int, []byte, error) {
		from := 0
		if cr && len(data) > 0 && data[0] == '\n' {
			from = 1
		}
		line, _, lf := bytes.Cut(data[from:], []byte("\n"))
		line, _, found := bytes.Cut(line, []byte("\r"))
		switch {
		case lf || found:
			cr = found
			return from + len(line) + 1, line, nil
		case eof && len(line) > 0:
			return len(data), line, nil
		}
		return 0, nil, nil
	}
}
