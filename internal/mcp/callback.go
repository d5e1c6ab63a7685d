package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// loginLimit is how long the user may take to sign in.
const loginLimit = 5 * time.Minute

// callback waits on this machine for the browser to come back from a sign-in.
type callback struct {
	address string
	server  *http.Server
	results chan url.Values
}

// listen takes the port that the definition or an earlier registration names, else any free one.
func (o Options) listen(d Definition) (*callback, error) {
	port := fmt.Sprint(d.OAuth.CallbackPort)
	if d.OAuth.CallbackPort == 0 {
		if old, _ := o.store().load(d.URL); old != nil {
			if u, err := url.Parse(old.RedirectURL); err == nil {
				port = u.Port()
			}
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil && d.OAuth.CallbackPort == 0 {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("the browser's way back is not free: %w", err)
	}
	c := &callback{address: "http://" + l.Addr().String() + "/callback", results: make(chan url.Values, 1)}
	c.server = &http.Server{Handler: http.HandlerFunc(c.serve), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = c.server.Serve(l) }() // until close
	return c, nil
}

func (c *callback) close() { _ = c.server.Close() }

// serve takes the first answer.
func (c *callback) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.URL.Path != "/callback" || q.Get("code") == "" && q.Get("error") == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "anchor has the answer. You can close this page.\n")
	select {
	case c.results <- q:
	default:
	}
}

// wait waits for the browser. The SDK compares the state.
func (c *callback) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case q := <-c.results:
		if q.Get("error") != "" {
			return nil, fmt.Errorf("the sign-in was refused: %s %s", q.Get("error"), q.Get("error_description"))
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	case <-ctx.Done():
		return nil, errors.New("nobody signed in in time")
	}
}
