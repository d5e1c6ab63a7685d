package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anchor/internal/event"
	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/session"
)

var me = Model{Provider: "p", Name: "m"}

func assistant(blocks ...msg.Block) *msg.Assistant {
	return &msg.Assistant{Blocks: blocks, Provider: "p", Model: "m"}
}

func sample(id string) msg.Call { return msg.Call{ID: id, Name: "read", Args: []byte(`{}`)} }

func result(id, text string) *msg.Tool {
	return &msg.Tool{CallID: id, Name: "read", OK: true, Text: text}
}

func mended(in ...msg.Message) (out []msg.Message) {
	var list []entry
	for i, m := range in {
		list = append(list, newEntry(m, i+1))
	}
	list = mend(list, me)
	for _, e := range list {
		out = append(out, e.m)
	}
	return out
}

func TestMend(t *testing.T) {
	user := &msg.User{Text: "u"}
	interruptedReply := assistant(msg.Thinking{Text: "t", Signature: "s"}, msg.Text{Text: "part"}, sample("1"))
	interruptedReply.Interrupted = true
	other := assistant(msg.Thinking{Text: "t", Signature: "s"}, msg.Text{Text: "x"})
	other.Model = "else"
	for name, c := range map[string]struct {
		in   []msg.Message
		want string
	}{
		"nothing to mend":      {[]msg.Message{user, assistant(msg.Text{Text: "a"}, sample("1")), result("1", "r")}, "user:u a:a,call 1 1:r"},
		"no result":            {[]msg.Message{user, assistant(sample("1")), user}, "user:u a:call 1 1:There user:u"},
		"one of two":           {[]msg.Message{user, assistant(sample("1"), sample("2")), result("2", "r")}, "user:u a:call 1,call 2 1:There 2:r"},
		"order":                {[]msg.Message{user, assistant(sample("1"), sample("2")), result("2", "b"), user, result("1", "a")}, "user:u a:call 1,call 2 1:a 2:b user:u"},
		"two results":          {[]msg.Message{user, assistant(sample("1")), result("1", "a"), result("1", "b")}, "user:u a:call 1 1:a"},
		"orphans":              {[]msg.Message{user, result("9", "r"), assistant(msg.Text{Text: "a"}), result("8", "r")}, "user:u a:a"},
		"starts with a reply":  {[]msg.Message{assistant(sample("1")), result("1", "r"), &msg.Note{Text: "n"}, &msg.Summary{Text: "s"}, user}, "summary:s user:u"},
		"blank":                {[]msg.Message{user, assistant(msg.Text{Text: " \n"}), &msg.Note{}, &msg.User{Text: " "}, &msg.Summary{}}, "user:u"},
		"blank text by a call": {[]msg.Message{user, assistant(msg.Text{}, sample("1")), result("1", " ")}, "user:u a:call 1 1:(no"},
		"unsigned thinking":    {[]msg.Message{user, assistant(msg.Thinking{Text: "t"}, msg.Text{Text: "a"}, msg.Thinking{Redacted: "r"})}, "user:u a:a,thinking"},
		"thinking alone":       {[]msg.Message{user, assistant(msg.Thinking{Text: "t", Signature: "s"}), user}, "user:u user:u"},
		"another's thinking":   {[]msg.Message{user, other}, "user:u a:x"},
		"interrupted":          {[]msg.Message{user, interruptedReply, user}, "user:u a:part user:u"},
		"ids again":            {[]msg.Message{user, assistant(sample("1")), result("1", "a"), assistant(sample("1"), sample("1")), result("1", "b"), result("1", "c")}, "user:u a:call 1 1:a a:call 1_2,call 1_3 1_2:b 1_3:c"},
		"no id":                {[]msg.Message{user, assistant(sample(""), sample("")), result("", "a")}, "user:u a:call call_1,call call_2 call_1:a call_2:There"},
		"images alone":         {[]msg.Message{&msg.User{Images: []msg.Image{{Type: "image/png"}}}}, "user:"},
		"nothing left":         {[]msg.Message{assistant(sample("1")), result("1", "r")}, ""},
	} {
		if got := brief(mended(c.in...)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func brief(list []msg.Message) string {
	var out []string
	for _, m := range list {
		switch m := m.(type) {
		case *msg.User:
			out = append(out, "user:"+m.Text)
		case *msg.Summary:
			out = append(out, "summary:"+m.Text)
		case *msg.Note:
			out = append(out, "note:"+m.Text)
		case *msg.Tool:
			first, _, _ := strings.Cut(m.Text, " ")
			out = append(out, m.CallID+":"+first)
		case *msg.Assistant:
			var blocks []string
			for _, b := range m.Blocks {
				switch b := b.(type) {
				case msg.Text:
					blocks = append(blocks, b.Text)
				case msg.Thinking:
					blocks = append(blocks, "thinking")
				case msg.Call:
					blocks = append(blocks, "call "+b.ID)
				}
			}
			out = append(out, "a:"+strings.Join(blocks, ","))
		}
	}
	return strings.Join(out, " ")
}

// Any list at all becomes valid, keeps its addresses where it can, and mending it again changes nothing.
func TestMendAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", " ", "x", "y\n"})
		id := rapid.SampledFrom([]string{"", "1", "2", "1_2", "call"})
		block := rapid.Custom(func(t *rapid.T) msg.Block {
			switch rapid.IntRange(0, 3).Draw(t, "block") {
			case 0:
				return msg.Text{Text: text.Draw(t, "text")}
			case 1:
				return msg.Thinking{Text: "t", Signature: rapid.SampledFrom([]string{"", "s"}).Draw(t, "sig")}
			}
			return msg.Call{ID: id.Draw(t, "id"), Name: rapid.SampledFrom([]string{"", "read", "ä b"}).Draw(t, "name"), Args: []byte(rapid.SampledFrom([]string{"{}", "[]", "null"}).Draw(t, "args"))}
		})
		message := rapid.Custom(func(t *rapid.T) msg.Message {
			switch rapid.IntRange(0, 7).Draw(t, "kind") {
			case 0:
				return &msg.User{Text: text.Draw(t, "text")}
			case 1:
				return &msg.Summary{Text: text.Draw(t, "text")}
			case 2:
				return &msg.Note{Text: text.Draw(t, "text")}
			case 3, 4:
				return &msg.Assistant{Blocks: rapid.SliceOfN(block, 0, 4).Draw(t, "blocks"), Provider: "p", Model: rapid.SampledFrom([]string{"m", "n"}).Draw(t, "model"), Interrupted: rapid.Bool().Draw(t, "interrupted")}
			}
			return result(id.Draw(t, "id"), text.Draw(t, "text"))
		})
		in := append([]msg.Message{&msg.User{Text: "first"}}, rapid.SliceOf(message).Draw(t, "list")...)
		if at := rapid.IntRange(0, len(in)-1).Draw(t, "start"); rapid.Bool().Draw(t, "cut") {
			in = in[at:]
		}
		once := mended(in...)
		if fault := invalid(once); len(once) > 0 && fault != "" {
			t.Fatalf("%s: %s", fault, brief(once))
		}
		twice := mended(once...)
		for i := range once {
			if len(twice) != len(once) || once[i] != twice[i] {
				t.Fatalf("mended again: %s, then %s", brief(once), brief(twice))
			}
		}
	})
}

// Whatever replies, cancels, errors and resumes follow each other, each request is valid (the script checks that).
func TestAnyHistoryStaysValid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := start(t, nil)
		w.script.sums = []reply{say("SUMMARY")}
		w.file("a", strings.Repeat("row\n", 2000))
		n := 0
		for range rapid.IntRange(1, 6).Draw(rt, "turns") {
			ctx, cancel := context.WithCancel(t.Context())
			for last := false; !last; {
				r, ends := anyReply(rt, &n, cancel)
				w.script.replies, last = append(w.script.replies, r), ends
			}
			w.script.replies, w.script.loop = append(w.script.replies, say("the end")), true
			w.sayIn(ctx, "go on")
			w.script.replies = nil // what a cancel or the guard left
			cancel()
			if rapid.Bool().Draw(rt, "resume") {
				w.Agent = resumed(w)
			}
		}
	})
}

// anyReply draws a reply and says whether the turn surely ends with it.
func anyReply(t *rapid.T, n *int, cancel func()) (reply, bool) {
	var r reply
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		*n++
		id := rapid.SampledFrom([]string{"", "same", fmt.Sprint("id", *n)}).Draw(t, "id")
		r.calls = append(r.calls, rapid.SampledFrom([]msg.Call{
			{ID: id, Name: "read", Args: []byte(`{"path":"a"}`)}, {ID: id, Name: "read", Args: []byte(fmt.Sprintf(`{"path":"no%d"}`, *n))},
			{ID: id, Name: "fly"}, {ID: id, Name: "read", Bad: "{", Fault: "cut"},
		}).Draw(t, "call"))
	}
	r.text = rapid.SampledFrom([]string{"", "some text"}).Draw(t, "text")
	r.stop = rapid.SampledFrom([]provider.Stop{provider.StopEnd, provider.StopEnd, provider.StopLength, provider.StopPause, provider.StopRefusal}).Draw(t, "stop")
	switch rapid.IntRange(0, 9).Draw(t, "trouble") {
	case 0:
		r.err = &provider.Error{Kind: provider.Broken, Message: "broke"}
		return r, true
	case 1:
		r.see, r.hang = func(provider.Request) { cancel() }, true
		return r, true
	case 2:
		r.see = func(provider.Request) { cancel() }
		return r, true
	case 3:
		r.err = &provider.Error{Kind: provider.TooLong, Message: "too long"}
		return r, false
	}
	return r, len(r.calls) == 0 && r.text != "" && r.stop != provider.StopPause || r.stop == provider.StopRefusal
}

// resumed is an agent that goes on with what another one's log would hold: its messages, the last one perhaps lost.
func resumed(w *world) *Agent {
	p := &session.Past{}
	for i, e := range w.list {
		p.View = append(p.View, session.Viewed{Seq: i + 1, Message: e.m, Trimmed: e.trimmed})
	}
	if len(p.View) > 0 {
		if _, tool := p.View[len(p.View)-1].Message.(*msg.Tool); tool {
			p.View = p.View[:len(p.View)-1]
		}
	}
	o := w.o
	o.Past = p
	return New(o)
}

func TestResumeAnswersOpenCalls(t *testing.T) {
	w := start(t, []reply{say("ok")}, func(o *Options) {
		o.Past = &session.Past{View: []session.Viewed{{Seq: 1, Message: &msg.User{Text: "FIRST"}}, {Seq: 2, Message: assistant(sample("1"), sample("2"))},
			{Seq: 3, Message: result("1", strings.Repeat("long ", 100)), Trimmed: true}}, Fill: 400}
	})
	if w.used() < 410 || w.used() > 600 {
		t.Errorf("used %d", w.used())
	}
	w.want(w.say("SECOND"), event.Completed, "")
	contains(t, w.last(), "FIRST", "SECOND", "no record of this call", "was removed to save context: 500 characters")
}
