package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"anchor/internal/event"
	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/session"
)

// Near the limit, or when a server says that the context is too long, it is reduced, in this order until it is enough:
//
//   - trimmed: large old tool results become stubs that say what they were. The newest round and earlier ones up to half the
//     window stay, but for single results over a quarter of the window (which are from a time when it was thought larger).
//   - compacted: the model summarizes the older rounds. The user's first and latest message stay word for word, the others
//     newest first as far as a tenth of the window goes; the newest rounds stay.
//   - rounds_dropped: the oldest rounds go, until the fill is a quarter below the limit.
//
// A kind that would gain less than a tenth is not used. A cut is only made before a reply, so that no call loses its result.
// Each reduction is logged as the list of the messages that stay; a summary is logged before it, so that a crash between the two
// loses neither.

const (
	maxSummaries = 2   // requests in a turn
	smallResult  = 250 // estimated tokens: not worth trimming
)

const summaryPrompt = `Context is running out. Write a summary of the conversation above that lets you go on with the work without it. State, with exact names, paths and commands:
- the goal, and every wish and rule of the user's;
- decisions made, and why;
- files read and changed, and what matters in them;
- the state of the work: what is done, what was tested, what failed;
- open points and the next step.
Answer with the summary alone. Do not call tools.`

var errNothing = errors.New("there is nothing to summarize yet")

// fit reduces the context if it is over its limit. Its error is ctx's.
func (a *Agent) fit(ctx context.Context) error {
	if used := a.used(); used <= a.limit() || used <= a.full {
		return nil
	}
	return a.reduce(ctx)
}

// reduce reduces the context until it is under its limit or nothing is left to reduce. Its error is ctx's.
func (a *Agent) reduce(ctx context.Context) error {
	a.trim()
	if a.used() > a.limit() && a.summaries < maxSummaries {
		err := a.compact(ctx, "")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, errNothing) {
			a.notice("summarizing the conversation failed: " + oneLine(err.Error()))
		}
	}
	if a.used() > a.limit() {
		a.drop()
	}
	a.full = 0
	if used := a.used(); used > a.limit() {
		a.full = used + a.gauge.window/20
	}
	return nil
}

// apply takes on a reduced list if that gains enough, tells and logs it.
func (a *Agent) apply(kind string, list []entry, count int) bool {
	before, estimate := a.used(), a.estimate()
	reduced := a.fixed + sizes(list)
	if reduced > estimate*9/10 {
		return false
	}
	after := int(float64(before) * float64(reduced) / float64(estimate))
	a.list = list
	a.gauge.counted(after, reduced)
	r := session.Reduced{Kind: kind, Before: before, After: after, Count: count}
	for _, e := range list {
		if e.seq > 0 {
			r.Keep = append(r.Keep, e.seq)
		}
		if e.seq > 0 && e.trimmed {
			r.Trimmed = append(r.Trimmed, e.seq)
		}
	}
	if a.id == "" {
		a.record(r)
	}
	a.emit(event.ContextReduced{Kind: kind, Before: before, After: after, Count: count})
	return true
}

// trim replaces large results by stubs.
func (a *Agent) trim() {
	old := a.tail(a.gauge.window / 2)
	list := slices.Clone(a.list)
	calls := map[string]msg.Call{}
	count := 0
	for i, e := range list {
		switch m := e.m.(type) {
		case *msg.Assistant:
			for _, c := range m.Calls() {
				calls[c.ID] = c
			}
		case *msg.Tool:
			if !e.trimmed && (i < old && e.size > smallResult || a.tokens(e.size) > a.gauge.window/4+a.gauge.window/20) {
				list[i] = e.stub(calls[m.CallID])
				count++
			}
		}
	}
	a.apply(event.Trimmed, list, count)
}

// tail returns where the newest rounds start that hold at most this many tokens; the newest one always belongs to them.
func (a *Agent) tail(tokens int) int {
	sum, from := 0, len(a.list)
	for i := len(a.list) - 1; i >= 0; i-- {
		sum += a.list[i].size
		if !isReply(a.list[i]) {
			continue
		}
		if from < len(a.list) && a.tokens(sum) > tokens {
			break
		}
		from = i
	}
	return from
}

// Compact summarizes by hand; focus may be empty. The error says why it did not work. Not while a turn runs.
func (a *Agent) Compact(ctx context.Context, focus string) error {
	a.usage, a.summaries = event.Usage{}, 0
	a.prepare()
	err := a.compact(ctx, focus)
	if a.usage != (event.Usage{}) {
		a.emit(a.usage)
	}
	return err
}

// compact lets the model summarize what is older than the newest rounds.
func (a *Agent) compact(ctx context.Context, focus string) error {
	cut := a.tail(a.gauge.window / 5)
	kept := a.wordForWord(cut)
	older := sizes(a.list[:cut]) - sizes(kept)
	if older < a.estimate()/10 {
		return errNothing
	}
	a.summaries++
	a.emit(event.Compacting{Before: a.used()})
	text, err := a.summarize(ctx, a.list[:cut], focus)
	if err != nil {
		return err
	}
	summary := &msg.Summary{Text: text}
	if size(summary) > older-a.estimate()/10 {
		return errors.New("the summary would save too little")
	}
	list := append(kept, newEntry(summary, a.log(summary)))
	a.apply(event.Compacted, append(list, a.list[cut:]...), cut-len(kept))
	return nil
}

// summarize asks for a summary of a list of messages, with the same prefix as ever, so that it is read from the cache.
func (a *Agent) summarize(ctx context.Context, list []entry, focus string) (string, error) {
	prompt := summaryPrompt
	if !blank(focus) {
		prompt += "\nPay special attention to: " + strings.TrimSpace(focus)
	}
	r := a.request(append(slices.Clip(list), newEntry(&msg.Note{Text: prompt}, 0)))
	r.NoCalls = true
	done, _, err := a.stream(ctx, r, false)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(done.Reply.Text())
	switch {
	case done.Stop == provider.StopRefusal:
		return "", errors.New("the model refused to summarize")
	case text == "":
		return "", errors.New("the model gave an empty summary")
	}
	return text, nil
}

// wordForWord returns the user's messages of the first cut entries that stay as they are.
func (a *Agent) wordForWord(cut int) []entry {
	users := func(list []entry) (at []int) {
		for i, e := range list {
			if _, ok := e.m.(*msg.User); ok {
				at = append(at, i)
			}
		}
		return at
	}
	all, old := users(a.list), users(a.list[:cut])
	room := a.gauge.window / 10
	var kept []entry
	for _, i := range slices.Backward(old) {
		size := a.tokens(a.list[i].size)
		if i == all[0] || i == all[len(all)-1] {
			size = 0
		}
		if size <= room {
			kept = append(kept, a.list[i])
			room -= size
		}
	}
	slices.Reverse(kept)
	return kept
}

// drop leaves out the oldest rounds. The user's first and latest message, the summary and the newest round stay.
func (a *Agent) drop() {
	newest := a.tail(0)
	first, latest := -1, -1
	for i, e := range a.list {
		if _, ok := e.m.(*msg.User); ok {
			if latest = i; first < 0 {
				first = i
			}
		}
	}
	over := int(float64(a.used()-a.limit()*3/4) / a.gauge.rate())
	var list []entry
	count, cut := 0, 0
	for ; cut < newest; cut++ {
		e := a.list[cut]
		if _, result := e.m.(*msg.Tool); !result && over <= 0 {
			break
		}
		if _, summary := e.m.(*msg.Summary); summary || cut == first || cut == latest {
			list = append(list, e)
			continue
		}
		over -= e.size
		if isReply(e) {
			count++
		}
	}
	a.apply(event.RoundsDropped, append(list, a.list[cut:]...), max(count, 1))
}
