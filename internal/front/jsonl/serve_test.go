package jsonl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"anchor/internal/event"
	"anchor/internal/front/wire"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is the other side of a server whose turns do what the text says: "approve", "two" (two approvals at once), "ask",
// "wait" (until it is cancelled), anything else is echoed.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error
	stop  context.CancelCauseFunc
}

func start(t *testing.T) *client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	queue := wire.NewQueue(outW, func(error) {})
	out := NewWriter(queue, false, func(error) {})
	desk := NewDesk(out.Event)
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &Server{In: inR, Out: out, Desk: desk, Ready: func() event.Ready { return event.Ready{Session: "s", Model: "m"} }}
	s.Turn = func(ctx context.Context, text string) { fakeTurn(ctx, out, desk, text) }
	c := &client{t, inW, bufio.NewReader(outR), make(chan error, 1), cancel}
	go func() {
		c.ended <- errors.Join(s.Run(ctx), queue.Close())
		outW.Close()
	}()
	t.Cleanup(func() { cancel(nil); inW.Close(); outR.Close() })
	c.want(`{"type":"ready","session":"s","model":"m","tools":[]}`)
	return c
}

func fakeTurn(ctx context.Context, out *Writer, desk *Desk, text string) {
	say := func(format string, args ...any) { out.Event(event.Text{Text: fmt.Sprintf(format, args...)}) }
	approve := func(title, always string) {
		a, err := desk.Approve(ctx, gate.Request{Title: title, Detail: "d", Always: always})
		say("%s: %v %v %q %v", title, a.Yes, a.Always, a.Reason, err)
	}
	switch text {
	case "approve":
		approve("one", "all")
	case "plain":
		approve("one", "")
	case "two":
		var wg sync.WaitGroup
		wg.Go(func() { approve("one", "") })
		wg.Go(func() { approve("two", "") })
		wg.Wait()
	case "ask", "ask other":
		a, ok, err := desk.Ask(ctx, tool.Question{Text: "which?", Options: []string{"x", "y"}, AllowOther: text == "ask other"})
		say("%q %v %v", a, ok, err)
	case "wait":
		<-ctx.Done()
	default:
		say("%d characters", len(text))
	}
	reason := event.Completed
	if ctx.Err() != nil {
		reason = event.Cancelled
	}
	out.Event(event.TurnEnd{Reason: reason})
}

func (c *client) send(lines ...string) {
	for _, l := range lines {
		if _, err := io.WriteString(c.in, l+"\n"); err != nil {
			c.t.Fatalf("send %.80s: %v", l, err)
		}
	}
}

func (c *client) next() string {
	line, err := c.out.ReadString('\n')
	if err != nil || !json.Valid([]byte(line)) {
		c.t.Fatalf("read %q, %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (c *client) want(lines ...string) {
	c.t.Helper()
	for _, w := range lines {
		if got := c.next(); got != w {
			c.t.Fatalf("got  %s\nwant %s", got, w)
		}
	}
}

// refused wants one error that holds the words.
func (c *client) refused(words string) {
	c.t.Helper()
	if got := c.next(); !strings.HasPrefix(got, `{"type":"error","message":`) || !strings.Contains(got, words) {
		c.t.Fatalf("got %s, want an error with %q", got, words)
	}
}

const (
	ready   = `{"type":"ready","session":"s","model":"m","tools":[]}`
	done    = `{"type":"turn_end","reason":"completed","detail":null}`
	dropped = `{"type":"turn_end","reason":"cancelled","detail":null}`
)

func say(s string) string { return `{"type":"text","text":` + s + `}` }

func input(text string) string { return `{"type":"user_input","text":"` + text + `"}` }

func TestBadRequests(t *testing.T) {
	c := start(t)
	for _, bad := range []struct{ line, words string }{
		{`{nope`, "not valid JSON"}, {`"text"`, "a request is a JSON object"}, {`[]`, "JSON object"}, {`null`, `needs \"type\"`},
		{`{}`, `needs \"type\"`}, {`{"type":3}`, `needs \"type\"`}, {`{"type":"dance"}`, `unknown type \"dance\"`},
		{`{"Type":"cancel"}`, `needs \"type\"`}, {`{"type":"user_input"}`, `needs \"text\"`}, {`{"type":"user_input","text":7}`, `needs \"text\"`},
		{`{"type":"user_input","TEXT":"x"}`, `needs \"text\"`}, {`{"type":"user_input","text":"  \n"}`, "not blank"},
		{`{"type":"approval_response","answer":"yes"}`, `needs \"id\"`}, {`{"type":"approval_response","id":"a1","answer":"yes"}`, `\"a1\" is open`},
		{`{"type":"question_response","id":"q9","answer":"x"}`, `\"q9\" is open`}, {`{"type":"question_response","id":9}`, `needs \"id\"`},
		{"{\"type\":\"user_input\",\"text\":\"\xff\"}", "not valid UTF-8"}, {"{\"type\":\"user_input\",\"text\":\"\x00\"}", "not valid JSON"},
		{"\x00", "not valid JSON"}, {`{"type":"cancel"}{"type":"cancel"}`, "not valid JSON"}, {`{"type":"cancel"`, "not valid JSON"},
	} {
		c.send(bad.line)
		c.refused(bad.words)
	}
	c.send(`{"type":"cancel"}`, "", "  \r", input("hi")+"\r") // no turn: ignored; blank lines too
	c.want(say(`"2 characters"`), done, ready)
}

func TestApprovalAnswers(t *testing.T) {
	for _, a := range []struct{ turn, response, want string }{
		{"approve", `"answer":"yes"`, `"one: true false \"\" <nil>"`},
		{"approve", `"answer":"always"`, `"one: true true \"\" <nil>"`},
		{"plain", `"answer":"always"`, `"one: false false \"\" <nil>"`},
		{"approve", `"answer":"no","reason":"use tabs"`, `"one: false false \"use tabs\" <nil>"`},
		{"approve", `"answer":"Yes"`, `"one: false false \"\" <nil>"`},
		{"approve", `"answer":true`, `"one: false false \"\" <nil>"`},
		{"approve", `"Answer":"yes"`, `"one: false false \"\" <nil>"`},
		{"approve", `"answer":null`, `"one: false false \"\" <nil>"`},
	} {
		c := start(t)
		c.send(input(a.turn))
		always := `"all"`
		if a.turn == "plain" {
			always = "null"
		}
		c.want(`{"type":"approval_request","id":"a1","title":"one","detail":"d","always":` + always + `}`)
		c.send(`{"type":"approval_response","id":"a1",` + a.response + `}`)
		c.want(say(a.want), done, ready)
	}
}

// Two are open at once; each answer reaches its own, the first one counts, and an answer of the wrong kind is refused.
func TestSeveralOpen(t *testing.T) {
	c := start(t)
	c.send(input("two"))
	first, second := c.next(), c.next()
	if !strings.Contains(first, `"id":"a1"`) || !strings.Contains(second, `"id":"a2"`) {
		t.Fatalf("ids out of order: %s %s", first, second)
	}
	title := "one"
	if strings.Contains(second, `"title":"two"`) {
		title = "two"
	}
	c.send(`{"type":"question_response","id":"a2","answer":"yes"}`)
	c.refused(`\"a2\" is open`)
	c.send(`{"type":"approval_response","id":"a2","answer":"yes"}`)
	c.want(say(`"` + title + `: true false \"\" <nil>"`))
	c.send(`{"type":"approval_response","id":"a2","answer":"no"}`)
	c.refused(`\"a2\" is open`)
	c.send(input("more"))
	c.refused("a turn is running")
	c.send(`{"type":"approval_response","id":"a1","answer":"no"}`)
	c.next()
	c.want(done, ready)
}

func TestQuestions(t *testing.T) {
	for _, q := range []struct{ turn, answer, want string }{
		{"ask", `,"answer":"y"`, `"\"y\" true <nil>"`}, {"ask", `,"answer":"z"`, `"\"z\" false <nil>"`}, {"ask", "", `"\"\" false <nil>"`},
		{"ask other", `,"answer":"z"`, `"\"z\" true <nil>"`}, {"ask other", `,"answer":""`, `"\"\" false <nil>"`}, {"ask other", `,"answer":1`, `"\"\" false <nil>"`},
	} {
		c := start(t)
		c.send(input(q.turn))
		c.want(`{"type":"question","id":"q1","text":"which?","options":["x","y"],"allowOther":` + fmt.Sprint(q.turn == "ask other") + `}`)
		c.send(`{"type":"question_response","id":"q1"` + q.answer + `}`)
		c.want(say(q.want), done, ready)
	}
}

// A cancel withdraws what is open: a late answer is an error and reaches nothing.
func TestCancelWithdraws(t *testing.T) {
	c := start(t)
	c.send(input("approve"))
	c.next()
	c.send(`{"type":"cancel"}`)
	c.want(say(`"one: false false \"\" context canceled"`), dropped, ready)
	c.send(`{"type":"approval_response","id":"a1","answer":"yes"}`)
	c.refused(`\"a1\" is open`)
	c.send(input("approve"))
	if got := c.next(); !strings.Contains(got, `"id":"a2"`) {
		t.Errorf("an id was given out twice: %s", got)
	}
}

// The client's end during a turn cancels it; nothing is ready after that, and the end is no error.
func TestInputEnds(t *testing.T) {
	for _, turn := range []string{"wait", "approve", "ask"} {
		c := start(t)
		c.send(input(turn))
		if turn != "wait" {
			c.next()
		}
		c.in.Close()
		last := ""
		for line, err := c.out.ReadString('\n'); err == nil; line, err = c.out.ReadString('\n') {
			last = strings.TrimSpace(line)
		}
		if err := <-c.ended; err != nil || last != dropped {
			t.Errorf("%s: ended with %v, last line %s", turn, err, last)
		}
	}
}

// The end of the context ends the turn and the session, whichever is seen first; nothing is ready after that.
func TestContextEnds(t *testing.T) {
	for range 50 {
		c := start(t)
		c.send(input("approve"))
		c.next()
		cause := fmt.Errorf("stopped by a signal")
		c.stop(cause)
		c.want(say(`"one: false false \"\" context canceled"`), dropped)
		if line, err := c.out.ReadString('\n'); err != io.EOF {
			t.Fatalf("after the end: %s, %v", line, err)
		}
		if err := <-c.ended; !errors.Is(err, cause) {
			t.Errorf("ended with %v", err)
		}
	}
}

func TestLongLines(t *testing.T) {
	c := start(t)
	c.send(input(strings.Repeat("x", 20<<20)))
	c.want(say(fmt.Sprintf(`"%d characters"`, 20<<20)), done, ready)
	go func() {
		_, _ = io.WriteString(c.in, `{"type":"user_in`)
		c.in.Close()
	}()
	c.refused("middle of a line")
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

// FuzzParse: whatever comes in, a request is whole or refused, and never a panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"type":"user_input","text":"x"}`, `{"type":"approval_response","id":"a1"}`, `{"type":"cancel"}`, `[]`, `{"type":null}`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parse(line)
		if err != nil {
			return
		}
		switch r.kind {
		case userInput:
			if strings.TrimSpace(r.text) == "" {
				t.Error("blank input taken")
			}
		case approvalResponse, questionResponse:
			if r.id == "" {
				t.Error("a response without an id taken")
			}
		case cancelRequest:
		default:
			t.Errorf("taken: %s", line)
		}
	})
}

// Reading goes on though the client reads nothing: an answer and the end are heard.
func TestADeafClient(t *testing.T) {
	c := start(t)
	c.send(input("two"))
	for range 1000 {
		c.send("{nope", `{"type":"approval_response","id":"a1","answer":"yes"}`, `{"type":"approval_response","id":"a2","answer":"yes"}`)
	}
	c.in.Close()
	answered := 0
	for line, err := c.out.ReadString('\n'); err == nil; line, err = c.out.ReadString('\n') {
		if strings.Contains(line, ": true false") {
			answered++
		}
	}
	if err := <-c.ended; err != nil || answered != 2 {
		t.Errorf("%d approvals were answered; %v", answered, err)
	}
}
