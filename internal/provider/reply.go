package provider

import (
	"bufio"
	"bytes"
	"cmp"
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
	maxQuiet     = 10 * time.Minute      // in which only pings come, at least
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
	body   io.ReadCloser          // nil before the answer began
	events func() ([]byte, error) // nil before the first
}

func (r *reply) keep(d time.Duration) { r.until = time.Now().Add(d) }

// quiet is how long only pings may come.
func (c *Client) quiet() time.Duration { return max(maxQuiet, c.StallTimeout) }

// Read implements io.Reader.
func (r *reply) Read(p []byte) (int, error) {
	r.watch.Reset(min(r.c.StallTimeout, time.Until(r.until)))
	n, err := r.body.Read(p)
	r.watch.Stop()
	return n, err
}

// next returns the next event, or the whole value of a JSON answer, whatever the server calls it: no stream begins with a brace.
// The end of the data is an error too.
func (r *reply) next() (gjson.Result, error) {
	var data []byte
	var err error
	for err == nil && (len(data) == 0 || data[0] == ':') { // a keep-alive sent as data
		if r.events == nil {
			r.events = eventsOrJSON(bufio.NewReader(r))
		}
		data, err = r.events()
	}
	switch {
	case errors.Is(err, io.EOF) || string(data) == "[DONE]":
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
	return r.c.finish(&Error{Kind: Broken, Message: message}, r.url)
}

// fault says why a request failed below HTTP.
func (r *reply) fault(err error) error {
	e, isOwn := errors.AsType[*Error](err)
	stalled := errors.Is(context.Cause(r.ctx), errStalled)
	switch {
	case r.parent.Err() != nil:
		return r.parent.Err()
	case isOwn:
	case stalled && r.body == nil:
		return r.broken("the server did not begin to answer within " + short(r.c.FirstByte))
	case stalled && !time.Now().Before(r.until):
		return r.broken("the reply broke off: nothing but pings came for " + short(r.c.quiet()))
	case stalled:
		return r.broken("the reply broke off: nothing came for " + short(r.c.StallTimeout))
	case r.body == nil:
		e = network(err)
	default:
		return r.broken("the reply broke off: " + network(err).Message)
	}
	return r.c.finish(e, r.url)
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

// eventsOrJSON reads what is a stream or one JSON value by its first byte; blanks before it are keep-alives.
func eventsOrJSON(r *bufio.Reader) func() ([]byte, error) {
	first, err := r.ReadByte()
	for err == nil && (first == ' ' || first == '\n' || first == '\r') {
		first, err = r.ReadByte()
	}
	if err == nil {
		err = r.UnreadByte()
	}
	if err == nil && first != '{' && first != '[' {
		return eventsOf(r)
	}
	return func() ([]byte, error) {
		if err != nil {
			return nil, err
		}
		data, failed := io.ReadAll(io.LimitReader(r, maxLine))
		err = cmp.Or(failed, io.EOF)
		return data, failed
	}
}

// eventsOf reads server-sent events: what it returns gives the data of the next event that has any, valid until the next call, and
// at the end io.EOF. It takes what servers send, not only what the standard says: lines end by LF, CRLF or CR, the blank after the
// colon may be missing, comments are skipped, several data lines are joined by LF, and an event at the very end of the stream needs
// no empty line after it.
func eventsOf(r io.Reader) func() ([]byte, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 16<<10), maxLine)
	lines.Split(splitLines())
	var data []byte
	return func() ([]byte, error) {
		data = data[:0]
		some := false
		for lines.Scan() {
			if len(lines.Bytes()) == 0 && some {
				return data, nil
			}
			value, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
			switch {
			case !ok:
				continue
			case some:
				data = append(data, '\n')
			}
			some = true
			if data = append(data, bytes.TrimPrefix(value, []byte(" "))...); len(data) > maxLine {
				return nil, bufio.ErrTooLong
			}
		}
		if lines.Err() != nil || some {
			return data, lines.Err()
		}
		return nil, io.EOF
	}
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
