package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"anchor/internal/event"
	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/session"
)

const cutCall = "Not run: the reply was cut at the output limit, so this call may be incomplete. Make shorter calls, one at a time."

// turn is the state of one turn. It ends when the model answers in text and nothing is left to go on with.
type turn struct {
	*Agent
	guard    guard
	room     int // tokens left for the results of the reply at hand
	requests int
	useless  int // replies in a row
}

// ending is a known end of a turn, as an error: what wants the turn to go on returns nil.
type ending struct{ event.TurnEnd }

func (e *ending) Error() string { return e.Reason }

func ended(reason, detail string) error {
	return &ending{event.TurnEnd{Reason: reason, Detail: &detail}}
}

// turn runs one turn, which starts with what is in the queue. No sub-agent outlives it.
func (a *Agent) turn(ctx context.Context) event.TurnEnd {
	a.usage, a.summaries, a.crew.turn = event.Usage{}, 0, ctx
	t := &turn{Agent: a, guard: guard{calls: map[[32]byte]*runs{}}}
	var err error
	for err == nil {
		err = t.round(ctx)
	}
	a.crew.close()
	a.join()
	return a.end(ctx, err)
}

// end tells and records how a turn is ended by err.
func (a *Agent) end(ctx context.Context, err error) event.TurnEnd {
	end := a.ending(ctx, err)
	a.emit(a.usage)
	if a.o.id == "" {
		a.record(session.Turn{Reason: end.Reason, Detail: detail(end)})
	}
	a.emit(end)
	return end
}

// ending is how an error ends a turn.
func (a *Agent) ending(ctx context.Context, err error) event.TurnEnd {
	var (
		known   *ending
		timeout *TimeoutError
		fault   *provider.Error
		end     = event.TurnEnd{Reason: event.Failed, Detail: new(oneLine(a.gate.Mask(err.Error()), maxDetail))}
	)
	switch {
	case errors.As(err, &known):
		end = known.TurnEnd
	case ctx.Err() != nil:
		if end.Reason, end.Detail = event.Cancelled, nil; errors.As(context.Cause(ctx), &timeout) {
			end.Detail = new(timeout.Error())
		}
	case errors.As(err, &fault):
		end.Err = &event.Fault{Kind: string(fault.Kind), Status: fault.Status, Retryable: fault.Retryable()}
	}
	return end
}

func detail(end event.TurnEnd) string { return *cmp.Or(end.Detail, new("")) }

// round makes one model request and carries out what the reply asks for.
func (t *turn) round(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if n := t.o.MaxRounds; n > 0 && t.requests >= n {
		return ended(event.RoundLimit, fmt.Sprintf("stopped after %d model requests", t.requests))
	}
	t.join()
	t.prepare()
	if t.used() > t.limit() {
		if err := t.reduce(ctx); err != nil {
			return err
		}
	}
	done, err := t.ask(ctx)
	if err != nil {
		return err
	}
	return t.take(ctx, done)
}

// ask makes the request, again with less context as long as it is too long and that helps.
func (t *turn) ask(ctx context.Context) (provider.Done, error) {
	t.requests++
	for {
		done, partial, err := t.stream(ctx, t.request(t.list), t.emit)
		switch {
		case err == nil || blank(partial):
		case ctx.Err() != nil:
			t.part(partial)
			t.add(&msg.Note{Text: "The user interrupted the reply above."})
		default:
			t.notice("the part of the reply that was shown is void: it broke off")
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
			return done, fmt.Errorf("the conversation does not fit into the context window, and nothing is left to leave out: %w", e)
		}
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

// stream makes a request and returns the whole reply, counted, or what came of its text, which is told as it comes.
func (a *Agent) stream(ctx context.Context, r provider.Request, tell event.Sink) (done provider.Done, partial string, err error) {
	var text strings.Builder
	done, err = a.provider.Stream(ctx, r, func(c provider.Chunk) {
		switch c := c.(type) {
		case provider.TextDelta:
			text.WriteString(c.Text)
			tell(event.Text{Text: c.Text})
		case provider.ThinkingDelta:
			tell(event.Thinking{Text: c.Text})
		case provider.Retrying:
			if c.Void {
				c.Message += "; what came of the reply is void"
			}
			text.Reset()
			a.notice(c.Message)
		}
	})
	if err != nil {
		return done, text.String(), err
	}
	done.Reply.Provider, done.Reply.Model = a.model.Provider, a.model.Name
	if !done.Usage.Known {
		done.Usage.Input, done.Usage.Output = a.used(), a.tokens(size(done.Reply))
	}
	u := event.Usage{Input: done.Usage.Input, Output: done.Usage.Output, Cached: done.Usage.Cached}
	a.usage = a.usage.Add(u)
	if !r.NoCalls { // the prompt was the list
		a.counted(u.Input+u.Output, a.estimate()+size(done.Reply))
		a.emit(event.Context{Used: a.base, Window: a.window})
	}
	a.record(session.Usage{Agent: a.o.id, Usage: u, Fill: a.base})
	if done.Stop == provider.StopWindow {
		err = &provider.Error{Kind: provider.TooLong, Message: "the context window was full before the reply ended"}
	}
	return done, text.String(), err
}

// take goes on with a whole reply. Useless ones in a row end the turn; how many, depends on what the last one is.
func (t *turn) take(ctx context.Context, done provider.Done) error {
	text, calls := done.Reply.Text(), done.Reply.Calls()
	t.useless++
	most, fault := 0, ""
	switch {
	case done.Stop == provider.StopRefusal:
		t.part(text)
		return errors.New("the model refused to answer this. Ask in another way, or another model")
	case done.Stop == provider.StopLength && len(calls) > 0:
		most, fault = 3, "the reply was cut at the output limit (a larger maxOutput in the settings may help)"
		t.add(done.Reply)
		for _, c := range calls {
			t.started(t.newJob(c))
			t.emit(event.ToolEnd{ID: c.ID, Name: c.Name, Result: cutCall})
			t.add(&msg.Tool{CallID: c.ID, Name: c.Name, Text: cutCall})
		}
		t.notice("the reply was cut at the output limit; its calls were not run")
	case done.Stop == provider.StopPause && len(calls) == 0:
		most, fault = 10, "the model paused again and again without an answer"
		t.add(done.Reply)
	case len(calls) == 0 && blank(text):
		most, fault = 2, "the model gave an empty answer"
		t.add(&msg.Note{Text: "Your last reply was empty. Go on with the work, or answer in text."})
	default:
		t.useless = 0
		t.add(done.Reply)
		if len(calls) > 0 {
			return t.runCalls(ctx, calls)
		}
		if done.Stop == provider.StopLength {
			t.notice("the answer was cut at the output limit of the model")
		}
		return t.answered(ctx, text)
	}
	if t.useless >= most {
		return fmt.Errorf("%s, %d times in a row", fault, t.useless)
	}
	return nil
}

// answered ends the turn with a text answer, unless sub-agents still run or there is something new to answer.
func (t *turn) answered(ctx context.Context, text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.await(ctx, func() bool { return len(t.queue) > 0 || !busy(t.crew.all) })
	if err != nil || len(t.queue) > 0 {
		return err
	}
	return &ending{event.TurnEnd{Reason: event.Completed, Text: text}}
}
