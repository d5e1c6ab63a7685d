package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// callback waits on this machine for the browser to come back from a sign-in.
type callback struct {
	http.Server
	address string
	results chan url.Values
}

// listen takes a port, any free one if it is 0.
func listen(port int) (*callback, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("the browser's way back is not free: %w", err)
	}
	c := &callback{address: "http://" + l.Addr().String() + "/callback", results: make(chan url.Values, 1)}
	c.Handler, c.ReadHeaderTimeout = http.HandlerFunc(c.serve), 5*time.Second
	go func() { _ = c.Serve(l) }() // until Close
	return c, nil
}

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

// visit goes where a browser on another machine was sent and could not go: to the addresses that the user pastes.
func (c *callback) visit(client *http.Client, pasted io.Reader) {
	for in := bufio.NewScanner(pasted); in.Scan(); {
		if at := strings.TrimSpace(in.Text()); strings.HasPrefix(at, c.address+"?") {
			if resp, err := client.Get(at); err == nil {
				resp.Body.Close()
			}
		}
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
