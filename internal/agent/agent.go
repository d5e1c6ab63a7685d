// Package agent is the turn loop: it asks the model, runs the calls through the gate, keeps the conversation valid and
// within its window, and says what happens as events. Sub-agents run the same loop.
package agent

import (
	"context"
	"encoding/json"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/model"
	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/session"
	"anchor/internal/tool"
)

// Model is a model that can be asked: who serves it, its name there, what is known of it. Open makes a provider value for one conversation,
// with retry around it.
type Model struct {
	Provider string
	Name     string
	Info     model.Info
	Open     func() provider.Provider
}

// Definition is a named sub-agent.
type Definition struct {
	Name, Description, Prompt, Model string
	Tools                            []string // nil: all
}

// Options make an Agent.
type Options struct {
	Model Model
	// Resolve finds the model a sub-agent or /model names.
	Resolve func(name string) (Model, error)
	// Tools are the built-in tools in the order of the list; More returns those that came later (MCP), asked before each request.
	Tools []tool.Tool
	More  func() []tool.Tool
	Gate  *gate.Gate
	// Log keeps the session; nil for none. Past is what it held when it was resumed.
	Log  *session.Log
	Past *session.Past
	Sink event.Sink
	// System is the system prompt, whole.
	System      string
	Effort      string
	MaxRounds   int     // model requests per turn, 0: no cap
	CompactAt   float64 // share of the window
	Asker       tool.Asker
	Skills      tool.Skills
	Definitions []Definition
}

// Input is what starts a turn.
type Input struct {
	Text   string
	Images []msg.Image
}

// Until is the check that decides when work is done.
type Until struct {
	Command string
	Rounds  int
	Protect []string
}

// Agent runs turns, one at a time.
type Agent struct{}

// New returns an agent. The gate's events must go to the same sink.
func New(o Options) *Agent { panic("not built") }

// Turn runs one turn to its end and returns the TurnEnd that it emitted. A cancelled ctx ends it with "cancelled", and the
// text of context.Cause as detail where that is a [TimeoutError].
func (a *Agent) Turn(ctx context.Context, in Input) event.TurnEnd { panic("not built") }

// Work runs a turn, then the check, and goes on until the check passes, nothing changes any more, the rounds are used up
// or a turn ends in another way than completed. The last Check event has the outcome.
func (a *Agent) Work(ctx context.Context, in Input, u Until) event.TurnEnd { panic("not built") }

// Queue hands a message of the user's to the running turn: it goes out with the next model request. False if no turn runs.
func (a *Agent) Queue(in Input) bool { panic("not built") }

// Compact summarizes by hand; focus may be empty. The error says why it did not work.
func (a *Agent) Compact(ctx context.Context, focus string) error { panic("not built") }

// SetModel goes on with another model from the next request.
func (a *Agent) SetModel(m Model) { panic("not built") }

// ToolNames returns the names of the tools in the order in which the model sees them.
func (a *Agent) ToolNames() []string { panic("not built") }

// Close stops all sub-agents and waits for them.
func (a *Agent) Close() { panic("not built") }

// TimeoutError is the cause of a context that --timeout ended.
type TimeoutError struct{ After string }

func (e *TimeoutError) Error() string { return "timed out after " + e.After }

var _ = json.Valid
