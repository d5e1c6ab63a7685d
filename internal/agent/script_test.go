package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/model"
	"anchor/internal/msg"
	"anchor/internal/policy"
	"anchor/internal/provider"
	"anchor/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is one scripted reply of the model.
type reply struct {
	text, thinking string
	calls          []msg.Call
	stop           provider.Stop // StopTools is set for calls by itself
	usage          provider.Usage
	err            error
	retry          bool                   // announces a retry that voids the text, then goes on
	hang           bool                   // after the text, waits for the end of ctx
	see            func(provider.Request) // looks at the request
}

func say(text string) reply      { return reply{text: text} }
func do(calls ...msg.Call) reply { return reply{calls: calls} }
func (r reply) used(in, out int) reply {
	r.usage = provider.Usage{Input: in, Output: out, Known: true}
	return r
}

var callNumber = 0

func call(name string, args map[string]any) msg.Call {
	callNumber++
	data, _ := json.Marshal(args)
	return msg.Call{ID: fmt.Sprintf("c%d", callNumber), Name: name, Args: data}
}

func read(path string) msg.Call { return call("read", map[string]any{"path": path}) }
func write(path, content string) msg.Call {
	return call("write", map[string]any{"path": path, "content": content})
}
func shell(command string) msg.Call { return call("shell", map[string]any{"command": command}) }

// script is a model that plays replies, one per request; routes are for sub-agents, by a word of their task. It fails on a request
// it has no reply for, on an invalid one, and on replies that were not used.
type script struct {
	t        testing.TB
	mu       sync.Mutex
	replies  []reply
	routes   map[string][]reply
	sums     []reply // replies to summary requests
	loop     bool    // the last reply of each list is played again and again
	requests []provider.Request
	input    int // tokens of the requests that were answered whole; a cancel cuts some off
}

func (s *script) next(r provider.Request) (reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if fault := invalid(r.Messages); fault != "" {
		s.t.Errorf("request %d is invalid: %s", len(s.requests), fault)
	}
	list, key := s.replies, ""
	if u, ok := r.Messages[0].(*msg.User); ok {
		for k := range s.routes {
			if strings.Contains(u.Text, k) {
				list, key = s.routes[k], k
			}
		}
	}
	if r.NoCalls {
		list, key = s.sums, "summary"
	}
	if len(list) == 0 {
		s.t.Errorf("request %d was not expected; it ends with %s", len(s.requests), show(r.Messages[len(r.Messages)-1]))
		return reply{}, false
	}
	now := list[0]
	if s.loop && len(list) == 1 {
		return now, true
	}
	switch {
	case r.NoCalls:
		s.sums = list[1:]
	case key != "":
		s.routes[key] = list[1:]
	default:
		s.replies = list[1:]
	}
	return now, true
}

func (s *script) Stream(ctx context.Context, r provider.Request, show func(provider.Chunk)) (done provider.Done, err error) {
	now, ok := s.next(r)
	if !ok {
		return done, errors.New("the script is at its end")
	}
	if now.see != nil {
		now.see(r)
	}
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	for _, word := range strings.SplitAfter(now.text, " ") {
		if word != "" {
			show(provider.TextDelta{Text: word})
		}
	}
	if now.retry {
		show(provider.Retrying{Message: "overloaded, again in 1s", Void: now.text != ""})
		show(provider.TextDelta{Text: now.text})
	}
	if now.hang {
		<-ctx.Done()
		return done, ctx.Err()
	}
	if now.err != nil {
		return done, now.err
	}
	s.mu.Lock()
	s.input += now.usage.Input
	s.mu.Unlock()
	return provider.Done{Reply: now.message(), Stop: now.stopped(), Usage: now.usage}, nil
}

func (r reply) stopped() provider.Stop {
	if r.stop == provider.StopEnd && len(r.calls) > 0 {
		return provider.StopTools
	}
	return r.stop
}

func (r reply) message() *msg.Assistant {
	var m msg.Assistant
	if r.thinking != "" {
		m.Blocks = append(m.Blocks, msg.Thinking{Text: r.thinking, Signature: "sig"})
	}
	if r.text != "" {
		m.Blocks = append(m.Blocks, msg.Text{Text: r.text})
	}
	for _, c := range r.calls {
		m.Blocks = append(m.Blocks, c)
	}
	return &m
}

// invalid says what is wrong with a conversation, or "". It knows nothing of how mend works.
func invalid(list []msg.Message) string {
	if len(list) == 0 {
		return "it is empty"
	}
	switch list[0].(type) {
	case *msg.User, *msg.Summary:
	default:
		return fmt.Sprintf("it starts with %T", list[0])
	}
	seen := map[string]bool{}
	var open []msg.Call
	for i, m := range list {
		if t, ok := m.(*msg.Tool); ok {
			if len(open) == 0 || open[0].ID != t.CallID || open[0].Name != t.Name {
				return fmt.Sprintf("message %d: a result without its call, %s", i, t.CallID)
			}
			open = open[1:]
			if blank(t.Text) && len(t.Images) == 0 {
				return fmt.Sprintf("message %d: an empty result", i)
			}
			continue
		}
		if len(open) > 0 {
			return fmt.Sprintf("message %d: the call %s has no result", i, open[0].ID)
		}
		switch m := m.(type) {
		case *msg.User:
			if blank(m.Text) && len(m.Images) == 0 {
				return fmt.Sprintf("message %d: blank", i)
			}
		case *msg.Note:
			if blank(m.Text) {
				return fmt.Sprintf("message %d: blank", i)
			}
		case *msg.Summary:
			if blank(m.Text) {
				return fmt.Sprintf("message %d: blank", i)
			}
		case *msg.Assistant:
			if len(m.Calls()) == 0 && blank(m.Text()) {
				return fmt.Sprintf("message %d: an empty reply", i)
			}
			for _, b := range m.Blocks {
				switch b := b.(type) {
				case msg.Text:
					if blank(b.Text) {
						return fmt.Sprintf("message %d: blank text", i)
					}
				case msg.Thinking:
					if b.Signature == "" && b.Redacted == "" || m.Interrupted {
						return fmt.Sprintf("message %d: half thinking", i)
					}
				case msg.Call:
					if seen[b.ID] || b.ID == "" {
						return fmt.Sprintf("message %d: a bad call %+v", i, b)
					}
					seen[b.ID] = true
				}
			}
			open = m.Calls()
		}
	}
	if len(open) > 0 {
		return "the last call has no result"
	}
	return ""
}

func show(m msg.Message) string {
	data, _ := json.Marshal(m)
	return msg.Kind(m) + " " + string(data)
}

// texts is all that a request says, for looking things up in it.
func texts(r provider.Request) string {
	var out strings.Builder
	for _, m := range r.Messages {
		out.WriteString(show(m) + "\n")
	}
	return out.String()
}

type pathArg struct {
	Path string `json:"path"`
}
type writeArg struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}
type commandArg struct {
	Command string `json:"command"`
}
type agentArg struct {
	Task  string `json:"task,omitempty"`
	Agent string `json:"agent,omitempty"`
	Model string `json:"model,omitempty"`
	ID    string `json:"id,omitempty"`
	Wait  bool   `json:"wait,omitempty"`
}

func spec(name string, parallel, uncounted bool) tool.Spec {
	return tool.Spec{Spec: msg.Spec{Name: name, Description: "does " + name}, Parallel: parallel, Uncounted: uncounted}
}

func spawned(name string, run func(context.Context, tool.Spawner, agentArg) (string, error)) tool.Tool {
	return tool.Of(spec(name, false, name == "agent_status"), func(a agentArg) string { return a.Task + a.ID },
		func(ctx context.Context, env tool.Env, a agentArg) (tool.Result, error) {
			text, err := run(ctx, env.Spawner, a)
			if err != nil {
				return tool.Failure(ctx, err)
			}
			return tool.Done(text), nil
		})
}

// testTools are small tools over the real gate. hold waits for the end of ctx, broken is a fault of the harness.
func testTools() []tool.Tool {
	return []tool.Tool{
		tool.Of(spec("read", true, false), func(a pathArg) string { return a.Path }, func(ctx context.Context, env tool.Env, a pathArg) (tool.Result, error) {
			f, err := env.Gate.Read(ctx, a.Path, 0)
			if err != nil {
				return tool.Failure(ctx, err)
			}
			return tool.Done(string(f.Data)), nil
		}),
		tool.Of(spec("write", false, false), func(a writeArg) string { return a.Path }, func(ctx context.Context, env tool.Env, a writeArg) (tool.Result, error) {
			_, err := env.Gate.Write(ctx, a.Path, gate.WriteOptions{CallID: env.CallID}, func([]byte, bool) ([]byte, error) { return []byte(a.Content), nil })
			if err != nil {
				return tool.Failure(ctx, err)
			}
			return tool.Done("written"), nil
		}),
		tool.Of(spec("shell", false, false), func(a commandArg) string { return a.Command }, func(ctx context.Context, env tool.Env, a commandArg) (tool.Result, error) {
			out, err := env.Gate.Exec(ctx, gate.Command{Text: a.Command})
			if err != nil {
				return tool.Failure(ctx, err)
			}
			if out.Exit != 0 {
				return tool.Result{Outcome: tool.Exited, Text: out.Text + fmt.Sprintf("\nexit %d", out.Exit)}, nil
			}
			return tool.Done(out.Text), nil
		}),
		tool.Of(spec("hold", false, false), func(struct{}) string { return "" }, func(ctx context.Context, _ tool.Env, _ struct{}) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}),
		tool.Of(spec("broken", false, false), func(struct{}) string { return "" }, func(context.Context, tool.Env, struct{}) (tool.Result, error) {
			panic("a bug")
		}),
		spawned("agent", func(ctx context.Context, s tool.Spawner, a agentArg) (string, error) {
			return s.Start(ctx, a.Task, a.Agent, a.Model)
		}),
		spawned("agent_status", func(ctx context.Context, s tool.Spawner, a agentArg) (string, error) {
			return s.Status(ctx, a.ID, a.Wait)
		}),
		spawned("agent_stop", func(ctx context.Context, s tool.Spawner, a agentArg) (string, error) { return s.Stop(ctx, a.ID) }),
	}
}

// world is an agent in a fresh directory, with what it said.
type world struct {
	*Agent
	t      testing.TB
	dir    string
	script *script
	mu     sync.Mutex
	events []event.Event
	on     func(event.Event) // called for each event, may be nil
}

// allow lets everything through that policy may allow at all.
func allow(t testing.TB, dir string, sink event.Sink) *gate.Gate {
	g, err := gate.New(gate.Options{Dir: dir, Home: dir, Env: os.Environ(), Rules: policy.Rules{Yolo: true}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// start makes a world. change may alter the options.
func start(t testing.TB, replies []reply, change ...func(*Options)) *world {
	w := &world{t: t, dir: t.TempDir(), script: &script{t: t, replies: replies, routes: map[string][]reply{}}}
	sink := event.Serial(func(e event.Event) {
		w.mu.Lock()
		w.events = append(w.events, e)
		on := w.on
		w.mu.Unlock()
		if on != nil {
			on(e)
		}
	})
	o := Options{
		Model: Model{Provider: "test", Name: "m1", Info: model.Info{Window: 200_000, Known: true}, Open: func() provider.Provider { return w.script }},
		Tools: testTools(), Gate: allow(t, w.dir, sink), Sink: sink, System: "You are a test.",
	}
	for _, c := range change {
		c(&o)
	}
	w.Agent = New(o)
	t.Cleanup(func() {
		if !w.script.loop && len(w.script.replies)+len(w.script.sums) > 0 {
			t.Errorf("%d replies were not used", len(w.script.replies)+len(w.script.sums))
		}
	})
	return w
}

func (w *world) file(name, content string) *world {
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return w
}

// say runs a turn and checks that it told its end once, after the usage.
func (w *world) say(text string) event.TurnEnd { return w.sayIn(context.Background(), text) }

func (w *world) sayIn(ctx context.Context, text string) event.TurnEnd {
	w.t.Helper()
	w.mu.Lock()
	w.events = nil
	w.mu.Unlock()
	end := w.Work(ctx, Input{Text: text}, Until{})
	ends := of[event.TurnEnd](w)
	if len(ends) != 1 || len(of[event.Usage](w)) != 1 {
		w.t.Errorf("%d ends and %d usages of one turn", len(ends), len(of[event.Usage](w)))
	}
	if _, ok := w.events[len(w.events)-2].(event.Usage); !ok {
		w.t.Errorf("before the end comes %T", w.events[len(w.events)-2])
	}
	return end
}

// of returns the events of one type.
func of[E event.Event](w *world) (out []E) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e, ok := e.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

func (w *world) want(end event.TurnEnd, reason, detail string) {
	w.t.Helper()
	got := ""
	if end.Detail != nil {
		got = *end.Detail
	}
	if end.Reason != reason || !strings.Contains(got, detail) || detail == "" && got != "" {
		w.t.Errorf("the turn ended with %s (%s), not %s (%s)", end.Reason, got, reason, detail)
	}
}

// last is the last request's text; results are the tool results in it.
func (w *world) last() string { return texts(w.script.requests[len(w.script.requests)-1]) }

func (w *world) results() (out []*msg.Tool) {
	for _, e := range w.list {
		if m, ok := e.m.(*msg.Tool); ok {
			out = append(out, m)
		}
	}
	return out
}

func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in %s", p, text[max(0, len(text)-1500):])
		}
	}
}

func repeat(n int, r func(int) reply) (out []reply) {
	for i := range n {
		out = append(out, r(i))
	}
	return out
}

func concat(lists ...[]reply) []reply { return slices.Concat(lists...) }
