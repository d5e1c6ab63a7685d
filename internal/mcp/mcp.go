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
	Name, Source string // Source is the file that defines it
	Status       string // starting, ready, waiting, failed, untrusted, disabled, "sign in"
	Error        string // what went wrong last, masked; may be of earlier than Status
	Tools        []string
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
	legal := legalServers(definitions)
	transport := newTransport()
	for _, d := range definitions {
		s := newServer(o, d, legal[d.Name], transport)
		set.servers = append(set.servers, s)
		if _, err := s.admit(ctx); err != nil { // at once, so that the shortest run tells of it
			s.giveUp(err)
			continue
		}
		s.set(starting, nil)
		set.wait.Go(func() { s.run(ctx) })
	}
	return set
}

// Tools returns the tools of all servers that are ready now, in an order that is always the same.
func (s *Set) Tools() (out []tool.Tool) {
	for _, server := range s.servers {
		out = append(out, server.tools()...)
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

// Settled says whether no server is still starting.
func (s *Set) Settled() bool {
	return !slices.ContainsFunc(s.States(), func(s State) bool { return s.Status == starting })
}

// Close ends the servers, side by side, and waits for that; a server has a few seconds to end.
func (s *Set) Close() {
	s.stop()
	s.wait.Wait()
}
