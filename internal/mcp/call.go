package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anchor/internal/gate"
	"anchor/internal/tool"
)

const (
	callLimit = 60 * time.Second // without progress, unless the definition says other
	mostLimit = 30 * time.Minute // with progress
	backLimit = 10 * time.Second // for a new session in the place of one that the server forgot
)

// remote is a server's tool as the model sees it.
type remote struct {
	server *server
	name   string // as the server calls it
	spec   tool.Spec
}

func (t *remote) Spec() tool.Spec { return t.spec }

// Summary is the arguments.
func (t *remote) Summary(args json.RawMessage) string { return cut(string(args), 120) }

// Run asks the gate, then the server.
func (t *remote) Run(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
	r, err := gate.CallMCP(ctx, env.Gate, t.server.Name, t.name, args, func(ctx context.Context) (tool.Result, error) {
		return t.server.call(ctx, t.name, args)
	})
	if err != nil {
		return tool.Failure(ctx, err)
	}
	return r, nil
}

// call calls a tool. A server that is not there fails it at once. One that forgot the session did not do it, so it is asked again.
func (s *server) call(ctx context.Context, name string, args json.RawMessage) (tool.Result, error) {
	now := s.state()
	if now.session == nil {
		return tool.Result{}, fmt.Errorf("the MCP server %s is not running, so nothing was done: it is %s. %s", s.Name, now.Status, now.Error)
	}
	r, err := s.once(ctx, now.session, name, args)
	if old := now.session; errors.Is(err, sdk.ErrSessionMissing) {
		if await(ctx, backLimit, func() bool { now = s.state(); return now.session != nil && now.session != old }) {
			r, err = s.once(ctx, now.session, name, args)
		}
	}
	switch {
	case errors.Is(err, errSignIn):
		err = fmt.Errorf("%w; the user must run `anchor mcp login %s`", err, s.Name)
	case errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, io.EOF):
		err = errors.New("it ended before it answered, so whether it did something is not known; it is started again: look first, then call again in a few seconds, or go on without it")
	}
	if err != nil {
		return tool.Result{}, fmt.Errorf("the MCP server %s: %w", s.Name, err)
	}
	return render(r), nil
}

// once makes one call, bounded. It returns as soon as ctx ends, whatever the server does.
func (s *server) once(ctx context.Context, session *sdk.ClientSession, name string, args json.RawMessage) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := cmp.Or(time.Duration(s.Timeout)*time.Millisecond, callLimit)
	end := time.Now().Add(max(limit, mostLimit))
	timer := time.AfterFunc(limit, func() { cancel(fmt.Errorf("%w; whether it did something is not known", late(limit))) })
	defer timer.Stop()
	p, token := &sdk.CallToolParams{Name: name, Arguments: args}, rand.Text()
	p.SetProgressToken(token)
	s.alive.Store(token, func() { timer.Reset(min(limit, time.Until(end))) })
	defer s.alive.Delete(token)
	var r *sdk.CallToolResult
	done := make(chan error, 1)
	go func() { // ends with the session at the latest
		var err error
		r, err = session.CallTool(ctx, p)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return r, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
