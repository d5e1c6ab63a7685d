// Package event is the vocabulary in which the core tells what happens: one type for each row of the events table in
// docs/json.md. The core emits events through a [Sink] and never prints; the faces (terminal, -p, --json, ACP) draw them.
//
// The exported JSON fields of a type, in their order, are the protocol. Fields tagged json:"-" carry what a face in this
// process may need and the protocol does not show.
package event

import (
	"encoding/json"
	"sync"
)

// Event is one thing that happened. The set is closed: only types of this package are events.
type Event interface{ kind() string }

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

// Text is a piece of the model's reply, as it streams.
type Text struct {
	Text string `json:"text"`
}

// ToolStart says that a tool call starts.
type ToolStart struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// Input is the call's arguments, masked. It is shown only with --verbose.
	Input json.RawMessage `json:"-"`
}

// ToolEnd says that a tool call finished. Result is what the model gets, masked.
type ToolEnd struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Result string `json:"result"`
}

// FileChanged says that a file tool wrote a file. Path is relative to the directory (slashes), or absolute outside it.
type FileChanged struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// LoopWarning says that the loop guard warned or stopped the turn.
type LoopWarning struct {
	Message string `json:"message"`
}

// Compacting says that older turns are being summarized, which takes a model request. Before is in tokens.
type Compacting struct {
	Before int `json:"before"`
}

// Kinds of ContextReduced, in the order in which they are tried.
const (
	Trimmed       = "trimmed"
	Compacted     = "compacted"
	RoundsDropped = "rounds_dropped"
)

// ContextReduced says that the context was reduced. Before and After are tokens; Count is how many results, messages or
// rounds were concerned.
type ContextReduced struct {
	Kind   string `json:"kind"`
	Before int    `json:"before"`
	After  int    `json:"after"`
	Count  int    `json:"count"`
}

// Notice is something worth telling the user.
type Notice struct {
	Message string `json:"message"`
	// Refusal is set where the notice tells of an action that was refused because nobody could be asked.
	Refusal *Refusal `json:"-"`
}

// Refusal is an action that would have been asked about and was refused. Allow is the --allow rule that would cover it,
// or empty if none does.
type Refusal struct {
	Tool  string `json:"tool"`
	Title string `json:"title"`
	Allow string `json:"allow"`
}

// Check says that the check command of --until ran. Round counts from 1.
type Check struct {
	Command string `json:"command"`
	Round   int    `json:"round"`
	Passed  bool   `json:"passed"`
	Output  string `json:"output"`
	// Outcome is "passed", "no_changes" or "out_of_rounds" where this check ended the work, empty where it goes on.
	Outcome string `json:"-"`
}

// SubAgent wraps an event of a sub-agent. Agent is its id: the name and a number.
type SubAgent struct {
	Agent string
	Event Event
}

// Usage is the token usage of one turn. Input counts all prompt tokens, Cached those of them read from the cache.
type Usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	Cached int `json:"cached"`
}

// Add returns the sum of two usages.
func (u Usage) Add(o Usage) Usage {
	return Usage{u.Input + o.Input, u.Output + o.Output, u.Cached + o.Cached}
}

// Reasons of TurnEnd.
const (
	Completed   = "completed"
	Cancelled   = "cancelled"
	LoopStopped = "loop_stopped"
	RoundLimit  = "round_limit"
	Failed      = "error"
)

// TurnEnd says that a turn ended. Exactly one comes per turn, after Usage.
type TurnEnd struct {
	Reason string  `json:"reason"`
	Detail *string `json:"detail"`
	// Text is the final answer of a completed turn.
	Text string `json:"-"`
	// Err is set when the reason is "error" and the provider was its cause.
	Err *Fault `json:"-"`
}

// Fault classifies the provider error that ended a turn. Kind is a provider error kind ("auth", "rate", …), Status the
// HTTP status or 0.
type Fault struct {
	Kind      string `json:"kind"`
	Status    int    `json:"status"`
	Retryable bool   `json:"retryable"`
}

// The events below are shown only with --verbose.

// Start comes first.
type Start struct {
	Session   string `json:"session"`
	Model     string `json:"model"`
	Directory string `json:"directory"`
	Version   string `json:"version"`
}

// Thinking is a piece of the model's thinking, as it streams.
type Thinking struct {
	Text string `json:"text"`
}

// Diff is the unified diff of a write, before its FileChanged. ID is the tool call's.
type Diff struct {
	ID   string `json:"id"`
	Path string `json:"path"`
	Diff string `json:"diff"`
}

// Context is the fill of the context window, in tokens.
type Context struct {
	Used   int `json:"used"`
	Window int `json:"window"`
}

// The events below are added by the editor protocol.

// Ready says that input can be taken: at start-up and after each turn.
type Ready struct {
	Session string   `json:"session"`
	Model   string   `json:"model"`
	Tools   []string `json:"tools"`
}

// ApprovalRequest asks for leave. Detail is the diff for writes; Always is the label of the "always" answer, nil if it is
// not offered.
type ApprovalRequest struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Detail string  `json:"detail"`
	Always *string `json:"always"`
}

// Question is a multiple-choice question of the model.
type Question struct {
	ID         string   `json:"id"`
	Text       string   `json:"text"`
	Options    []string `json:"options"`
	AllowOther bool     `json:"allowOther"`
}

// Error says that a request was invalid. Nothing was changed by it.
type Error struct {
	Message string `json:"message"`
}

func (Text) kind() string            { return "text" }
func (ToolStart) kind() string       { return "tool_start" }
func (ToolEnd) kind() string         { return "tool_end" }
func (FileChanged) kind() string     { return "file_changed" }
func (LoopWarning) kind() string     { return "loop_warning" }
func (Compacting) kind() string      { return "compacting" }
func (ContextReduced) kind() string  { return "context_reduced" }
func (Notice) kind() string          { return "notice" }
func (Check) kind() string           { return "check" }
func (SubAgent) kind() string        { return "sub_agent" }
func (Usage) kind() string           { return "usage" }
func (TurnEnd) kind() string         { return "turn_end" }
func (Start) kind() string           { return "start" }
func (Thinking) kind() string        { return "thinking" }
func (Diff) kind() string            { return "diff" }
func (Context) kind() string         { return "context" }
func (Ready) kind() string           { return "ready" }
func (ApprovalRequest) kind() string { return "approval_request" }
func (Question) kind() string        { return "question" }
func (Error) kind() string           { return "error" }
