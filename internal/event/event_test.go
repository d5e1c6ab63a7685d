package event

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

func TestMarshalAsDocumented(t *testing.T) {
	detail := "why"
	cases := []struct {
		event   Event
		verbose bool
		want    string
	}{
		{Text{"<a> \u2028 \xff"}, false, `{"type":"text","text":"<a> \u2028 \ufffd"}`},
		{ToolStart{ID: "t1", Name: "shell", Summary: "ls", Input: json.RawMessage(`{"command":"ls"}`)}, false, `{"type":"tool_start","id":"t1","name":"shell","summary":"ls"}`},
		{ToolStart{ID: "t1", Name: "shell", Summary: "ls", Input: json.RawMessage(`{"command":"ls"}`)}, true, `{"type":"tool_start","id":"t1","name":"shell","summary":"ls","input":{"command":"ls"}}`},
		{ToolEnd{ID: "t1", Name: "shell", OK: true}, false, `{"type":"tool_end","id":"t1","name":"shell","ok":true,"result":""}`},
		{Notice{Message: "m", Refusal: &Refusal{Tool: "x"}}, false, `{"type":"notice","message":"m"}`},
		{Check{Command: "c", Round: 1, Outcome: "passed"}, false, `{"type":"check","command":"c","round":1,"passed":false,"output":""}`},
		{SubAgent{"agent-1", FileChanged{"p", 1, 2}}, false, `{"type":"sub_agent","agent":"agent-1","event":{"type":"file_changed","path":"p","added":1,"removed":2}}`},
		{TurnEnd{Reason: Completed, Text: "t", Err: &Fault{}}, false, `{"type":"turn_end","reason":"completed","detail":null}`},
		{TurnEnd{Reason: Failed, Detail: &detail}, false, `{"type":"turn_end","reason":"error","detail":"why"}`},
		{Ready{Session: "s", Model: "m"}, false, `{"type":"ready","session":"s","model":"m","tools":[]}`},
		{ApprovalRequest{ID: "a1", Title: "t", Detail: "d"}, false, `{"type":"approval_request","id":"a1","title":"t","detail":"d","always":null}`},
		{Question{ID: "q1", Text: "t"}, false, `{"type":"question","id":"q1","text":"t","options":[],"allowOther":false}`},
	}
	for _, c := range cases {
		got, err := Marshal(c.event, c.verbose)
		if err != nil || string(got) != c.want {
			t.Errorf("%#v: %s, %v; want %s", c.event, got, err, c.want)
		}
	}
	if _, err := Marshal(ToolStart{Input: json.RawMessage("{")}, true); err == nil {
		t.Error("broken input became a line")
	}
}

func TestNestedKeepsOrder(t *testing.T) {
	var got []string
	sink := Nested(Serial(func(e Event) {
		line, err := Marshal(e, false)
		if err != nil {
			t.Error(err)
		}
		got = append(got, string(line))
	}), "agent-1")
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() { sink(Text{"x"}) })
	}
	wait.Wait()
	if len(got) != 20 || !strings.HasPrefix(got[0], `{"type":"sub_agent","agent":"agent-1","event":{"type":"text"`) {
		t.Errorf("%d lines, first %q", len(got), got)
	}
}
