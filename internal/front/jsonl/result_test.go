package jsonl

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"anchor/internal/event"
)

func last(f *Fold) string {
	var b bytes.Buffer
	NewWriter(&b, false, nil).Result(f.Result("20260928-225355-be7b"))
	return strings.TrimSuffix(b.String(), "\n")
}

func TestResult(t *testing.T) {
	detail := "x"
	for _, c := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"as documented", []event.Event{event.Text{Text: "The final answer."}, event.FileChanged{Path: "src/app.ts"}, event.FileChanged{Path: "src/app.ts"},
			event.Usage{Input: 5210, Output: 84, Cached: 2304}, event.TurnEnd{Reason: "completed", Text: "The final answer."}},
			`{"type":"result","status":"completed","text":"The final answer.","check":null,"files_changed":["src/app.ts"],"session":"20260928-225355-be7b","usage":{"input":5210,"output":84,"cached":2304}}`},
		{"nothing happened", nil,
			`{"type":"result","status":"error","text":"","check":null,"files_changed":[],"session":"20260928-225355-be7b","usage":{"input":0,"output":0,"cached":0}}`},
		{"sub-agents count, their ends don't", []event.Event{event.Usage{Input: 1}, event.SubAgent{Agent: "agent-1", Event: event.Usage{Input: 2, Output: 3}},
			event.SubAgent{Agent: "agent-1", Event: event.FileChanged{Path: "a"}}, event.TurnEnd{Reason: "completed", Text: "ok"},
			event.SubAgent{Agent: "agent-1", Event: event.TurnEnd{Reason: "error", Detail: &detail}}},
			`{"type":"result","status":"completed","text":"ok","check":null,"files_changed":["a"],"session":"20260928-225355-be7b","usage":{"input":3,"output":3,"cached":0}}`},
		{"until", []event.Event{event.TurnEnd{Reason: "completed", Text: "half"}, event.Check{Round: 1}, event.TurnEnd{Reason: "completed", Text: "now"}, event.Check{Round: 2, Passed: true, Outcome: "passed"}},
			`{"type":"result","status":"completed","text":"now","check":"passed","files_changed":[],"session":"20260928-225355-be7b","usage":{"input":0,"output":0,"cached":0}}`},
		{"no check after another end", []event.Event{event.TurnEnd{Reason: "completed", Text: "half"}, event.Check{Round: 1}, event.TurnEnd{Reason: "loop_stopped", Text: "half"}},
			`{"type":"result","status":"loop_stopped","text":"","check":null,"files_changed":[],"session":"20260928-225355-be7b","usage":{"input":0,"output":0,"cached":0}}`},
		{"refusals and error", []event.Event{event.Notice{Message: "n", Refusal: &event.Refusal{Tool: "write_file", Title: "Create <a>", Allow: "write"}},
			event.TurnEnd{Reason: "error", Detail: &detail, Err: &event.Fault{Kind: "auth", Status: 401}}},
			`{"type":"result","status":"error","text":"","check":null,"files_changed":[],"session":"20260928-225355-be7b","usage":{"input":0,"output":0,"cached":0},"refusals":[{"tool":"write_file","title":"Create <a>","allow":"write"}],"error":{"kind":"auth","status":401,"retryable":false}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := NewFold()
			for _, e := range c.events {
				f.Add(e)
			}
			if got := last(f); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// pipe fails after some bytes, as a closed pipe does.
type pipe struct {
	bytes.Buffer
	writes, left int
}

func (p *pipe) Write(b []byte) (int, error) {
	p.writes++
	if p.left--; p.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return p.Buffer.Write(b)
}

func TestWriter(t *testing.T) {
	p, told := &pipe{left: 2}, 0
	w := NewWriter(p, false, func(error) { told++ })
	for _, e := range []event.Event{event.Thinking{Text: "hidden"}, event.Text{Text: "a\u2028\xff<b>"}, event.Diff{}, event.ToolStart{ID: "1", Name: "n", Input: []byte(`{}`)}, event.Text{Text: "lost"}, event.Text{Text: "lost"}} {
		w.Event(e)
	}
	want := `{"type":"text","text":"a\u2028\ufffd<b>"}` + "\n" + `{"type":"tool_start","id":"1","name":"n","summary":""}` + "\n"
	if p.String() != want || told != 1 || p.writes != 3 {
		t.Errorf("told %d times, %d writes, wrote\n%s\nwant\n%s", told, p.writes, p.String(), want)
	}
	var all bytes.Buffer
	w = NewWriter(&all, true, nil)
	w.Event(event.Start{Session: "s"})
	w.Event(event.ToolStart{ID: "1", Input: []byte(`{"a":1}`)})
	if !strings.Contains(all.String(), `"input":{"a":1}`) || !strings.Contains(all.String(), `{"type":"start","session":"s","model":"","directory":"","version":""}`) {
		t.Errorf("verbose wrote %s", all.String())
	}
}
