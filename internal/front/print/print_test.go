package print

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

func TestLines(t *testing.T) {
	detail := "no such key"
	events := []event.Event{event.Start{Session: "s"}, event.Thinking{Text: "hm"}, event.Text{Text: "I look"}, event.Text{Text: " first"},
		event.ToolStart{Name: "read_file", Summary: "a\x1b[31m.txt\nmore"}, event.ToolEnd{OK: true, Result: "secretly long"},
		event.ToolStart{Name: "shell", Summary: "false"}, event.ToolEnd{Result: "exit code 1\nmore"},
		event.Diff{Path: "a", Diff: "@@ -1 +1 @@\n-x\n+y\n"}, event.FileChanged{Path: "a", Added: 1, Removed: 1},
		event.SubAgent{Agent: "agent-1", Event: event.Notice{Message: "two\nlines"}}, event.SubAgent{Agent: "agent-1", Event: event.Text{Text: "not shown"}},
		event.Check{Command: "make", Round: 2, Output: "FAIL\n", Outcome: "no_changes"}, event.Usage{Input: 3}, event.TurnEnd{Reason: "error", Detail: &detail}}
	for _, c := range []struct {
		verbose, stream bool
		want            string
	}{
		{false, false, "> read_file a\\x1b[31m.txt …\n> shell false\n  exit code 1 …\n  a\n  @@ -1 +1 @@\n  -x\n  +y\n  wrote a (+1 -1)\n[agent-1] notice: two\n[agent-1] lines\n" +
			"check 2 failed: make\n  FAIL\nnothing changed since the last check: stopped\nerror: no such key\n"},
		{true, true, "session s, model , directory , \nhm\nI look first\n> read_file a\\x1b[31m.txt …\n> shell false\n  exit code 1 …\n  a\n  @@ -1 +1 @@\n  -x\n  +y\n  wrote a (+1 -1)\n[agent-1] notice: two\n[agent-1] lines\n" +
			"check 2 failed: make\n  FAIL\nnothing changed since the last check: stopped\nusage: 3 in (0 cached), 0 out\nerror: no such key\n"},
	} {
		var b strings.Builder
		l := &Lines{W: &b, Verbose: c.verbose, Stream: c.stream}
		for _, e := range events {
			l.Event(e)
		}
		if b.String() != c.want {
			t.Errorf("verbose %v: got\n%s\nwant\n%s", c.verbose, b.String(), c.want)
		}
	}
}

// The rest of a paste is no answer: it came before the question.
func TestAPasteAnswersNothing(t *testing.T) {
	in, typed := io.Pipe()
	var out strings.Builder
	m := NewLineMode(in, &out, false, true)
	go func() {
		_, _ = io.WriteString(typed, "y\na\n")
		time.Sleep(2 * m.calm) // a person reads first
		_, _ = io.WriteString(typed, "n not so\n")
		typed.Close()
	}()
	got, err := m.Approve(context.Background(), gate.Request{Title: "Run command: mkdir x", Always: "all"})
	if want := (gate.Answer{Reason: "not so"}); err != nil || got != want || !strings.Contains(out.String(), "came before the question: y") {
		t.Errorf("%+v, %v, shown %q", got, err, out.String())
	}
}

func TestQuestionsByLine(t *testing.T) {
	for in, want := range map[string]gate.Answer{
		"y\n": {Yes: true}, "YES\n": {Yes: true}, "a\n": {Yes: true, Always: true}, "n\n": {}, "\n": {}, "yeah\n": {}, "n use tabs\n": {Reason: "use tabs"},
	} {
		var out strings.Builder
		m := NewLineMode(strings.NewReader(in), &out, false, false)
		got, err := m.Approve(context.Background(), gate.Request{Title: "Create a\x1b", Detail: "+x", Always: "all"})
		if err != nil || got != want || !strings.Contains(out.String(), `Create a\x1b`) {
			t.Errorf("%q: %+v, %v, shown %q", in, got, err, out.String())
		}
	}
	m := NewLineMode(strings.NewReader("a\n"), io.Discard, false, false)
	if got, _ := m.Approve(context.Background(), gate.Request{}); got.Yes {
		t.Error("an always that was not offered counts")
	}
	if got, err := m.Approve(context.Background(), gate.Request{}); got.Yes || !errors.Is(err, io.EOF) {
		t.Errorf("the end of input: %+v, %v", got, err)
	}
	for in, want := range map[string]string{"2\n": "y", "x\n": "x", "3\n": "", "\n": "", "z\n": ""} {
		m := NewLineMode(strings.NewReader(in), io.Discard, false, false)
		got, ok, err := m.Ask(context.Background(), tool.Question{Options: []string{"x", "y"}})
		if err != nil || ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v %v", in, got, ok, err)
		}
	}
}
