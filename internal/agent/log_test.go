package agent

import (
	"fmt"
	"strings"
	"testing"

	"anchor/internal/event"
	"anchor/internal/msg"
	"anchor/internal/session"
)

func logged(t *testing.T, dir string) (session.Store, *session.Log) {
	s := session.NewStore(dir, func(text string) string { return text })
	l, err := s.Create(dir, "m1", "test")
	if err != nil {
		t.Fatal(err)
	}
	return s, l
}

func contents(list []entry) (out []string) {
	for _, e := range list {
		out = append(out, show(e.m))
	}
	return out
}

// A resumed session goes on with exactly what was sent before, whatever was trimmed, summarized and dropped.
func TestResumeReplaysReductions(t *testing.T) {
	state := t.TempDir()
	store, l := logged(t, state)
	w := start(t, nil, small, func(o *Options) { o.Log = l })
	bigFiles(w, 40)
	w.script.loop, w.script.sums = true, []reply{say("SUMMARY one"), say(""), say("SUMMARY two")}
	w.script.routes["SUB"] = []reply{say("from the sub-agent")}
	kinds := map[string]bool{}
	for i := range 8 {
		steps := []reply{do(agent("SUB"))}
		for j := range 4 {
			steps = append(steps, reply{text: strings.Repeat("some words ", 300), calls: []msg.Call{read(fmt.Sprint("f", i*4+j))}})
		}
		w.script.replies = append(steps, say("done"))
		w.want(w.say(fmt.Sprint("task ", i)), event.Completed, "")
		for _, k := range w.reductions() {
			kinds[k] = true
		}
	}
	if len(kinds) != 3 {
		t.Errorf("only %v happened", kinds)
	}
	l.Close()
	l, past, err := store.Open(l.ID(), state)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := w.o
	o.Log, o.Past = l, past
	again := New(o)
	if got, want := contents(again.list), contents(w.list); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d messages, not %d:\n%.3000s", len(got), len(want), strings.Join(got, "\n"))
	}
	if a, b := again.used(), w.used(); a < b*9/10 || a > b*11/10 {
		t.Errorf("used %d, was %d", a, b)
	}
	subs := 0
	for e := range past.All {
		if m, ok := e.(session.Message); ok && m.Agent != "" {
			subs++
		}
	}
	if subs != 16 || again.crew.number != 8 {
		t.Errorf("%d messages of sub-agents, the last is number %d", subs, again.crew.number)
	}
}

// A crash after a call was logged, before its result was.
func TestResumeAfterACrash(t *testing.T) {
	state := t.TempDir()
	store, l := logged(t, state)
	w := start(t, nil, func(o *Options) { o.Log = l })
	w.add(&msg.User{Text: "FIRST"})
	w.add(assistant(sample("1"), sample("2")))
	w.add(result("1", "one"))
	w.add(&msg.Summary{Text: "a summary that no reduction followed"})
	l.Close()
	for range 2 { // the second time the results are in the log
		l, past, err := store.Open(l.ID(), state)
		if err != nil {
			t.Fatal(err)
		}
		o := w.o
		o.Log, o.Past = l, past
		if got := brief(messages(New(o).list)); !strings.HasPrefix(got, "user:FIRST a:call 1,call 2 1:one 2:There summary:a summary") {
			t.Error(got)
		}
		l.Close()
	}
}

func messages(list []entry) (out []msg.Message) {
	for _, e := range list {
		out = append(out, e.m)
	}
	return out
}

func TestBrokenLogIsSaidOnce(t *testing.T) {
	_, l := logged(t, t.TempDir())
	w := start(t, []reply{do(shell("true")), say("done")}, func(o *Options) { o.Log = l })
	l.Close()
	w.want(w.say("go"), event.Completed, "")
	if n := of[event.Notice](w); len(n) != 1 || !strings.Contains(n[0].Message, "can't be written any more") {
		t.Errorf("%v", n)
	}
}
