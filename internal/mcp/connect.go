package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anchor/internal/gate"
)

const (
	connectLimit = 60 * time.Second // for a server to answer, and for the list of its tools
	probeLimit   = 10 * time.Second // for a server over HTTP to answer in the newest protocol
	farewell     = 2 * time.Second  // for a session to end
	maxMessage   = 32 << 20         // bytes of one message of a server
	commonest    = "2025-11-25"     // the protocol that most speak; newer ones begin with a request at which many servers hang
)

// link is a connection. process is nil over HTTP.
type link struct {
	session *sdk.ClientSession
	process gate.Server
}

// connect starts the server and shakes hands. End the link after an error too.
func (s *server) connect(ctx context.Context, d Definition) (l link, err error) {
	if d.URL != "" {
		l.session, err = s.dial(ctx, d, s.kept(d), probeLimit)
		return l, err
	}
	if l.process, err = s.o.Gate.StartServer(ctx, d.Command, d.Args, environment(d), d.folder(s.o.Gate.Dir())); err != nil {
		return link{}, final{failed, err}
	}
	pipes := &sdk.IOTransport{Reader: newLines(l.process, bufio.ScanLines, messageOnly), Writer: l.process, MaxLineLength: -1}
	l.session, err = s.greet(ctx, pipes, commonest, connectLimit)
	return l, err
}

// end ends the process, then the session, which may not wait long for what the server owes.
func (l link) end() {
	if l.process != nil {
		l.process.Close()
	}
	if l.session == nil {
		return
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = l.session.Close()
	}()
	select {
	case <-closed:
	case <-time.After(farewell):
	}
}

// explain adds the last that the process wrote to its standard error.
func (l link) explain(err error) error {
	if err == nil || l.process == nil {
		return err
	}
	if text := strings.TrimSpace(l.process.Stderr()); text != "" {
		lines := strings.Split(text, "\n")
		err = fmt.Errorf("%w; it last wrote: %s", err, cut(strings.Join(lines[max(0, len(lines)-3):], " | "), 400))
	}
	return err
}

// late says that a server did not answer in time.
type late time.Duration

func (l late) Error() string { return fmt.Sprintf("it did not answer within %v", time.Duration(l)) }

// greet shakes hands. A server sees that anchor offers nothing but calls of tools.
func (s *server) greet(ctx context.Context, t sdk.Transport, version string, limit time.Duration) (*sdk.ClientSession, error) {
	ctx, stop := context.WithTimeoutCause(ctx, limit, late(limit))
	defer stop()
	client := sdk.NewClient(&sdk.Implementation{Name: "anchor", Version: s.o.Version}, &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { s.listSoon() },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if again, ok := s.alive.Load(fmt.Sprint(r.Params.ProgressToken)); ok {
				again.(func())()
			}
		},
	})
	session, err := client.Connect(ctx, t, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return session, err
}

// dial connects to a server over HTTP: in the newest protocol if it answers to that within limit, else in the commonest.
func (s *server) dial(ctx context.Context, d Definition, login auth.OAuthHandler, limit time.Duration) (*sdk.ClientSession, error) {
	client := *s.http
	client.Transport = &wire{s.http.Transport, d.Headers}
	t := &sdk.StreamableClientTransport{Endpoint: d.URL, HTTPClient: &client, MaxEventSize: maxMessage, OAuthHandler: login}
	session, err := s.greet(ctx, t, "", limit)
	if errors.As(err, new(late)) {
		session, err = s.greet(ctx, t, commonest, connectLimit)
	}
	if errors.Is(err, errSignIn) {
		err = final{signIn, fmt.Errorf("%w; run `anchor mcp login %s`", errSignIn, s.Name)}
	}
	return session, err
}

// newClient is for all servers over HTTP of a session. The environment's proxy is used, never for this machine itself. Redirects are
// followed only within a host, since headers of the definition go along.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: probeLimit, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if len(via) > 5 || next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme {
				return fmt.Errorf("it sends anchor on to %s, which is not followed; if that is right, use it as the address", next.URL.Redacted())
			}
			return nil
		},
	}
}

// wire adds the definition's headers to requests and mends what comes back.
type wire struct {
	next    http.RoundTripper
	headers map[string]string
}

// RoundTrip makes a request.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range w.headers {
		r.Header.Set(name, value)
	}
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) {
	case "text/event-stream":
		resp.Body = newLines(resp.Body, bufio.ScanLines, mendEvent)
	case "application/json":
		resp.Body, resp.ContentLength = newLines(resp.Body, scanAll, mend), -1
	}
	return resp, nil
}

// lines is a stream that is rewritten on the way, a part at a time. Parts of which nothing is left are skipped.
type lines struct {
	io.Closer
	in      *bufio.Scanner
	rewrite func([]byte) []byte
	rest    []byte
}

func newLines(from io.ReadCloser, split bufio.SplitFunc, rewrite func([]byte) []byte) io.ReadCloser {
	l := &lines{Closer: from, in: bufio.NewScanner(from), rewrite: rewrite}
	l.in.Split(split)
	l.in.Buffer(nil, maxMessage)
	return l
}

// Read ends with io.EOF also where the stream was closed on either side.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		some := l.in.Scan()
		switch err := l.in.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return 0, fmt.Errorf("it sent a message of over %d MB", maxMessage>>20)
		case errors.Is(err, io.ErrUnexpectedEOF): // what there is of the line is no message
			return 0, err
		case !some:
			return 0, io.EOF
		}
		if part := l.rewrite(l.in.Bytes()); part != nil {
			l.rest = append(slices.Clip(part), '\n')
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// scanAll takes a stream as one part.
func scanAll(data []byte, end bool) (int, []byte, error) {
	if end && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// messageOnly mends a message, and drops a line that is none: many servers print banners.
func messageOnly(line []byte) []byte {
	if _, err := jsonrpc.DecodeMessage(line); err != nil || !bytes.HasPrefix(line, []byte("{")) {
		return nil
	}
	return mend(line)
}

// mendEvent mends the message in a line of an event stream.
func mendEvent(line []byte) []byte {
	if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		return append([]byte("data: "), mend(bytes.TrimSpace(data))...)
	}
	return line
}
