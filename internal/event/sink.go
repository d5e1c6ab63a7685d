package event

import "sync"

// Sink takes events in order. It drops none, may be called by several goroutines at once, and may block.
type Sink func(Event)

// Serial makes f a Sink: calls are made one at a time.
func Serial(f func(Event)) Sink {
	var mu sync.Mutex
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		f(e)
	}
}

// Nested returns a sink that wraps every event in [SubAgent] with this agent's id and hands it to parent.
func Nested(parent Sink, agent string) Sink {
	return func(e Event) { parent(SubAgent{Agent: agent, Event: e}) }
}
