package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
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
	session, why := s.current()
	if session == nil {
		return tool.Result{}, fmt.Errorf("the MCP server %s is not running, so nothing was done: %s", s.Name, why)
	}
	r, err := s.once(ctx, session, name, args)
	if errors.Is(err, sdk.ErrSessionMissing) {
		if again := s.next(ctx, session); again != nil {
			r, err = s.once(ctx, again, name, args)
		}
	}
	if errors.Is(err, errSignIn) {
		err = fmt.Errorf("%w; the user must run `anchor mcp login %s`", err, s.Name)
	}
	if err != nil {
		return tool.Result{}, fmt.Errorf("the MCP server %s: %w", s.Name, err)
	}
	return render(r), nil
}

// current returns the session, or why there is none.
func (s *server) current() (*sdk.ClientSession, string) {
	state := s.state()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session, fmt.Sprintf("it is %s. %s", state.Status, state.Error)
}

// next waits for another session than old.
func (s *server) next(ctx context.Context, old *sdk.ClientSession) *sdk.ClientSession {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(backLimit); time.Now().Before(until); {
		if session, _ := s.current(); session != nil && session != old {
			return session
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// once makes one call, bounded. It returns as soon as ctx ends, whatever the server does.
func (s *server) once(ctx context.Context, session *sdk.ClientSession, name string, args json.RawMessage) (*sdk.CallToolResult, error) {
	limit := callLimit
	if s.Timeout > 0 {
		limit = time.Duration(s.Timeout)
	}
	late := fmt.Errorf("it did not answer within %v; whether it did something is not known", limit)
	ctx, stop := context.WithTimeoutCause(ctx, max(mostLimit, limit), late)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(late) })
	defer timer.Stop()
	p := &sdk.CallToolParams{Name: name, Arguments: args}
	token := s.calls.add(func() { timer.Reset(limit) })
	defer s.calls.drop(token)
	p.SetProgressToken(token)
	type outcome struct {
		result *sdk.CallToolResult
		err    error
	}
	done := make(chan outcome, 1)
	go func() { // ends with the session at the latest
		r, err := session.CallTool(ctx, p)
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		if o.err != nil && ctx.Err() != nil {
			o.err = context.Cause(ctx)
		}
		return o.result, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// calls are those that run, by their progress tokens.
type calls struct {
	mu    sync.Mutex
	count int
	alive map[string]func()
}

func (c *calls) add(alive func()) (token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alive == nil {
		c.alive = map[string]func(){}
	}
	c.count++
	token = "call-" + strconv.Itoa(c.count)
	c.alive[token] = alive
	return token
}

func (c *calls) drop(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.alive, token)
}

// progress gives a call its time again.
func (c *calls) progress(token any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if alive := c.alive[fmt.Sprint(token)]; alive != nil {
		alive()
	}
}
