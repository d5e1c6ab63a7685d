package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"anchor/internal/event"
	"anchor/internal/msg"
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

// child is one sub-agent. Its state is waiting, running, or the reason of its turn's end.
type child struct {
	id, task, state string
	run             func(context.Context) event.TurnEnd
	stop            context.CancelFunc // nil before it runs
}

const waiting, running = "waiting", "running"

func (c *child) busy() bool { return c.state == waiting || c.state == running }

// crew is the sub-agents of an agent: the Spawner of its calls. What changes in it is guarded by the agent's lock.
type crew struct {
	parent *Agent
	work   sync.WaitGroup
	turn   context.Context // of the running turn
	number int             // of the last one
	all    []*child
}

// close stops all agents and waits for them; they end as their calls do when cancelled. One that was just ending keeps its own end.
func (c *crew) close() {
	c.parent.mu.Lock()
	for _, ch := range c.all {
		if ch.state == waiting {
			c.finish(ch, event.TurnEnd{Reason: event.Cancelled})
		} else if ch.stop != nil {
			ch.stop()
		}
	}
	c.parent.mu.Unlock()
	c.work.Wait()
}

// finish makes a child's end final and tells the main agent, if it has not ended. The lock is held.
func (c *crew) finish(ch *child, end event.TurnEnd) {
	if !ch.busy() {
		return
	}
	if ch.state = end.Reason; ch.stop != nil {
		ch.stop()
	}
	note := "Result of sub-agent " + ch.id + ":\n" + end.Text
	if end.Reason != event.Completed {
		note = fmt.Sprintf("Sub-agent %s ended without a result: %s. %s", ch.id, end.Reason, detail(end))
	}
	c.parent.queue = append(c.parent.queue, &msg.Note{Text: note})
	c.parent.changed.Broadcast()
}

// Start starts an agent for one task in the background and returns its id.
func (c *crew) Start(_ context.Context, task, name, model string) (string, error) {
	known := append(slices.Clip(c.parent.o.Definitions), Definition{Name: "agent"}) // the general one
	def, err := named("agent", cmp.Or(name, "agent"), known, func(d Definition) string { return d.Name })
	if err != nil {
		return "", err
	}
	m := c.parent.model
	if model = cmp.Or(model, def.Model); model != "" && model != m.Name {
		if m, err = c.parent.o.Resolve(model); err != nil {
			return "", err
		}
	}
	c.parent.mu.Lock()
	defer c.parent.mu.Unlock()
	c.number++
	ch := &child{id: fmt.Sprintf("%s-%d", def.Name, c.number), task: task, state: waiting}
	ch.run = func(ctx context.Context) event.TurnEnd {
		return c.parent.child(ch.id, def, m).Work(ctx, Input{Text: task}, Until{})
	}
	c.all = append(c.all, ch)
	c.next()
	return ch.id, nil
}

// child returns the agent for a task: fresh, with the same gate, log and skills and the tools it may have.
func (a *Agent) child(id string, def Definition, m Model) *Agent {
	o := a.o
	o.Tools, o.More = nil, func() []tool.Tool {
		return slices.DeleteFunc(a.tools(), func(t tool.Tool) bool {
			name := t.Spec().Name
			return slices.Contains(withheld, name) || def.Tools != nil && !slices.Contains(def.Tools, name)
		})
	}
	o.id, o.Model, o.Past, o.Asker, o.Definitions = id, m, nil, nil, nil
	o.Sink = event.Nested(a.emit, id)
	o.Gate = a.o.Gate.For(o.Sink, id)
	o.System += childPrompt
	if def.Prompt != "" {
		o.System += "\n\n" + def.Prompt
	}
	return New(o)
}

// next starts those whose turn it is. The lock is held.
func (c *crew) next() {
	n := 0
	for _, ch := range c.all {
		if ch.state == waiting && n < maxRunning {
			var ctx context.Context
			ctx, ch.stop = context.WithCancel(c.turn)
			ch.state = running
			c.work.Go(func() {
				end := ch.run(ctx)
				c.parent.mu.Lock()
				defer c.parent.mu.Unlock()
				c.finish(ch, end)
				c.next()
			})
		}
		if ch.state == running {
			n++
		}
	}
}

// find returns the agent with this id. The lock is held.
func (c *crew) find(id string) (*child, error) {
	return named("agent", id, c.all, func(ch *child) string { return ch.id })
}

func busy(list []*child) bool { return slices.ContainsFunc(list, (*child).busy) }

// Status describes one agent, or all. With wait it waits until that agent ends (for all: until one has news), or ctx does.
func (c *crew) Status(ctx context.Context, id string, wait bool) (text string, err error) {
	c.parent.mu.Lock()
	defer c.parent.mu.Unlock()
	of := c.all
	if id != "" {
		ch, err := c.find(id)
		if err != nil {
			return "", err
		}
		of = []*child{ch}
	}
	err = c.parent.await(ctx, func() bool { return !wait || !busy(of) || id == "" && len(c.parent.queue) > 0 })
	for _, ch := range of {
		text += fmt.Sprintf("%s: %s (task: %s)\n", ch.id, ch.state, oneLine(ch.task, 200))
	}
	return cmp.Or(strings.TrimSpace(text), "No agent was started."), err
}

// Stop stops an agent for good and returns what became of it.
func (c *crew) Stop(_ context.Context, id string) (string, error) {
	c.parent.mu.Lock()
	defer c.parent.mu.Unlock()
	ch, err := c.find(id)
	if err != nil {
		return "", err
	}
	if !ch.busy() {
		return fmt.Sprintf("%s had already ended: %s.", id, ch.state), nil
	}
	c.finish(ch, event.TurnEnd{Reason: event.Cancelled})
	return id + " was stopped. What it did until then stays.", nil
}
