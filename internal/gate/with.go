package gate

import "anchor/internal/event"

// With returns the same gate, what was read through it included, whose events go to sink.
func (g *Gate) With(sink event.Sink) *Gate {
	return &Gate{shared: g.shared, sink: sink, agent: g.agent, seen: g.seen}
}
