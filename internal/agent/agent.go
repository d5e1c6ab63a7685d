// Package agent is the turn loop: it asks the model, runs the calls through the gate, keeps the conversation valid and
// within its window, and says what happens as events. Sub-agents run the same loop.
package agent

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	CompactAt   float64 // share of the window, 0: 0.8
	Asker       tool.Asker
	Skills      tool.Skills
	Definitions []Definition
}

// Input is what starts a turn.
type Input struct {
	Text   string
	Images []msg.Image
}

func (in Input) message() msg.Message { return &msg.User{Text: in.Text, Images: in.Images} }

func (in Input) blank() bool { return blank(in.Text) && len(in.Images) == 0 }

// Agent runs turns, one at a time. Only Queue, SetModel, ToolNames and Close may be called while one runs.
type Agent struct {
	o        Options
	id       string // a sub-agent's, empty for the main agent
	emit     event.Sink
	gate     *gate.Gate
	crew     *crew // nil in a sub-agent
	unlogged *sync.Once

	list  []entry         // the context, in order
	ids   map[string]bool // of all calls in it
	gauge gauge
	full  int // up to this fill, over the limit, nothing more can be reduced

	model    Model // asked now
	provider provider.Provider
	specs    []msg.Spec
	byName   map[string]tool.Tool
	fixed    int // estimate of system prompt and tool definitions

	usage     event.Usage // of the running turn
	summaries int         // summary requests in it
	changed   atomic.Bool // a file tool wrote since this was last cleared
	wake      chan struct{}

	mu      sync.Mutex
	next    *Model // to be asked from the next request, nil for no change
	running bool
	queue   []Input
}

// New returns an agent.
func New(o Options) *Agent {
	a := newAgent(o, "", new(sync.Once))
	a.crew = &crew{parent: a, changed: make(chan struct{})}
	if o.Past != nil {
		a.resume(o.Past)
	}
	return a
}

func newAgent(o Options, id string, unlogged *sync.Once) *Agent {
	if o.Sink == nil {
		o.Sink = func(event.Event) {}
	}
	a := &Agent{o: o, id: id, emit: o.Sink, unlogged: unlogged, wake: make(chan struct{}, 1), next: &o.Model}
	a.gate = o.Gate.With(func(e event.Event) {
		if _, ok := e.(event.FileChanged); ok {
			a.changed.Store(true)
		}
		a.emit(e)
	})
	a.prepare()
	return a
}

// resume takes over the context of an earlier run. Calls that a crash left without a result get one, in the log too.
func (a *Agent) resume(p *session.Past) {
	calls := map[string]msg.Call{}
	counted := 0
	for i, v := range p.View {
		e := newEntry(v.Message, v.Seq)
		switch m := v.Message.(type) {
		case *msg.Assistant:
			counted = i + 1
			for _, c := range m.Calls() {
				calls[c.ID] = c
			}
		case *msg.Tool:
			if v.Trimmed {
				e = e.stub(calls[m.CallID])
			}
		}
		a.list = append(a.list, e)
	}
	if p.Fill > 0 {
		a.gauge.counted(p.Fill, a.fixed+sizes(a.list[:counted]))
	}
	a.prepare()
	for i := len(a.list) - 1; i >= 0 && a.list[i].seq == 0; i-- {
		a.list[i].seq = a.log(a.list[i].m)
	}
	a.crew.resume(p)
}

// prepare makes the agent ready to ask: the model and the tools there are now, and a valid list.
func (a *Agent) prepare() {
	a.mu.Lock()
	next := a.next
	a.next = nil
	a.mu.Unlock()
	if next != nil {
		a.model, a.provider, a.full = *next, next.Open(), 0
		a.gauge.window = cmp.Or(next.Info.Window, assumedWindow)
	}
	n := len(a.o.System)
	a.specs, a.byName = nil, map[string]tool.Tool{}
	for _, t := range a.tools() {
		s := t.Spec().Spec
		a.specs, a.byName[s.Name] = append(a.specs, s), t
		n += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	a.fixed = n / 4
	a.list, a.ids = mend(a.list, a.model)
}

func (a *Agent) tools() []tool.Tool {
	if a.o.More == nil {
		return a.o.Tools
	}
	return slices.Concat(a.o.Tools, a.o.More())
}

// ToolNames returns the names of the tools in the order in which the model sees them.
func (a *Agent) ToolNames() []string {
	var out []string
	for _, t := range a.tools() {
		out = append(out, t.Spec().Name)
	}
	return out
}

// SetModel goes on with another model from the next request.
func (a *Agent) SetModel(m Model) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = &m
}

// Queue hands a message of the user's to the running turn: it goes out with the next model request, of the
// next turn if this one ends first. False if no turn runs.
func (a *Agent) Queue(in Input) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.running || in.blank() {
		return false
	}
	a.queue = append(a.queue, in)
	a.poke()
	return true
}

// poke wakes a turn that waits for its sub-agents.
func (a *Agent) poke() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *Agent) queued() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.queue) > 0
}

// join takes in what came from outside since the last request: results of sub-agents, the user's queued messages.
func (a *Agent) join() {
	for _, text := range a.crew.results() {
		a.add(&msg.Note{Text: shorten(a.gate.Mask(text), a.bytes(a.gauge.window/4))})
	}
	a.mu.Lock()
	queue := a.queue
	a.queue = nil
	a.mu.Unlock()
	for _, in := range queue {
		a.add(in.message())
	}
}

// run marks the time in which messages are queued.
func (a *Agent) run(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running = on
}

// add appends a message to the log, then to the context.
func (a *Agent) add(m msg.Message) { a.list = append(a.list, newEntry(m, a.log(m))) }

// log appends a message to the session and returns its number, 0 if there is none.
func (a *Agent) log(m msg.Message) (seq int) {
	if a.o.Log != nil {
		var err error
		seq, err = a.o.Log.Message(a.id, m)
		a.lost(err)
	}
	return seq
}

// record appends another entry to the session.
func (a *Agent) record(e session.Entry) {
	if a.o.Log != nil {
		a.lost(a.o.Log.Append(e))
	}
}

// lost says once that the session can't be written. The work goes on.
func (a *Agent) lost(err error) {
	if err != nil {
		a.unlogged.Do(func() {
			a.notice("the session can't be written any more, the work goes on without it: " + oneLine(err.Error()))
		})
	}
}

func (a *Agent) notice(text string) { a.emit(event.Notice{Message: text}) }

// Close stops all sub-agents and waits for them.
func (a *Agent) Close() { a.crew.close() }

// TimeoutError is the cause of a context that --timeout ended.
type TimeoutError struct{ After string }

func (e *TimeoutError) Error() string { return "timed out after " + e.After }

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// oneLine makes an error's text one line of bounded length.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 800 {
		s = strings.ToValidUTF8(s[:800], "") + "…"
	}
	return s
}
