package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"anchor/internal/event"
	"anchor/internal/msg"
	"anchor/internal/provider"
)

func small(o *Options) { o.Model.Info.Window, o.Model.Info.MaxOutput = 20_000, 2_000 }

var big = strings.Repeat("row of some filler text\n", 500) // 12 KB, about 3,000 tokens

func tooLong(limit int) reply {
	return reply{err: &provider.Error{Kind: provider.TooLong, Status: 400, Message: "prompt is too long", Limit: limit}}
}

func reads(n int) []reply {
	return repeat(n, func(i int) reply { return do(read(fmt.Sprint("f", i))) })
}

func bigFiles(w *world, n int) *world {
	for i := range n {
		w.file(fmt.Sprint("f", i), big)
	}
	return w
}

func (w *world) reductions() (kinds []string) {
	for _, r := range of[event.ContextReduced](w) {
		kinds = append(kinds, r.Kind)
		if r.After >= r.Before*9/10 || r.After <= 0 || r.Count < 1 {
			w.t.Errorf("%+v", r)
		}
	}
	return kinds
}

func TestTrimming(t *testing.T) {
	w := bigFiles(start(t, append(reads(8), say("done")), small), 8)
	w.want(w.say("read them all"), event.Completed, "")
	if k := w.reductions(); len(k) == 0 || k[0] != event.Trimmed {
		t.Errorf("%v", k)
	}
	r := w.results()
	contains(t, r[0].Text, "The result of this read call was removed", "12000 characters")
	if r[7].Text != big || r[6].Text != big {
		t.Error("a new result was trimmed")
	}
	if w.used() > w.limit() {
		t.Errorf("used %d", w.used())
	}
}

// What the server counts is what the events say, not the estimate.
func TestCountsAreTheServers(t *testing.T) {
	steps := repeat(4, func(i int) reply { return do(read(fmt.Sprint("f", i))).used(4000*(i+1), 10) })
	w := bigFiles(start(t, append(steps, say("done")), small), 4)
	w.say("go")
	r := of[event.ContextReduced](w)
	if len(r) == 0 || r[0].Before < 16_000 || r[0].Before > 18_000 || r[0].After > r[0].Before-2*3500 || r[0].After < 6000 {
		t.Errorf("%+v", r)
	}
}

func TestCompacting(t *testing.T) {
	w := start(t, repeat(9, func(i int) reply { return say(strings.Repeat(fmt.Sprintf("answer %d ", i), 900)) }), small)
	asked := ""
	w.script.sums = []reply{{text: "SUMMARY of the work", see: func(r provider.Request) {
		asked = texts(r)
		if len(r.Tools) == 0 || r.System != w.script.requests[0].System {
			t.Error("the summary request has another prefix")
		}
	}}}
	for i := range 9 {
		w.want(w.say(fmt.Sprintf("RULE-%d: keep this word for word", i)), event.Completed, "")
		if k := w.reductions(); len(k) > 0 {
			if k[0] != event.Compacted || len(of[event.Compacting](w)) != 1 || of[event.Usage](w)[0].Input < 16_000 {
				t.Errorf("%v, usage %+v", k, of[event.Usage](w))
			}
			contains(t, w.last(), "RULE-0", "RULE-1", "SUMMARY of the work", fmt.Sprint("RULE-", i), fmt.Sprint("answer ", i-1))
			if strings.Contains(w.last(), "answer 3") {
				t.Error("old rounds stayed")
			}
		}
	}
	contains(t, asked, "RULE-0", "answer 3", "Write a summary")
}

func TestSummaryFailsAndRoundsAreDropped(t *testing.T) {
	for name, sum := range map[string]reply{
		"empty":    say(""),
		"error":    {err: &provider.Error{Kind: provider.Overloaded, Status: 529, Message: "Overloaded"}},
		"too long": tooLong(0),
		"refused":  {text: "no", stop: provider.StopRefusal},
		"cut":      {text: "Goal: half of a summ", stop: provider.StopLength},
		"endless":  say(strings.Repeat("blah ", 30_000)),
	} {
		t.Run(name, func(t *testing.T) {
			long := func(i int) reply {
				return reply{text: strings.Repeat(fmt.Sprintf("thought %d ", i), 900), calls: []msg.Call{shell(fmt.Sprint("echo ", i))}}
			}
			w := start(t, append(repeat(8, long), say("done")), small)
			w.script.sums = []reply{sum}
			w.want(w.say("FIRST"), event.Completed, "")
			if k := w.reductions(); strings.Join(k, " ") != event.RoundsDropped {
				t.Errorf("%v", k)
			}
			contains(t, of[event.Notice](w)[0].Message, "summarizing the conversation failed")
			contains(t, w.last(), "FIRST", "thought 7")
			if strings.Contains(w.last(), "thought 0") {
				t.Error("the oldest round stayed")
			}
		})
	}
}

func TestTooLong(t *testing.T) {
	t.Run("the window is smaller than configured", func(t *testing.T) {
		w := bigFiles(start(t, append(reads(4), tooLong(10_000), say("done"), say("more"))), 4)
		w.want(w.say("go"), event.Completed, "")
		if w.gauge.window != 10_000 || len(w.reductions()) == 0 || w.used() > 8000 {
			t.Errorf("window %d, used %d, %v", w.gauge.window, w.used(), w.reductions())
		}
		w.say("go on")
	})
	t.Run("no limit named, again and again", func(t *testing.T) {
		w := bigFiles(start(t, append(reads(4), tooLong(0), tooLong(0), say("done"))), 4)
		w.want(w.say("go"), event.Completed, "")
		if len(w.reductions()) < 2 {
			t.Errorf("%v", w.reductions())
		}
	})
	t.Run("nothing helps", func(t *testing.T) {
		w := start(t, []reply{tooLong(5000), say("ok")})
		end := w.say(strings.Repeat("giant prompt ", 5000))
		w.want(end, event.Failed, "does not fit into the context window, and nothing is left")
		if end.Err == nil || end.Err.Kind != string(provider.TooLong) || len(w.script.requests) != 1 {
			t.Errorf("%+v after %d requests", end.Err, len(w.script.requests))
		}
		w.want(w.say("a small one"), event.Completed, "")
	})
	t.Run("full in the middle of the reply", func(t *testing.T) {
		w := bigFiles(start(t, append(reads(4), reply{text: "half an answer", stop: provider.StopWindow}, say("done"))), 4)
		w.want(w.say("go"), event.Completed, "")
		if strings.Contains(w.last(), "half an answer") {
			t.Error("the half reply was kept")
		}
	})
}

func TestGiantResultsAreShortened(t *testing.T) {
	w := start(t, []reply{do(read("giant")), do(read("giant"), read("f0"), read("f1")), say("done")}, small).file("giant", strings.Repeat("0123456789\n", 100_000))
	bigFiles(w, 2)
	w.want(w.say("go"), event.Completed, "")
	for _, r := range w.results() {
		if len(r.Text) > 21_000 {
			t.Errorf("%d characters", len(r.Text))
		}
	}
	contains(t, w.results()[0].Text, "characters left out", "Ask for less", "0123456789\n")
	if w.used() > 20_000 {
		t.Errorf("used %d", w.used())
	}
}

// With a fixed prompt over the limit nothing can be reduced, and nothing is tried again and again.
func TestFixedPromptOverTheLimit(t *testing.T) {
	w := start(t, append(repeat(20, func(i int) reply { return do(shell(fmt.Sprint("echo ", i))) }), say("done")), small, func(o *Options) { o.System = strings.Repeat("rule ", 14_000) })
	w.want(w.say("go"), event.Completed, "")
	if n := len(of[event.ContextReduced](w)) + len(of[event.Compacting](w)); n > 2 {
		t.Errorf("%d reductions", n)
	}
}

// A long run in a small window stays in it at every request and keeps what the user asked for.
func TestLongRun(t *testing.T) {
	n := 0
	w := start(t, nil, small)
	for i := range 500 {
		w.file(fmt.Sprint("f", i), strings.Repeat("row\n", 1500))
	}
	w.script.loop, w.script.sums = true, []reply{say("SUMMARY")}
	w.script.replies = append(repeat(500, func(i int) reply {
		return reply{text: fmt.Sprintf("Step %d, some words on it.", i), calls: []msg.Call{read(fmt.Sprint("f", i)), write("n", fmt.Sprint(i))}}
	}), say("done"))
	for i := range w.script.replies {
		w.script.replies[i].see = func(r provider.Request) {
			n++
			tokens := w.fixed
			for _, m := range r.Messages {
				tokens += size(m)
			}
			if tokens > 20_000 || !strings.Contains(show(r.Messages[0]), "FIRST: RULE-77") {
				t.Errorf("request %d: %d tokens, starts with %s", n, tokens, show(r.Messages[0])[:80])
			}
		}
	}
	w.want(w.say("FIRST: RULE-77"), event.Completed, "")
	if n < 480 {
		t.Errorf("%d requests", n)
	}
}

func TestCompactByHand(t *testing.T) {
	w := start(t, repeat(4, func(i int) reply { return say(strings.Repeat("word ", 2000)) }), small)
	if err := w.Compact(t.Context(), ""); err == nil {
		t.Error("summarized nothing")
	}
	for i := range 3 {
		w.say(fmt.Sprint("question ", i))
	}
	before := w.estimate()
	w.script.sums = []reply{say(" "), {text: "SUMMARY", see: func(r provider.Request) { contains(t, texts(r), "Pay special attention to: the tests") }}}
	if err := w.Compact(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "empty summary") || w.estimate() != before {
		t.Errorf("%v", err)
	}
	if err := w.Compact(t.Context(), "the tests"); err != nil {
		t.Fatal(err)
	}
	w.want(w.say("and now?"), event.Completed, "")
	contains(t, w.last(), "SUMMARY", "question 0", "question 2")
}

func TestCancelWhileCompacting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := start(t, append(repeat(6, func(i int) reply { return say(strings.Repeat("word ", 2400)) }), say("ok")), small)
	for i := range 6 {
		w.say(fmt.Sprint("question ", i))
	}
	n := len(w.list)
	w.script.sums = []reply{{hang: true, see: func(provider.Request) { cancel() }}, say("SUMMARY")}
	w.want(w.sayIn(ctx, "last"), event.Cancelled, "")
	if len(w.list) != n+1 {
		t.Errorf("%d messages of %d", len(w.list), n+1)
	}
	w.want(w.say("again"), event.Completed, "")
	contains(t, w.last(), "SUMMARY", "last", "again")
}
