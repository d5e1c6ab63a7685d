package script_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/provider/script"
)

func parse(t *testing.T, text string) *script.Script {
	t.Helper()
	s, err := script.Parse("s.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(messages ...msg.Message) provider.Request {
	return provider.Request{Model: "script", System: "You are anchor.", Tools: []msg.Spec{{Name: "read_file"}}, Messages: messages}
}

// play makes a request and writes down what came.
func play(ctx context.Context, p provider.Provider, req provider.Request) (string, *msg.Assistant, error) {
	var out []string
	done, err := p.Stream(ctx, req, func(c provider.Chunk) {
		switch c := c.(type) {
		case provider.TextDelta:
			out = append(out, "text "+c.Text)
		case provider.ThinkingDelta:
			out = append(out, "think "+c.Text)
		}
	})
	if err == nil {
		out = append(out, fmt.Sprintf("done %d %+v", done.Stop, done.Usage))
		for _, call := range done.Reply.Calls() {
			out = append(out, fmt.Sprintf("call %s %s %s%s", call.ID, call.Name, call.Args, call.Bad))
		}
	}
	return strings.Join(out, "\n"), done.Reply, err
}

func TestReplies(t *testing.T) {
	s := parse(t, `# first
reply
expect hello
expect-any read_file
expect-any You are anchor
think hm
text one
text two
call read_file {"path": "a b"}
call edit
| {"a":
|   "x  y"}
call odd {"a"
call none
usage 100 20 30

reply
expect "line 1\nline 2"
reject secret
text "\tend\n"
| not part of the string
stop refusal
`)
	got, reply, err := play(t.Context(), s, ask(&msg.User{Text: "hello world"}))
	want := `think hm
text one
text 
two
done 1 {Input:100 Output:20 Cached:30 Known:true}
call call_1 read_file {"path":"a b"}
call call_2 edit {"a":"x  y"}
call call_3 odd {"a"
call call_4 none {}`
	if got != want || err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if s.Unused() == nil {
		t.Error("the second reply should be reported as not used")
	}
	got, _, err = play(t.Context(), s, ask(&msg.User{Text: "secret"}, reply, &msg.Tool{CallID: "call_1", Text: "line 1\nline 2"}, &msg.Note{Text: "n"}))
	if want := "text \"\\tend\\n\"\nnot part of the string\ndone 4 {Input:0 Output:0 Cached:0 Known:false}"; got != want || err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if u := s.Unused(); u != nil {
		t.Error(u)
	}
}

// What the script does not expect fails with its place, and nothing is tried again.
func TestUnexpected(t *testing.T) {
	for text, want := range map[string]string{
		"reply\nexpect tea\ntext x":       `s.txt:2: the request must hold "tea"; it ends with "coffee"`,
		"reply\nreject coffee\ntext x":    `s.txt:2: the request must not hold "coffee"`,
		"reply\nexpect-any write\ntext x": `s.txt:2: the request must hold "write"`,
		"":                                `s.txt: there is no reply left for a request that ends with "coffee"`,
		"agent other\nreply\ntext x":      `s.txt: there is no reply left`,
		"reply\nerror auth status=401 no": `s.txt: 401: no`,
		"reply\nerror context_length big": "s.txt: big",
		"reply\nerror broken":             "s.txt: a scripted error",
	} {
		if _, _, err := play(t.Context(), parse(t, text), ask(&msg.User{Text: "coffee"})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestErrorsAndDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := parse(t, "reply\ntext half\nerror rate status=429 after=30s slow down\nreply\ndelay 5s\ntext whole\nreply\ndelay 1h\ntext never")
		begin := time.Now()
		got, _, err := play(t.Context(), provider.WithRetry(s), ask(&msg.User{Text: "x"}))
		if err != nil || !strings.HasPrefix(got, "text half\ntext whole") || time.Since(begin) != 35*time.Second {
			t.Errorf("%v after %v\n%s", err, time.Since(begin), got)
		}
		if _, _, err := play(t.Context(), provider.WithRetry(parse(t, "reply\nerror rate after=10m slowly")), ask(&msg.User{Text: "x"})); err == nil || !strings.Contains(err.Error(), "asks to wait 10m0s") {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := play(ctx, s, ask(&msg.User{Text: "x"})); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a cancel in a delay: %v", err)
		}
	})
}

// Agents that run side by side each have their own list; ids stay unique in a conversation that goes on after a restart.
func TestAgents(t *testing.T) {
	s := parse(t, "reply 2\ntext main\nagent task A\nreply *\ntext A\nagent task B\nreply *\ntext B")
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			name := string(rune('A' + i%2))
			if got, _, err := play(t.Context(), s, ask(&msg.User{Text: "do task " + name})); err != nil || !strings.HasPrefix(got, "text "+name) {
				t.Errorf("%s: %q %v", name, got, err)
			}
		})
	}
	wg.Wait()
	if u := s.Unused(); len(u) != 1 || u[0] != "s.txt:1: this reply was not used" {
		t.Error(u)
	}
	old := &msg.Assistant{Blocks: []msg.Block{msg.Call{ID: "call_1"}}}
	_, reply, _ := play(t.Context(), parse(t, "reply\ncall f"), ask(&msg.User{Text: "x"}, old, &msg.Tool{CallID: "call_1"}))
	if id := reply.Calls()[0].ID; id == "call_1" {
		t.Errorf("the id %s came twice", id)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"text x": `s.txt:1: "text" stands before the first reply`, "reply\nsay x": `s.txt:2: no such word: "say"`, "| x": "s.txt:1: there is no line before",
		"reply x": "a number or *", "reply\ndelay soon": "200ms", "reply\nusage 1 x": "numbers", "reply\nusage 1 2 3 4": "numbers", "reply\nstop now": "refusal, window",
		"reply\nerror odd x": "one of the kinds", "reply\nerror rate after=x y": "after=x", "reply\ntext": "takes a text", "reply\ncall": "name of a tool", "agent": "needs a text",
		"reply\nagent a\ntext x": "before the first reply",
	} {
		if _, err := script.Parse("s.txt", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The scripts that the user's page shows must be right.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(page), "```")
	n := 0
	for i := 1; i < len(parts); i += 2 {
		if body, ok := strings.CutPrefix(parts[i], "script\n"); ok {
			n++
			parse(t, strings.ReplaceAll(body, "\r", ""))
		}
	}
	if n < 3 {
		t.Errorf("%d scripts in the page", n)
	}
}
