// Package tool is the contract of a tool: what the model is told of it, how it is run, what comes back. Tools are values
// without state and get all they may touch per call, in [Env], so that one list serves the agent and its sub-agents.
package tool

import (
	"context"
	"encoding/json"

	"anchor/internal/gate"
	"anchor/internal/msg"
)

// Tool is one tool. Its methods may be called by several goroutines at once.
type Tool interface {
	// Spec is what the model is told. It does not change while a session runs.
	Spec() Spec
	// Summary is one short line about a call, for the user: the path, the command. args may be anything.
	Summary(args json.RawMessage) string
	// Run carries out a call. args is valid JSON but need not fit the schema. A wrong call, a refusal and a failure of the
	// work are results that the model gets; an error says that ctx ended, or that the harness is broken.
	Run(ctx context.Context, env Env, args json.RawMessage) (Result, error)
}

// Spec is a tool's definition. Parallel tools only read: adjacent calls of them may run side by side. Uncounted calls are
// left out of the loop guard's count of identical calls.
type Spec struct {
	msg.Spec
	Parallel, Uncounted bool
}

// Env is what a call may use.
type Env struct {
	CallID string
	Gate   *gate.Gate
	// These are nil where they are not offered; the tools that need them are then not either.
	Asker   Asker
	Spawner Spawner
	Skills  Skills
}

// Outcome says how a call went.
type Outcome uint8

// Failed: the call was wrong, refused, or did not work; the loop guard counts it. Exited: a command ran and exited
// non-zero; not ok, but an answer. The zero outcome is Failed.
const (
	Failed Outcome = iota
	OK
	Exited
)

// Result is what the model gets. Text need not be masked or bounded by the tool beyond its own limits: the loop masks it,
// and shortens what is over a quarter of the window.
type Result struct {
	Outcome Outcome
	Text    string
	Images  []msg.Image
}

// Fail returns the result of a call that failed; text says what was wrong and what to do next.
func Fail(text string) Result { return Result{Outcome: Failed, Text: text} }

// Done returns the result of a call that worked.
func Done(text string) Result { return Result{Outcome: OK, Text: text} }

// Asker puts a question of the model to the user.
type Asker interface {
	// Ask waits for the answer. ok is false if the user dismissed the question.
	Ask(ctx context.Context, q Question) (answer string, ok bool, err error)
}

// Question is a multiple-choice question. With AllowOther any other text is an answer too. Call is the id of the call that asks.
type Question struct {
	Text, Call string
	Options    []string
	AllowOther bool
}

// Spawner starts and follows sub-agents.
type Spawner interface {
	// Start starts an agent for one task in the background and returns its id. An error is the call's fault (no such
	// definition, no such model).
	Start(ctx context.Context, task, agent, model string) (id string, err error)
	// Status describes one agent, or all for an empty id. With wait it waits until that agent (any, for an empty id) ends.
	Status(ctx context.Context, id string, wait bool) (string, error)
	// Stop stops an agent and returns what became of it.
	Stop(ctx context.Context, id string) (string, error)
}

// Skills loads skills by name.
type Skills interface {
	// Load returns the body of a skill and where its files are. An error names the skills that exist.
	Load(ctx context.Context, name string) (string, error)
}
