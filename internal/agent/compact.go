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
//     window stay, but for single results well over a quarter of the window (which are from a time when it was thought larger).
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

// reduce reduces the context until it is under its limit or nothing is left to reduce. Its error is ctx's.
func (a *Agent) reduce(ctx context.Context) error {
	a.trim()
	if a.used() > a.limit() && a.summaries < maxSummaries {
		err := a.compact(ctx, "")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, errNothing) {
			a.notice("summarizing the conversation failed: " + oneLine(err.Error(), maxDetail))
		}
	}
	if a.used() > a.limit() {
		a.drop()
	}
	return nil
}

// apply takes on a reduced list if that gains enough, tells and logs it.
func (a *Agent) apply(kind string, list []entry, count int) {
	before, estimate := a.used(), a.estimate()
	reduced := a.fixed + sizes(list)
	if reduced > estimate*9/10 {
		return
	}
	after := int(float64(before) * float64(reduced) / float64(estimate))
	a.list = list
	a.counted(after, reduced)
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
}

// trim replaces large results by stubs.
func (a *Agent) trim() {
	old, giant := a.tail(a.window/2), a.window*3/10
	list, count := slices.Clone(a.list), 0
	for i, e := range list {
		_, result := e.m.(*msg.Tool)
		if result && !e.trimmed && (i < old && e.size > smallResult || a.tokens(e.size) > giant) {
			list[i] = e.stub()
			count++
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
	cut := a.tail(a.window / 5)
	kept := a.kept(cut, false)
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
	list := append(kept, a.logged(summary))
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
	done, _, err := a.stream(ctx, r, func(event.Event) {})
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(done.Reply.Text())
	if text == "" || done.Stop == provider.StopRefusal {
		return "", errors.New("the model refused, or gave an empty summary")
	}
	return text, nil
}

// kept returns those of the first cut entries that stay as they are: what the user said first and last, the rest of it newest
// first as far as a tenth of the window goes, and earlier summaries if no new one takes them in.
func (a *Agent) kept(cut int, summaries bool) (out []entry) {
	isUser := func(e entry) bool {
		_, ok := e.m.(*msg.User)
		return ok
	}
	first, latest, room := slices.IndexFunc(a.list, isUser), true, a.window/10
	for i, e := range slices.Backward(a.list) {
		_, stays := e.m.(*msg.Summary)
		if stays = stays && summaries; isUser(e) {
			tokens := a.tokens(e.size)
			if i == first || latest || i >= cut {
				tokens = 0
			}
			stays, latest = tokens <= room, false
			room -= tokens
		}
		if stays && i < cut {
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out
}

// drop leaves out the oldest rounds, as few as bring the fill a quarter below the limit, but never the newest.
func (a *Agent) drop() {
	enough := a.estimate() - int(float64(a.used()-a.limit()*3/4)/a.rate())
	list, newest, rounds := a.list, a.tail(0), -1
	for i, e := range a.list {
		if isReply(e) && i <= newest {
			rounds++
			if list = append(a.kept(i, true), a.list[i:]...); a.fixed+sizes(list) <= enough {
				break
			}
		}
	}
	a.apply(event.RoundsDropped, list, max(rounds, 1))
}
