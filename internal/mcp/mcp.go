// Package mcp runs MCP servers and makes tools of what they offer. Each server has one goroutine that connects, lists its tools, and
// starts it again with a growing pause when it dies; what the session sees is a snapshot that is never waited for. Whatever a server
// says is a claim of somebody else's program: names are made legal, schemas and results are fitted and bounded, one bad tool is left
// out with a notice, and every call goes through the gate.
package mcp

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anchor/internal/gate"
	"anchor/internal/tool"
)

// Options are what servers are run with.
type Options struct {
	Gate    *gate.Gate
	State   string              // anchor's state directory, for trust and sign-ins; empty: there is none
	Getenv  func(string) string // for ${VAR} in definitions
	Notice  func(string)        // gets what the user should know; may be called by several goroutines at once
	Version string              // anchor's
	Once    bool                // never start a server again
}

// State is how a server is.
type State struct {
	Name   string
	Status string // starting, ready, waiting, failed, untrusted, disabled, "sign in"
	Error  string // what went wrong last, masked; empty if it is ready
	Tools  []tool.Tool

	session *sdk.ClientSession // nil unless it is ready
}

// Set is the servers of a session.
type Set struct {
	servers []*server
	stop    context.CancelFunc
	wait    sync.WaitGroup
}

// Start starts the servers in the background and returns at once. They end with ctx, or with Close.
func Start(ctx context.Context, o Options, definitions []Definition) *Set {
	ctx, stop := context.WithCancel(ctx)
	set := &Set{stop: stop}
	client := newClient()
	for _, d := range definitions {
		s := newServer(o, d, client)
		set.servers = append(set.servers, s)
		if _, err := s.admit(ctx); err != nil { // at once, so that the shortest run tells of it
			s.giveUp(err)
			continue
		}
		s.set(State{Status: starting}, nil)
		set.wait.Go(func() { s.run(ctx) })
	}
	return set
}

// Tools returns the tools of all servers that are ready now, in an order that is always the same.
func (s *Set) Tools() (out []tool.Tool) {
	for _, server := range s.servers {
		out = append(out, server.state().Tools...)
	}
	slices.SortFunc(out, func(a, b tool.Tool) int { return cmp.Compare(a.Spec().Name, b.Spec().Name) })
	return out
}

// States tells how each server is, in the order of their definitions.
func (s *Set) States() (out []State) {
	for _, server := range s.servers {
		out = append(out, server.state())
	}
	return out
}

// Settle waits until no server is starting, at most for limit; the error is ctx's.
func (s *Set) Settle(ctx context.Context, limit time.Duration) error {
	await(ctx, limit, func() bool {
		return !slices.ContainsFunc(s.States(), func(s State) bool { return s.Status == starting })
	})
	return context.Cause(ctx)
}

// Close ends the servers, side by side, and waits for that; a server has a few seconds to end.
func (s *Set) Close() {
	s.stop()
	s.wait.Wait()
}

// await looks again and again whether something has come, until it has, limit is over, or ctx ends.
func await(ctx context.Context, limit time.Duration, come func() bool) bool {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !come() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
