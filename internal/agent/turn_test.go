package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"anchor/internal/event"
	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/tool"
)

func TestOneTurn(t *testing.T) {
	c := read("a.txt")
	w := start(t, []reply{{thinking: "hm", text: "I look. ", calls: []msg.Call{c}}, say("It says alpha.").used(500, 7)}).file("a.txt", "alpha hunter2hunter2\n")
	end := w.say("what is in a.txt?")
	w.want(end, event.Completed, "")
	if end.Text != "It says alpha." {
		t.Errorf("the answer is %q", end.Text)
	}
	var kinds []string
	for _, e := range w.events {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", e), "event."))
	}
	if got, want := strings.Join(kinds, " "), "Text Text Context ToolStart ToolEnd Text Text Text Context Usage TurnEnd"; got != want {
		t.Errorf("events:\n got %s\nwant %s", got, want)
	}
	if s := of[event.ToolStart](w)[0]; s.Summary != "a.txt" || string(s.Input) != `{"path":"a.txt"}` {
		t.Errorf("%+v", s)
	}
	contains(t, w.last(), "what is in a.txt?", "alpha", `"signature":"sig"`, c.ID)
	if u := of[event.Usage](w)[0]; u.Output != 7+w.tokens(0)+u.Output-7 || u.Input < 500 {
		t.Errorf("usage %+v", u)
	}
}

func TestPrefixKeepsItsAddress(t *testing.T) {
	w := start(t, concat(repeat(5, func(i int) reply {
		return do(msg.Call{ID: "same", Name: "read", Args: []byte(fmt.Sprintf(`{"path":"f%d"}`, i))})
	}), []reply{say("done")}))
	for i := range 5 {
		w.file(fmt.Sprintf("f%d", i), "x")
	}
	w.want(w.say("go"), event.Completed, "")
	for i := 1; i < len(w.script.requests); i++ {
		a, b := w.script.requests[i-1], w.script.requests[i]
		for j := range a.Messages {
			if a.Messages[j] != b.Messages[j] {
				t.Errorf("message %d of request %d is another one in the next", j, i)
			}
		}
		if !reflect.DeepEqual(a.Tools, b.Tools) || a.System != b.System {
			t.Error("system prompt or tools changed")
		}
	}
}

func TestCallsKeepTheirOrder(t *testing.T) {
	var calls []msg.Call
	w := start(t, nil)
	for i := range 7 {
		name := fmt.Sprintf("f%d", i)
		w.file(name, "content "+name)
		calls = append(calls, read(name))
	}
	calls = append(calls, shell("echo from the shell"), read("f0"))
	w.script.replies = []reply{do(calls...), say("done")}
	w.want(w.say("go"), event.Completed, "")
	starts, ends, results := of[event.ToolStart](w), of[event.ToolEnd](w), w.results()
	for i, c := range calls {
		if starts[i].ID != c.ID || ends[i].ID != c.ID || results[i].CallID != c.ID || !ends[i].OK {
			t.Errorf("call %d: %s %s %s", i, starts[i].ID, ends[i].ID, results[i].CallID)
		}
	}
	contains(t, results[7].Text, "from the shell")
}

func TestCallsThatCannotRun(t *testing.T) {
	bad := msg.Call{ID: "b", Name: "read", Bad: `{"path": "a`, Fault: "unexpected end"}
	w := start(t, []reply{do(call("fly", nil)), do(bad), say("sorry")})
	w.want(w.say("go"), event.Completed, "")
	r := w.results()
	contains(t, r[0].Text, `no tool "fly"`, "read, write, shell")
	contains(t, r[1].Text, "unexpected end", `{"path": "a`)
	for _, e := range of[event.ToolEnd](w) {
		if e.OK {
			t.Errorf("%+v is ok", e)
		}
	}
	contains(t, strings.Join([]string{of[event.LoopWarning](w)[0].Message, w.last()}, "\n"), "2 calls failed in a row", "Loop guard")
}

func TestBrokenToolEndsTheTurn(t *testing.T) {
	w := start(t, []reply{do(call("broken", nil), read("a")), say("next turn")})
	w.want(w.say("go"), event.Failed, "the tool broken is broken: it panicked: a bug")
	if r := w.results(); len(r) != 2 || !strings.HasPrefix(r[1].Text, notRun) {
		t.Errorf("results %+v", r)
	}
	w.want(w.say("and now?"), event.Completed, "")
}

func TestBlankInput(t *testing.T) {
	w := start(t, nil)
	w.want(w.say(" \n"), event.Failed, "empty")
	w.want(w.Work(t.Context(), Input{Text: " "}, Until{Command: "true"}), event.Failed, "empty")
}

func TestEndsOfReplies(t *testing.T) {
	cut := reply{calls: []msg.Call{{ID: "x", Name: "shell", Bad: `{"command": "touch cut`, Fault: "cut"}}, stop: provider.StopLength}
	pause := reply{text: "wait", stop: provider.StopPause}
	quota := &provider.Error{Kind: provider.Auth, Status: 401, URL: "https://x/v1", Message: "bad\nkey", Advice: "Check it"}
	for name, c := range map[string]struct {
		replies        []reply
		reason, detail string
		last           string // in the last request
	}{
		"cut once":       {[]reply{cut, say("ok")}, event.Completed, "", "cut at the output limit"},
		"cut always":     {[]reply{cut, cut, cut}, event.Failed, "3 times in a row", ""},
		"cut text":       {[]reply{{text: "half an ans", stop: provider.StopLength}}, event.Completed, "", ""},
		"cut thinking":   {[]reply{{thinking: "hm", stop: provider.StopLength}, say("ok")}, event.Completed, "", "reply was empty"},
		"pause":          {[]reply{pause, pause, say("ok")}, event.Completed, "", "wait"},
		"paused always":  {repeat(11, func(int) reply { return pause }), event.Failed, "paused", ""},
		"refusal":        {[]reply{{text: "No.", calls: []msg.Call{shell("touch x")}, stop: provider.StopRefusal}}, event.Failed, "refused", ""},
		"empty once":     {[]reply{say(" \n"), say("ok")}, event.Completed, "", "empty"},
		"empty twice":    {[]reply{say(""), say("")}, event.Failed, "an empty answer", ""},
		"provider error": {[]reply{{text: "half ", err: quota}}, event.Failed, "https://x/v1: 401: bad key. Check it", ""},
		"no end":         {[]reply{{err: &provider.Error{Kind: provider.Broken, Message: "ended early"}}}, event.Failed, "ended early", ""},
		"secret":         {[]reply{{err: errors.New("401: ghp_R7k2LmQ9xVb4TnZc8WpY3sHd6FgJ1aEo5UiK is no key")}}, event.Failed, "401: [masked: github token] is no key", ""},
		"odd error":      {[]reply{{err: errors.New("odd\nerror")}}, event.Failed, "odd error", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, append(c.replies, say("next turn")))
			end := w.say("go")
			w.want(end, c.reason, c.detail)
			contains(t, w.last(), c.last)
			if name == "provider error" && (end.Err == nil || *end.Err != event.Fault{Kind: "auth", Status: 401}) {
				t.Errorf("fault %+v", end.Err)
			}
			if name == "cut once" && (len(of[event.ToolStart](w)) != 1 || len(of[event.ToolEnd](w)) != 1 || of[event.ToolEnd](w)[0].OK) {
				t.Errorf("the call that was cut is not shown as failed: %+v", of[event.ToolEnd](w))
			}
			w.want(w.say("next"), event.Completed, "")
			if strings.Contains(w.last(), "half ") != (name == "cut text") {
				t.Errorf("a broken reply was kept, or a cut one was not: %s", w.last())
			}
		})
	}
}

func TestRetryVoidsWhatWasShown(t *testing.T) {
	w := start(t, []reply{{text: "fine", retry: true}})
	w.want(w.say("go"), event.Completed, "")
	contains(t, of[event.Notice](w)[0].Message, "again in 1s", "void")
}

func TestCancel(t *testing.T) {
	timeout := &TimeoutError{After: "20m"}
	for name, c := range map[string]struct {
		replies []reply
		at      func(event.Event) bool // cancels here
		next    string                 // in the next turn's request
		not     string
	}{
		"before":     {nil, nil, "go", ""},
		"first byte": {[]reply{{hang: true}}, nil, "go", "interrupted"},
		"text":       {[]reply{{text: "half of it ", hang: true}}, func(e event.Event) bool { return e == event.Text{Text: "of "} }, "half of it", ""},
		"tool": {[]reply{do(call("hold", nil), read("a"))}, func(e event.Event) bool { _, ok := e.(event.ToolStart); return ok },
			"after it was started", ""},
		"between":    {[]reply{do(shell("true"), read("a"))}, func(e event.Event) bool { _, ok := e.(event.ToolEnd); return ok }, "before this call was started", "after it was started"},
		"command":    {[]reply{do(shell("echo begun; sleep 50"))}, func(e event.Event) bool { _, ok := e.(event.ToolStart); return ok }, "after it was started", ""},
		"last call":  {[]reply{do(shell("true"))}, func(e event.Event) bool { _, ok := e.(event.ToolEnd); return ok }, "", "started"},
		"sub-agent":  {[]reply{do(call("agent", map[string]any{"task": "SUB"})), say("they run")}, func(e event.Event) bool { return e == event.Text{Text: "run"} }, "agent-1", ""},
		"agent text": {[]reply{do(call("agent", map[string]any{"task": "SUB"}), call("agent_status", map[string]any{"wait": true}))}, func(e event.Event) bool { return false }, "agent-1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, append(c.replies, say("next turn")))
			w.script.routes["SUB"] = []reply{{hang: true}}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if name == "before" {
				cancel(timeout)
			}
			for i := range w.script.replies {
				if w.script.replies[i].hang && c.at == nil {
					w.script.replies[i].see = func(provider.Request) { cancel(timeout) }
				}
			}
			w.on = func(e event.Event) {
				if s, ok := e.(event.ToolStart); c.at != nil && c.at(e) || ok && s.Name == "agent_status" {
					cancel(timeout)
				}
			}
			w.want(w.sayIn(ctx, "go"), event.Cancelled, "timed out after 20m")
			w.on = nil
			w.want(w.say("still there?"), event.Completed, "")
			contains(t, w.last(), c.next, "still there?")
			if c.not != "" && strings.Contains(w.last(), c.not) {
				t.Errorf("%q is in %s", c.not, w.last())
			}
		})
	}
}

func TestCancelByUserHasNoDetail(t *testing.T) {
	w := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.want(w.sayIn(ctx, "go"), event.Cancelled, "")
}

func TestMaxRounds(t *testing.T) {
	w := start(t, repeat(3, func(i int) reply { return do(shell(fmt.Sprint("echo ", i))) }), func(o *Options) { o.MaxRounds = 3 })
	w.want(w.say("go"), event.RoundLimit, "3 model requests")
	if len(w.results()) != 3 {
		t.Errorf("%d results", len(w.results()))
	}
}

func TestQueueJoinsTheNextRequest(t *testing.T) {
	w := start(t, []reply{do(shell("true")), say("both done"), say("and that")})
	if w.Queue(Input{Text: "too early"}) {
		t.Error("taken without a turn")
	}
	said := 0
	w.on = func(e event.Event) {
		_, end := e.(event.ToolEnd)
		if end || e == (event.Text{Text: "both "}) {
			said++
			if !w.Queue(Input{Text: fmt.Sprint("also this ", said)}) {
				t.Error("not taken in a turn")
			}
		}
	}
	if end := w.say("go"); end.Text != "and that" {
		t.Errorf("%+v", end)
	}
	contains(t, texts(w.script.requests[1]), "also this 1")
	contains(t, w.last(), "also this 2")
}

func TestSetModelAndMoreTools(t *testing.T) {
	late := []tool.Tool{}
	w := start(t, []reply{{thinking: "hm", text: "a", calls: []msg.Call{shell("true")}}, say("b"), say("c")}, func(o *Options) { o.More = func() []tool.Tool { return late } })
	w.say("one")
	m := w.o.Model
	m.Name = "m2"
	w.SetModel(m)
	late = append(late, tool.Of(spec("mcp__x__y", false, false), func(struct{}) string { return "" }, func(context.Context, tool.Env, struct{}) (tool.Result, error) { return tool.Done(""), nil }))
	w.say("two")
	r := w.script.requests[2]
	if r.Model != "m2" || r.Tools[len(r.Tools)-1].Name != "mcp__x__y" || strings.Contains(texts(r), "signature") {
		t.Errorf("model %s, tools %v: %s", r.Model, w.ToolNames(), texts(r))
	}
}

func TestPromptIsSmallAndStable(t *testing.T) {
	p := Prompt{Dir: "/home/someone/projects/a-project", Platform: "linux/amd64", Date: "2026-11-30", Git: true}
	if n := len(p.String()); n > 4000 {
		t.Errorf("%d characters", n)
	}
	p.Instructions, p.Skills, p.Extra = "RULE", "- pdf: forms", "EXTRA"
	p.Agents = []Definition{{Name: "reviewer", Description: "reviews\ncode"}}
	contains(t, p.String(), "# Instructions", "RULE", "- pdf: forms", "- reviewer: reviews code", "EXTRA", "Directory: /home/someone")
	p.Base = "OWN"
	if s := p.String(); !strings.HasPrefix(s, "OWN\n") || strings.Contains(s, "You are anchor") {
		t.Error(s)
	}
}

func BenchmarkRound(b *testing.B) {
	for _, rounds := range []int{10, 200, 2000} {
		b.Run(fmt.Sprint(rounds), func(b *testing.B) {
			w := start(b, nil)
			w.add(&msg.User{Text: "go"})
			for i := range rounds {
				c := msg.Call{ID: fmt.Sprint("c", i), Name: "read", Args: []byte(`{"path":"f"}`)}
				w.add(&msg.Assistant{Provider: "test", Model: "m1", Blocks: []msg.Block{msg.Text{Text: "next"}, c}})
				w.add(&msg.Tool{CallID: c.ID, Name: "read", OK: true, Text: strings.Repeat("line\n", 100)})
			}
			b.ReportAllocs()
			for b.Loop() {
				w.prepare()
				_ = w.used()
				_ = w.request(w.list)
			}
		})
	}
}
