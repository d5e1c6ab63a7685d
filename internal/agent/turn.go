package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"anchor/internal/event"
	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/session"
)

// How many replies in a row may be of no use, by what they are, before the turn ends.
const (
	maxEmpty  = 2
	maxCut    = 3
	maxPauses = 10
)

// turn is the state of one turn. It ends when the model answers in text and nothing is left to go on with.
type turn struct {
	*Agent
	guard    guard
	notes    []string // for the model, after the results of the round
	room     int      // tokens left for the results of the reply at hand
	requests int
	useless  int // replies in a row
}

// Turn runs one turn to its end and returns the TurnEnd that it emitted. A cancelled ctx ends it with "cancelled", and the
// text of context.Cause as detail where that is a [TimeoutError]. Blank input ends it with an error; nothing is sent.
func (a *Agent) Turn(ctx context.Context, in Input) event.TurnEnd { return a.Work(ctx, in, Until{}) }

// turn runs one turn that starts with these messages. No sub-agent outlives it.
func (a *Agent) turn(parent context.Context, start ...msg.Message) event.TurnEnd {
	ctx, stop := context.WithCancel(parent)
	defer stop()
	a.usage, a.summaries, a.crew.turn = event.Usage{}, 0, ctx
	for _, m := range start {
		a.add(m)
	}
	t := &turn{Agent: a, guard: guard{calls: map[[32]byte]*runs{}}}
	var end *event.TurnEnd
	for end == nil {
		end = t.round(ctx)
	}
	a.crew.close()
	a.join()
	return a.end(*end)
}

// end tells and records how a turn ended.
func (a *Agent) end(end event.TurnEnd) event.TurnEnd {
	a.emit(a.usage)
	if a.id == "" {
		detail := ""
		if end.Detail != nil {
			detail = *end.Detail
		}
		a.record(session.Turn{Reason: end.Reason, Detail: detail})
	}
	a.emit(end)
	return end
}

func ended(reason, detail string) *event.TurnEnd {
	end := &event.TurnEnd{Reason: reason}
	if detail != "" {
		end.Detail = &detail
	}
	return end
}

func failure(detail string) *event.TurnEnd { return ended(event.Failed, oneLine(detail, maxDetail)) }

func cancelled(ctx context.Context) *event.TurnEnd {
	var timeout *TimeoutError
	if errors.As(context.Cause(ctx), &timeout) {
		return ended(event.Cancelled, timeout.Error())
	}
	return ended(event.Cancelled, "")
}

// fault is the end of a turn by an error.
func fault(ctx context.Context, err error) *event.TurnEnd {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	var e *provider.Error
	if !errors.As(err, &e) {
		return failure(err.Error())
	}
	detail := err.Error()
	if e.Kind == provider.TooLong {
		detail = "the conversation does not fit into the context window, and nothing is left to leave out: " + detail
	}
	end := failure(detail)
	end.Err = &event.Fault{Kind: string(e.Kind), Status: e.Status, Retryable: e.Retryable()}
	return end
}

// round makes one model request and carries out what the reply asks for. It returns the end of the turn, or nil.
func (t *turn) round(ctx context.Context) *event.TurnEnd {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	if n := t.o.MaxRounds; n > 0 && t.requests >= n {
		return ended(event.RoundLimit, fmt.Sprintf("stopped after %d model requests", t.requests))
	}
	t.join()
	t.prepare()
	if t.used() > t.limit() {
		if err := t.reduce(ctx); err != nil {
			return fault(ctx, err)
		}
	}
	done, err := t.ask(ctx)
	if err != nil {
		return fault(ctx, err)
	}
	return t.take(ctx, done)
}

// ask makes the request, again with less context as long as it is too long and that helps.
func (t *turn) ask(ctx context.Context) (provider.Done, error) {
	t.requests++
	for {
		done, partial, err := t.stream(ctx, t.request(t.list), true)
		if err != nil {
			t.broken(ctx, partial)
		}
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.TooLong {
			return done, err
		}
		before := t.estimate()
		t.overflowed(e.Limit)
		if err := t.reduce(ctx); err != nil {
			return done, err
		}
		if t.estimate() > before*9/10 {
			return done, e
		}
	}
}

// broken deals with the part of a reply that was shown before it broke: after a cancel it is kept.
func (t *turn) broken(ctx context.Context, partial string) {
	switch {
	case blank(partial):
	case ctx.Err() != nil:
		t.part(partial)
		t.add(&msg.Note{Text: "The user interrupted the reply above."})
	default:
		t.notice("the part of the reply that was shown is void: it broke off")
	}
}

// part keeps the text of a reply of which nothing else is kept.
func (t *turn) part(text string) {
	if !blank(text) {
		t.add(&msg.Assistant{Blocks: []msg.Block{msg.Text{Text: text}}, Provider: t.model.Provider, Model: t.model.Name, Interrupted: true})
	}
}

// request is the request for a list of messages.
func (a *Agent) request(list []entry) provider.Request {
	messages := make([]msg.Message, len(list))
	for i, e := range list {
		messages[i] = e.m
	}
	return provider.Request{Model: a.model.Name, System: a.o.System, Tools: a.specs, Messages: messages, MaxTokens: a.maxTokens(), Effort: a.o.Effort}
}

// stream makes a request and returns the whole reply, counted, or what came of its text. With show that is emitted as it comes.
func (a *Agent) stream(ctx context.Context, r provider.Request, show bool) (done provider.Done, partial string, err error) {
	var text strings.Builder
	tell := a.emit
	if !show {
		tell = func(event.Event) {}
	}
	for c, err := range a.provider.Stream(ctx, r) {
		if err != nil {
			return done, text.String(), err
		}
		switch c := c.(type) {
		case provider.TextDelta:
			text.WriteString(c.Text)
			tell(event.Text{Text: c.Text})
		case provider.ThinkingDelta:
			tell(event.Thinking{Text: c.Text})
		case provider.Retrying:
			if c.Void && show {
				c.Message += "; the part of the reply that was shown is void"
			}
			text.Reset()
			a.notice(c.Message)
		case provider.Done:
			done = c
		default:
			return done, text.String(), fmt.Errorf("the provider sent a chunk of an unknown kind, %T", c)
		}
	}
	switch {
	case done.Reply == nil && ctx.Err() != nil:
		return done, text.String(), ctx.Err()
	case done.Reply == nil:
		return done, text.String(), &provider.Error{Kind: provider.Broken, Message: "the reply ended without its end"}
	}
	done.Reply.Provider, done.Reply.Model = a.model.Provider, a.model.Name
	a.count(done, a.fixed+sizes(a.list), show)
	if done.Stop == provider.StopWindow {
		return done, text.String(), &provider.Error{Kind: provider.TooLong, Message: "the context window was full before the reply ended"}
	}
	return done, text.String(), nil
}

// count adds what a request used to the turn's usage and, if its prompt was the list, measures the fill by it.
func (a *Agent) count(done provider.Done, prompt int, fill bool) {
	whole := prompt + size(done.Reply)
	if !done.Usage.Known {
		done.Usage.Input = a.gauge.used(prompt)
		done.Usage.Output = a.gauge.used(whole) - done.Usage.Input
	}
	u := event.Usage{Input: done.Usage.Input, Output: done.Usage.Output, Cached: done.Usage.Cached}
	a.usage = a.usage.Add(u)
	if fill {
		a.counted(u.Input+u.Output, whole)
		a.emit(event.Context{Used: a.base, Window: a.window})
	}
	a.record(session.Usage{Agent: a.id, Usage: u, Fill: a.base})
}

// take goes on with a whole reply.
func (t *turn) take(ctx context.Context, done provider.Done) *event.TurnEnd {
	reply := done.Reply
	text, calls := reply.Text(), reply.Calls()
	t.useless++
	switch {
	case done.Stop == provider.StopRefusal:
		t.part(text)
		return failure("the model refused to answer this. Ask in another way, or another model")
	case done.Stop == provider.StopLength && len(calls) > 0:
		return t.cutOff(reply)
	case done.Stop == provider.StopPause && len(calls) == 0:
		t.add(reply)
		return t.again(maxPauses, "the model paused again and again without an answer", "")
	case len(calls) == 0 && blank(text):
		return t.again(maxEmpty, "the model gave an empty answer", "Your last reply was empty. Go on with the work, or answer in text.")
	}
	t.useless = 0
	t.add(reply)
	if len(calls) > 0 {
		return t.runCalls(ctx, calls)
	}
	if done.Stop == provider.StopLength {
		t.notice("the answer was cut at the output limit of the model")
	}
	return t.answered(ctx, text)
}

// again goes on after a useless reply, with a note to the model, or ends the turn at the most-th of them in a row.
func (t *turn) again(most int, detail, note string) *event.TurnEnd {
	if note != "" {
		t.add(&msg.Note{Text: note})
	}
	if t.useless >= most {
		return failure(fmt.Sprintf("%s, %d times in a row", detail, t.useless))
	}
	return nil
}

// cutOff handles a reply with calls that was cut at the output limit. They may be incomplete: none is run.
func (t *turn) cutOff(reply *msg.Assistant) *event.TurnEnd {
	t.add(reply)
	for _, c := range reply.Calls() {
		t.add(&msg.Tool{CallID: c.ID, Name: c.Name, Text: notRun + "the reply was cut at the output limit, so this call may be incomplete. Make shorter calls, one at a time."})
	}
	t.notice("the reply was cut at the output limit; its calls were not run")
	return t.again(maxCut, "the reply was cut at the output limit (a larger maxOutput in the settings may help)", "")
}

// answered ends the turn with a text answer, unless sub-agents still run or there is something new to answer.
func (t *turn) answered(ctx context.Context, text string) *event.TurnEnd {
	t.mu.Lock()
	defer t.mu.Unlock()
	news := func() bool { return len(t.queue) > 0 || t.crew.any((*child).news) }
	err := t.await(ctx, func() bool { return news() || !t.crew.any((*child).busy) })
	switch {
	case err != nil:
		return cancelled(ctx)
	case news():
		return nil
	}
	return &event.TurnEnd{Reason: event.Completed, Text: text}
}
