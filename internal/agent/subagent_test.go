package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"anchor/internal/event"
	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/session"
)

func agent(task string) msg.Call { return call("agent", map[string]any{"task": task}) }

// nested returns what the sub-agents told, by id.
func (w *world) nested() map[string][]event.Event {
	out := map[string][]event.Event{}
	for _, e := range of[event.SubAgent](w) {
		out[e.Agent] = append(out[e.Agent], e.Event)
	}
	return out
}

func (w *world) total() (u event.Usage) {
	for _, e := range of[event.Usage](w) {
		u = u.Add(e)
	}
	for _, e := range of[event.SubAgent](w) {
		if inner, ok := e.Event.(event.Usage); ok {
			u = u.Add(inner)
		}
	}
	return u
}

func TestSubAgent(t *testing.T) {
	w := start(t, []reply{do(agent("SUB count files")), say("It runs."), say("Two files.")})
	hold := make(chan struct{})
	w.script.replies[1].see = func(provider.Request) { close(hold) }
	w.script.routes["SUB"] = []reply{{calls: []msg.Call{shell("echo 2 > made"), read("made")}, see: func(provider.Request) { <-hold }}, say("There are 2 files.")}
	end := w.say("go")
	w.want(end, event.Completed, "")
	if end.Text != "Two files." {
		t.Errorf("%+v", end)
	}
	contains(t, w.last(), "Result of sub-agent agent-1:", "There are 2 files.", "It runs.")
	told := w.nested()["agent-1"]
	if len(told) == 0 || len(w.nested()) != 1 {
		t.Fatalf("%v", w.nested())
	}
	if _, ok := told[len(told)-1].(event.TurnEnd); !ok {
		t.Errorf("the last is %T", told[len(told)-1])
	}
	for _, r := range w.script.requests {
		if !strings.Contains(texts(r), `"SUB count files"}`) || len(r.Messages) > 1 && strings.Contains(show(r.Messages[0]), "go") {
			continue
		}
		for _, s := range r.Tools {
			if slices.Contains(withheld, s.Name) {
				t.Errorf("it was offered %s", s.Name)
			}
		}
		contains(t, r.System, "You are a sub-agent")
	}
}

func TestNamedSubAgents(t *testing.T) {
	w := start(t, []reply{
		do(call("agent", map[string]any{"task": "SUB1", "agent": "reviewer"}), call("agent", map[string]any{"task": "SUB2", "model": "big"}), call("agent", map[string]any{"task": "x", "agent": "nobody"})),
		do(shell("true"), call("agent", map[string]any{"task": "x", "model": "none"}), shell("true")),
		say("wait"), say("done"), say("done")},
		func(o *Options) {
			o.Definitions = []Definition{{Name: "reviewer", Prompt: "You review.", Tools: []string{"read", "agent"}}}
			m := o.Model
			o.Resolve = func(name string) (Model, error) {
				if name == "none" {
					return Model{}, errors.New("no such model: none")
				}
				m.Name = name
				return m, nil
			}
		})
	w.script.loop = true
	w.script.routes["SUB1"], w.script.routes["SUB2"] = []reply{say("fine")}, []reply{say("big")}
	w.want(w.say("go"), event.Completed, "")
	if n := w.nested(); n["reviewer-1"] == nil || n["agent-2"] == nil || len(n) != 2 {
		t.Errorf("%v", n)
	}
	for _, r := range w.script.requests {
		switch first := show(r.Messages[0]); {
		case strings.Contains(first, "SUB1"):
			contains(t, r.System, "You review.")
			if len(r.Tools) != 1 || r.Tools[0].Name != "read" {
				t.Errorf("tools %v", r.Tools)
			}
		case strings.Contains(first, "SUB2") && r.Model != "big":
			t.Errorf("model %s", r.Model)
		}
	}
	r := w.results()
	contains(t, r[2].Text, `no agent "nobody"`, "reviewer")
	contains(t, r[4].Text, "no such model")
}

func TestStatusAndStop(t *testing.T) {
	status := func(id string, wait bool) msg.Call {
		return call("agent_status", map[string]any{"id": id, "wait": wait})
	}
	stop := func(id string) msg.Call { return call("agent_stop", map[string]any{"id": id}) }
	w := start(t, []reply{
		do(status("", true), agent("SUB-HANG"), agent("SUB-OK")),
		do(status("agent-2", true), status("", false), stop("agent-1"), status("agent-1", true), stop("agent-1")),
		do(stop("agent-9"), shell("true"), status("agent-9", false)), say("done")})
	w.script.routes["SUB-HANG"], w.script.routes["SUB-OK"] = []reply{do(call("hold", nil))}, []reply{say("fine").used(1000, 10)}
	w.want(w.say("go"), event.Completed, "")
	r := w.results()
	for i, want := range []string{"No agent was started", "agent-1", "agent-2", "agent-2: completed", "agent-1: running", "agent-1 was stopped", "agent-1: cancelled", "already ended: cancelled",
		`no agent "agent-9". There are: agent-1, agent-2`, "", `no agent "agent-9"`} {
		contains(t, r[i].Text, want)
	}
	contains(t, w.last(), "Result of sub-agent agent-2:\\nfine")
}

func TestFourAtOnceTheRestInOrder(t *testing.T) {
	var calls []msg.Call
	for i := range 7 {
		calls = append(calls, agent(fmt.Sprint("SUB-", i)))
	}
	w := start(t, []reply{do(calls...), do(call("agent_status", nil)), say("wait"), say("done")})
	var mu sync.Mutex
	var order []string
	running, most := 0, 0
	release, entered := make(chan struct{}), make(chan struct{}, 7)
	for i := range 7 {
		task := fmt.Sprint("SUB-", i)
		w.script.routes[task] = []reply{{text: fmt.Sprint("result ", i), see: func(provider.Request) {
			mu.Lock()
			order, running = append(order, task), running+1
			most = max(most, running)
			mu.Unlock()
			entered <- struct{}{}
			<-release
			mu.Lock()
			running--
			mu.Unlock()
		}}}
	}
	w.script.loop = true
	w.script.replies[2].see = func(provider.Request) {
		for range 4 {
			<-entered
		}
		close(release)
	}
	w.want(w.say("go"), event.Completed, "")
	contains(t, w.results()[7].Text, "agent-4: running", "agent-5: waiting", "agent-7: waiting")
	if first := slices.Sorted(slices.Values(order[:4])); most > 4 || strings.Join(first, " ") != "SUB-0 SUB-1 SUB-2 SUB-3" {
		t.Errorf("%d at once, %v", most, order)
	}
	for i := range 7 {
		contains(t, w.last(), fmt.Sprint("result ", i))
	}
}

// Twelve agents, some fine, some failing, looping, hanging and stopped: all end, all is counted once.
func TestTwelveAgents(t *testing.T) {
	var calls []msg.Call
	for i := range 12 {
		calls = append(calls, agent(fmt.Sprintf("SUB-%02d", i)))
	}
	w := start(t, []reply{do(calls...).used(100, 10), do(call("agent_stop", map[string]any{"id": "agent-4"})).used(100, 10), say("wait").used(100, 10)})
	w.script.loop = true
	w.file("a", "x")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range 12 {
		kind := []reply{say("fine"), {err: &provider.Error{Kind: provider.Auth, Message: "no key"}}, do(read("a")), do(call("hold", nil))}[i%4]
		kind = kind.used(1000, 100)
		kind.usage.Known = kind.err == nil
		w.script.routes[fmt.Sprintf("SUB-%02d", i)] = []reply{kind}
	}
	ended := 0
	w.on = func(e event.Event) {
		if s, ok := e.(event.SubAgent); ok {
			if _, ok := s.Event.(event.TurnEnd); ok {
				if ended++; ended == 10 {
					cancel()
				}
			}
		}
	}
	w.want(w.sayIn(ctx, "go"), event.Cancelled, "")
	states := map[string]int{}
	for _, ch := range w.crew.all {
		states[ch.state]++
	}
	if states[event.Completed] != 3 || states[event.Failed] != 3 || states[event.LoopStopped] != 3 || states[event.Cancelled] != 3 {
		t.Errorf("%v", states)
	}
	if got := w.total().Input; got != w.script.input || got < 9*1000 {
		t.Errorf("usage %d, not %d", got, w.script.input)
	}
}

func TestNumbersGoOnAfterAResume(t *testing.T) {
	w := start(t, []reply{do(agent("SUB")), say("wait"), say("done")}, func(o *Options) {
		o.Past = &session.Past{Agents: 7}
	})
	w.script.loop = true
	w.script.routes["SUB"] = []reply{say("fine")}
	w.say("go")
	if w.nested()["agent-8"] == nil {
		t.Errorf("%v", w.nested())
	}
}

func TestChildSharesTheOutcomeNotTheRest(t *testing.T) {
	w := start(t, []reply{do(agent("SUB")), say("wait"), say("done")})
	w.script.loop = true
	w.script.routes["SUB"] = []reply{do(call("agent", map[string]any{"task": "deeper"})), say("could not")}
	w.want(w.say("go"), event.Completed, "")
	for _, e := range w.nested()["agent-1"] {
		if e, ok := e.(event.ToolEnd); ok && (e.OK || !strings.Contains(e.Result, `no tool "agent"`)) {
			t.Errorf("%+v", e)
		}
	}
}
