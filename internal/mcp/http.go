package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newTransport is for all servers over HTTP of a session. The environment's proxy is used, never for this machine itself.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
	}
}

// sameHost follows redirects only within a host, since headers of the definition go along.
func sameHost(next *http.Request, via []*http.Request) error {
	if len(via) > 5 || next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("it sends anchor on to %s, which is not followed; if that is right, use it as the address", next.URL.Redacted())
	}
	return nil
}

// dial connects to a server over HTTP: in the newest protocol if it answers to that in time, else in the one that most speak.
func (s *server) dial(ctx context.Context, d Definition) (session *sdk.ClientSession, err error) {
	client := *s.http
	client.Transport = &wire{s.http.Transport, d.Headers}
	for _, version := range []string{"", stdioVersion} {
		t := &sdk.StreamableClientTransport{Endpoint: d.URL, HTTPClient: &client, MaxEventSize: maxMessage}
		if t.OAuthHandler, err = s.handler(ctx, d); err != nil {
			return nil, err
		}
		limit := connectLimit
		if version == "" {
			limit = probeLimit
		}
		if s.login != nil {
			limit = loginLimit
		}
		limited, stop := context.WithTimeout(ctx, limit)
		session, err = s.client().Connect(limited, t, &sdk.ClientSessionOptions{ProtocolVersion: version})
		late := limited.Err() != nil
		if stop(); err == nil || !late {
			break
		}
	}
	if errors.Is(err, errSignIn) {
		err = final{signIn, fmt.Errorf("%w; run `anchor mcp login %s`", errSignIn, s.Name)}
	}
	return session, err
}

// wire adds the definition's headers to requests and mends what comes back.
type wire struct {
	next    http.RoundTripper
	headers map[string]string
}

// RoundTrip makes a request.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(w.headers) > 0 {
		r = r.Clone(r.Context())
		for name, value := range w.headers {
			r.Header.Set(name, value)
		}
	}
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) {
	case "text/event-stream":
		resp.Body = &stream{Closer: resp.Body, in: bufio.NewReaderSize(resp.Body, 64<<10)}
	case "application/json":
		resp.Body = &whole{ReadCloser: resp.Body}
		resp.ContentLength = -1
	}
	return resp, nil
}

// stream mends the messages of an event stream, a line at a time.
type stream struct {
	io.Closer
	in   *bufio.Reader
	rest []byte
}

func (s *stream) Read(p []byte) (n int, err error) {
	if len(s.rest) == 0 {
		if s.rest, err = readLine(s.in); err != nil {
			return 0, err
		}
		if data, ok := bytes.CutPrefix(s.rest, []byte("data:")); ok {
			if m := mend(bytes.TrimSpace(data)); len(m) > 0 {
				s.rest = append(append([]byte("data: "), m...), '\n')
			}
		}
	}
	n = copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// whole mends a body that is one message, once it is read.
type whole struct {
	io.ReadCloser
	mended io.Reader
}

func (w *whole) Read(p []byte) (int, error) {
	if w.mended == nil {
		data, err := io.ReadAll(io.LimitReader(w.ReadCloser, maxMessage+1))
		if err == nil && len(data) > maxMessage {
			err = errTooLong
		}
		if err != nil {
			return 0, err
		}
		w.mended = bytes.NewReader(mend(data))
	}
	return w.mended.Read(p)
}
