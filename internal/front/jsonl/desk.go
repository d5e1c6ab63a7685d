package jsonl

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

// Desk holds the questions that are open: approvals a1, a2, … and the model's questions q1, q2, …. The first answer to one
// counts and closes it; one whose context ends is withdrawn. It is a gate.Approver and a tool.Asker.
type Desk struct {
	show  event.Sink
	mu    sync.Mutex              // held while a question is shown, so that ids go out in order
	count map[string]int          // by the letter of the id
	open  map[string]chan request // each takes one answer
}

// NewDesk returns a desk that shows its questions through show, which must not block.
func NewDesk(show event.Sink) *Desk {
	return &Desk{show: show, count: map[string]int{}, open: map[string]chan request{}}
}

// Approve asks the client; it waits for the answer or the end of ctx.
func (d *Desk) Approve(ctx context.Context, r gate.Request) (gate.Answer, error) {
	response, err := d.put(ctx, "a", func(id string) event.Event {
		e := event.ApprovalRequest{ID: id, Title: r.Title, Detail: r.Detail}
		if r.Always != "" {
			e.Always = &r.Always
		}
		return e
	})
	always := response.answer == "always" && r.Always != ""
	return gate.Answer{Yes: response.answer == "yes" || always, Always: always, Reason: response.reason}, err
}

// Ask puts a question of the model to the client.
func (d *Desk) Ask(ctx context.Context, q tool.Question) (string, bool, error) {
	response, err := d.put(ctx, "q", func(id string) event.Event {
		return event.Question{ID: id, Text: q.Text, Options: q.Options, AllowOther: q.AllowOther}
	})
	answer := response.answer
	return answer, answer != "" && (q.AllowOther || slices.Contains(q.Options, answer)), err
}

// put shows a question and waits for its answer.
func (d *Desk) put(ctx context.Context, letter string, question func(id string) event.Event) (request, error) {
	if err := ctx.Err(); err != nil {
		return request{}, err
	}
	answer := make(chan request, 1)
	d.mu.Lock()
	d.count[letter]++
	id := fmt.Sprint(letter, d.count[letter])
	d.open[id] = answer
	d.show(question(id))
	d.mu.Unlock()
	select {
	case r := <-answer:
		return r, nil
	case <-ctx.Done():
		d.take(id)
		return request{}, ctx.Err()
	}
}

// take closes an open question and returns where its answer goes, or nil.
func (d *Desk) take(id string) chan request {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer delete(d.open, id)
	return d.open[id]
}

// answer hands in a response; it says whether the question was open.
func (d *Desk) answer(response request) bool {
	to := d.take(response.id)
	if to != nil {
		to <- response
	}
	return to != nil
}
