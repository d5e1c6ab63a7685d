package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"anchor/internal/event"
	"anchor/internal/session"
	"anchor/internal/tool"
)

// Sub-agents are agents with one turn each. They run the same loop behind the same gate, without the tools that start agents or
// ask the user. Four run at once, the others wait in order; none outlives the turn that started it. Their results are notes
// of the main agent's; its turn does not end before they have.

const maxRunning = 4

const childPrompt = `

# Sub-agent
You are a sub-agent: another agent gave you the one task below and gets your last message as the result. Nobody answers questions. Do the task, then report briefly and completely what you found or did.`

// withheld are the tools that sub-agents don't get.
var withheld = []string{"agent", "agent_status", "agent_stop", "ask_user"}

// The states of a sub-agent.
const (
	waiting = "waiting"
	running = "running"
	done    = "done"
	failed  = "failed"
	stopped = "stopped"
)

// child is one sub-agent.
type child struct {
	id, task string
	agent    *Agent
	state    string
	result   string // what the main agent is told
	told     bool
	stop     context.CancelFunc
}

func (c *child) busy() bool { return c.state == waiting || c.state == running }
func (c *child) news() bool { return !c.busy() && !c.told }

// crew is the sub-agents of an agent. It is the Spawner of its calls. A nil crew is empty.
type crew struct {
	parent *Agent
	work   sync.WaitGroup

	mu      sync.Mutex
	turn    context.Context // of the running turn; nil between turns
	number  int
	all     []*child
	changed chan struct{} // closed and replaced when one ends
}

// resume goes on counting where an earlier run ended.
func (c *crew) resume(p *session.Past) {
	for _, e := range p.Entries {
		if m, ok := e.(session.Message); ok {
			n, _ := strconv.Atoi(m.Agent[strings.LastIndexByte(m.Agent, '-')+1:])
			c.number = max(c.number, n)
		}
	}
}

// open lets agents be started in a turn.
func (c *crew) open(turn context.Context) {
	if c != nil {
		c.mu.Lock()
		c.turn = turn
		c.mu.Unlock()
	}
}

// close stops all agents and waits for them; they end as their calls do when cancelled.
func (c *crew) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.turn = nil
	for _, ch := range c.all {
		c.halt(ch, "was stopped: the turn ended before it was done")
	}
	c.mu.Unlock()
	c.work.Wait()
}

// halt makes a child's end final, if it has not ended. The lock is held.
func (c *crew) halt(ch *child, how string) {
	if !ch.busy() {
		return
	}
	started := ch.state == running
	ch.state, ch.result = stopped, ch.id+" "+how
	if started {
		ch.stop()
	}
	ch.agent = nil
	c.signal()
}

// signal wakes all that wait for an end. The lock is held.
func (c *crew) signal() {
	close(c.changed)
	c.changed = make(chan struct{})
	c.parent.poke()
}

// Start starts an agent for one task in the background and returns its id.
func (c *crew) Start(ctx context.Context, task, name, model string) (string, error) {
	if blank(task) {
		return "", errors.New("the task is empty: say what the agent is to do")
	}
	def, err := c.parent.definition(name)
	if err != nil {
		return "", err
	}
	m, err := c.parent.modelFor(cmp.Or(model, def.Model))
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turn == nil || c.turn.Err() != nil {
		return "", errors.New("the turn is over: no agent can be started")
	}
	c.number++
	ch := &child{id: fmt.Sprintf("%s-%d", def.Name, c.number), task: task, state: waiting}
	ch.agent = c.parent.child(ch.id, def, m)
	c.all = append(c.all, ch)
	c.next()
	return ch.id, nil
}

// definition finds a named agent. Without a name it is the general one.
func (a *Agent) definition(name string) (Definition, error) {
	known := "none is defined"
	for _, d := range a.o.Definitions {
		if d.Name == name {
			return d, nil
		}
		known = strings.TrimPrefix(known+", "+d.Name, "none is defined, ")
	}
	if name == "" || name == "agent" {
		return Definition{Name: "agent"}, nil
	}
	return Definition{}, fmt.Errorf("there is no agent %q. There are: %s; or leave the name out", name, known)
}

// modelFor finds a model by its name; without one it is the agent's own.
func (a *Agent) modelFor(name string) (Model, error) {
	switch {
	case name == "" || name == a.model.Name:
		return a.model, nil
	case a.o.Resolve == nil:
		return Model{}, fmt.Errorf("no model %q: another model can't be used here", name)
	}
	return a.o.Resolve(name)
}

// child returns the agent for a task: fresh, with the same gate, log and skills and the tools it may have.
func (a *Agent) child(id string, def Definition, m Model) *Agent {
	o := a.o
	narrow := func(tools []tool.Tool) []tool.Tool {
		return slices.DeleteFunc(slices.Clone(tools), func(t tool.Tool) bool {
			name := t.Spec().Name
			return slices.Contains(withheld, name) || def.Tools != nil && !slices.Contains(def.Tools, name)
		})
	}
	o.Tools = narrow(a.o.Tools)
	if a.o.More != nil {
		o.More = func() []tool.Tool { return narrow(a.o.More()) }
	}
	o.Model, o.Past, o.Asker, o.Definitions = m, nil, nil, nil
	o.Sink = event.Nested(a.emit, id)
	o.Gate = a.o.Gate.For(o.Sink, id)
	o.System += childPrompt
	if def.Prompt != "" {
		o.System += "\n\n" + def.Prompt
	}
	return newAgent(o, id, a.unlogged)
}

// next starts those whose turn it is. The lock is held.
func (c *crew) next() {
	n := 0
	for _, ch := range c.all {
		if ch.state == running {
			n++
		}
	}
	for _, ch := range c.all {
		if ch.state == waiting && n < maxRunning && c.turn != nil {
			n++
			ch.state = running
			var ctx context.Context
			ctx, ch.stop = context.WithCancel(c.turn)
			agent := ch.agent
			c.work.Go(func() { c.ended(ch, agent.Turn(ctx, Input{Text: ch.task})) })
		}
	}
}

// ended takes in how a child's turn ended.
func (c *crew) ended(ch *child, end event.TurnEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch.stop()
	if ch.busy() {
		ch.agent = nil
		switch {
		case end.Reason == event.Completed:
			ch.state, ch.result = done, "Result of sub-agent "+ch.id+":\n"+end.Text
		case end.Reason == event.Cancelled:
			ch.state, ch.result = stopped, ch.id+" was stopped before it was done"
		default:
			ch.state, ch.result = failed, fmt.Sprintf("Sub-agent %s ended without a result: %s", ch.id, end.Reason)
			if end.Detail != nil {
				ch.result += ": " + *end.Detail
			}
		}
		c.signal()
	}
	c.next()
}

// results returns what ended agents have to tell, each once.
func (c *crew) results() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, ch := range c.all {
		if ch.news() {
			ch.told = true
			out = append(out, ch.result)
		}
	}
	return out
}

// pending says whether an agent has ended that has not been told of, and whether one has not ended.
func (c *crew) pending() (news, busy bool) {
	if c == nil {
		return false, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.all, (*child).news), slices.ContainsFunc(c.all, (*child).busy)
}

// find returns the agent with this id, all for an empty one. The lock is held.
func (c *crew) find(id string) ([]*child, error) {
	if id == "" {
		return c.all, nil
	}
	known := "none was started"
	for _, ch := range c.all {
		if ch.id == id {
			return []*child{ch}, nil
		}
		known = strings.TrimPrefix(known+", "+ch.id, "none was started, ")
	}
	return nil, fmt.Errorf("there is no agent %q. There are: %s", id, known)
}

// Status describes one agent, or all. With wait it waits until that agent (any) ends, or ctx does.
func (c *crew) Status(ctx context.Context, id string, wait bool) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of, err := c.find(id)
	if err != nil {
		return "", err
	}
	if len(of) == 0 {
		return "No agent was started.", nil
	}
	for wait && !slices.ContainsFunc(of, (*child).news) && slices.ContainsFunc(of, (*child).busy) {
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		c.mu.Lock()
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	var out strings.Builder
	for _, ch := range of {
		fmt.Fprintf(&out, "%s: %s", ch.id, ch.state)
		if ch.news() {
			out.WriteString("; what it has to tell comes with the next message")
		}
		fmt.Fprintf(&out, " (task: %s)\n", shorten(oneLine(ch.task), 200))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// Stop stops an agent for good and returns what became of it.
func (c *crew) Stop(ctx context.Context, id string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id == "" {
		return "", errors.New("say which agent to stop, by its id")
	}
	of, err := c.find(id)
	if err != nil {
		return "", err
	}
	ch := of[0]
	if !ch.busy() {
		return fmt.Sprintf("%s had already ended: %s.", id, ch.state), nil
	}
	c.halt(ch, "was stopped")
	ch.told = true
	return id + " was stopped. What it did until then stays.", nil
}
