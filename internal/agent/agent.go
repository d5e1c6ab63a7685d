// Package agent is the turn loop: it asks the model, runs the calls, keeps the conversation valid and within its window.
package agent

import (
	"cmp"
	"context"
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

// Model is a model that can be asked. Open makes a provider value for one conversation, with retry around it.
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
	Model       Model
	Resolve     func(name string) (Model, error) // finds the model that a sub-agent names
	Tools       []tool.Tool                      // the built-in ones, in the order of the list
	More        func() []tool.Tool               // those that came later (MCP), asked before each request; may be nil
	Gate        *gate.Gate
	Log         *session.Log  // nil: the session is not kept
	Past        *session.Past // what Log held when it was resumed, or nil
	Sink        event.Sink
	System      string // the system prompt, whole
	Effort      string
	MaxRounds   int     // model requests per turn, 0: no cap
	CompactAt   float64 // share of the window, 0: 0.8
	Asker       tool.Asker
	Skills      tool.Skills
	Definitions []Definition

	id       string     // a sub-agent's, empty for the main agent
	unlogged *sync.Once // tells that the log can't be written
}

// Input is what starts a turn.
type Input = msg.User

// Agent runs turns, one at a time. Only Queue, Withdraw, SetModel and ToolNames may be called while one runs.
type Agent struct {
	o    Options
	emit event.Sink
	gate *gate.Gate

	list []entry // the context, in order
	gauge

	model    Model // asked now
	provider provider.Provider
	specs    []msg.Spec
	offered  []tool.Tool
	fixed    int // estimate of system prompt and tool definitions

	usage     event.Usage // of the running turn
	summaries int         // summary requests in it
	wrote     atomic.Bool // a file tool wrote since this was last cleared

	next    atomic.Pointer[Model] // to be asked from the next request, nil for no change
	running atomic.Bool

	mu      sync.Mutex // guards what is below
	changed *sync.Cond // the queue, or a sub-agent's state
	crew    crew
	queue   []msg.Message // what the next request takes in
}

// New returns an agent.
func New(o Options) *Agent {
	if o.unlogged == nil {
		o.unlogged = new(sync.Once)
	}
	a := &Agent{o: o, emit: o.Sink}
	a.SetModel(o.Model)
	a.changed, a.crew.parent = sync.NewCond(&a.mu), a
	a.gate = o.Gate.With(func(e event.Event) {
		if _, ok := e.(event.FileChanged); ok {
			a.wrote.Store(true)
		}
		a.emit(e)
	})
	a.prepare()
	if o.Past != nil {
		a.resume(o.Past)
	}
	return a
}

// resume takes over the context of an earlier run. Calls that a crash left without a result get one, in the log too.
func (a *Agent) resume(p *session.Past) {
	estimate := a.fixed
	for _, v := range p.View {
		e := newEntry(v.Message, v.Seq)
		if v.Trimmed {
			e = e.stub()
		}
		a.list, estimate = append(a.list, e), estimate+e.size
		if isReply(e) && p.Fill > 0 {
			a.counted(p.Fill, estimate)
		}
	}
	a.prepare()
	for i := len(a.list) - 1; i >= 0 && a.list[i].seq == 0; i-- {
		a.list[i] = a.logged(a.list[i].m)
	}
	a.crew.number = p.Agents // sub-agents are counted on
}

// prepare makes the agent ready to ask: the model and the tools there are now, and a valid list.
func (a *Agent) prepare() {
	if next := a.next.Swap(nil); next != nil {
		a.model, a.provider = *next, next.Open()
		a.window = cmp.Or(next.Info.Window, assumedWindow)
	}
	n := len(a.o.System)
	a.specs, a.offered = nil, a.tools()
	for _, t := range a.offered {
		s := t.Spec().Spec
		a.specs = append(a.specs, s)
		n += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	a.fixed = n / 4
	a.list = mend(a.list, a.model)
}

// tools are those there are now, in a list of the caller's own.
func (a *Agent) tools() []tool.Tool {
	var more []tool.Tool
	if a.o.More != nil {
		more = a.o.More()
	}
	return slices.Concat(a.o.Tools, more)
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
func (a *Agent) SetModel(m Model) { a.next.Store(&m) }

// Queue hands a message of the user's to the running turn, for its next model request or the next turn's. False if none runs.
func (a *Agent) Queue(in Input) bool {
	if !a.running.Load() || !says(&in) {
		return false
	}
	a.push(&in)
	return true
}

// push queues a message for the next request.
func (a *Agent) push(m msg.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = append(a.queue, m)
	a.changed.Broadcast()
}

// Withdraw takes back the user's messages that are queued still, as one text.
func (a *Agent) Withdraw() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var texts []string
	a.queue = slices.DeleteFunc(a.queue, func(m msg.Message) bool {
		u, ok := m.(*msg.User)
		if ok {
			texts = append(texts, u.Text)
		}
		return ok
	})
	return strings.Join(texts, "\n")
}

func (a *Agent) queued() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.queue) > 0
}

// await waits until it is ready, which may change with the queue or a sub-agent's state, or ctx ends. The lock is held.
func (a *Agent) await(ctx context.Context, ready func() bool) error {
	defer context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.changed.Broadcast()
	})()
	for !ready() {
		if err := ctx.Err(); err != nil {
			return err
		}
		a.changed.Wait()
	}
	return nil
}

// join takes in what was queued since the last request: the user's messages, and notes.
func (a *Agent) join() {
	a.mu.Lock()
	queue := a.queue
	a.queue = nil
	a.mu.Unlock()
	for _, m := range queue {
		if note, ok := m.(*msg.Note); ok {
			m = &msg.Note{Text: shorten(a.gate.Mask(note.Text), a.bytes(a.window/4))}
		}
		a.add(m)
	}
}

// add appends a message to the log, then to the context.
func (a *Agent) add(m msg.Message) { a.list = append(a.list, a.logged(m)) }

// logged writes a message to the session and returns its entry.
func (a *Agent) logged(m msg.Message) entry {
	seq := 0
	a.write(func(l *session.Log) (err error) {
		seq, err = l.Message(a.o.id, m)
		return err
	})
	return newEntry(m, seq)
}

// record writes another entry to the session.
func (a *Agent) record(e session.Entry) { a.write(func(l *session.Log) error { return l.Append(e) }) }

// write writes to the session, if there is one. That it can't be written is said once; the work goes on.
func (a *Agent) write(to func(*session.Log) error) {
	if a.o.Log == nil {
		return
	}
	if err := to(a.o.Log); err != nil {
		a.o.unlogged.Do(func() {
			a.notice("the session can't be written any more, the work goes on without it: " + oneLine(err.Error(), maxDetail))
		})
	}
}

// notice tells the user something; a server may have been quoted in it.
func (a *Agent) notice(text string) { a.emit(event.Notice{Message: a.gate.Mask(text)}) }

// TimeoutError is the cause of a context that --timeout ended.
type TimeoutError struct{ After string }

func (e *TimeoutError) Error() string { return "timed out after " + e.After }

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// maxDetail is how many bytes of an error's text are shown.
const maxDetail = 800

// oneLine makes a text one line of at most limit bytes.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}
