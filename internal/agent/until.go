package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/msg"
)

const (
	defaultRounds = 10
	checkOutput   = 10_000 // characters of a check's output
)

// Until is the check that decides when work is done.
type Until struct {
	Command string
	Rounds  int // 0: 10
	Protect []string
}

// work is the state of work that goes on until its check passes.
type work struct {
	*Agent
	u         Until
	round     int
	protected map[string]string // path to content of the protected files as they must stay
	left      state             // the directory as the last check left it
}

// Work runs a turn and returns the TurnEnd that it emitted. With a check it goes on until that passes, nothing changes any more, the rounds
// are used up or a turn is not completed; the last Check event has the outcome. A check that can't run has a TurnEnd of its own, one that
// is cancelled has none. A cancelled ctx ends a turn with "cancelled", and a [TimeoutError] that is its cause as detail.
func (a *Agent) Work(ctx context.Context, in Input, u Until) event.TurnEnd {
	a.running.Store(true)
	defer a.running.Store(false)
	u.Rounds = cmp.Or(u.Rounds, defaultRounds)
	w := &work{Agent: a, u: u}
	err := w.begin(ctx, in)
	for err == nil {
		end := a.turn(ctx)
		if end.Reason != event.Completed || u.Command == "" {
			return end
		}
		if err = w.check(ctx); err == nil && !a.queued() {
			return end
		}
	}
	a.usage = event.Usage{}
	if end := a.ending(ctx, err); w.round > 0 && end.Reason == event.Cancelled {
		a.notice("The check was cancelled.") // the turn before it has had its end
		return end
	}
	return a.end(ctx, err)
}

// begin takes stock of the protected files and queues the input. Blank input and a check that is denied are refused.
func (w *work) begin(ctx context.Context, in Input) error {
	if !says(&in) {
		return errors.New("the message is empty: nothing was sent")
	}
	if w.u.Command == "" {
		w.push(&in)
		return nil
	}
	if d := w.gate.Judge(w.u.Command, "", "", ""); d.Hard {
		return errors.New("the check command is refused, so nothing was started: " + d.Reason)
	}
	told := fmt.Sprintf("When you answer in text, this command is run, and the work is done once it exits 0: %s\nIf it fails you get its output and go on.", w.u.Command)
	if len(w.u.Protect) > 0 {
		f, err := w.gate.Fingerprint(ctx, w.u.Protect)
		if err != nil {
			return fmt.Errorf("the protected files can't be read: %w", err)
		}
		w.protected = f.Protected
		told += "\nFiles that match these patterns must stay exactly as they are, or the check does not count: " + strings.Join(w.u.Protect, ", ")
	}
	w.push(&in)
	w.push(&msg.Note{Text: told})
	return nil
}

// check runs the check and queues what to tell the model, if that is to go on. Its error ends the work.
func (w *work) check(ctx context.Context) error {
	w.round++
	found, errBefore := w.gate.Fingerprint(ctx, w.u.Protect)
	out, err := w.gate.Exec(ctx, gate.Command{Text: w.u.Command, ByUser: true, Limit: checkOutput, Timeout: time.Hour})
	after, errAfter := w.gate.Fingerprint(ctx, w.u.Protect)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("the check command could not be run: %w", err)
	}
	known := errBefore == nil && errAfter == nil
	touched := w.touched(found, after, known)
	passed := out.Exit == 0 && !out.TimedOut && len(touched) == 0
	outcome := ""
	switch {
	case passed && !w.queued():
		outcome = "passed"
	case !passed && known && w.left == found.Sum:
		outcome = "no_changes"
	case !passed && w.round >= w.u.Rounds:
		outcome = "out_of_rounds"
	}
	if w.left = (state{}); known {
		w.left = after.Sum
	}
	w.emit(event.Check{Command: w.gate.Mask(w.u.Command), Round: w.round, Passed: passed, Output: out.Text, Outcome: outcome})
	if !passed && outcome == "" {
		w.push(&msg.Note{Text: w.failed(out, touched)})
	}
	return nil
}

// touched returns the protected files that are not as they were at the start, and says so in a notice. What the check itself adds is
// its own business; what it changes is not.
func (w *work) touched(before, after gate.Fingerprint, known bool) (out []string) {
	if !known && len(w.u.Protect) > 0 {
		w.notice("the protected files could not be read, so the check does not count")
		return w.u.Protect
	}
	for path, sum := range after.Protected {
		if before.Protected[path] == "" && w.protected[path] == "" {
			w.protected[path], before.Protected[path] = sum, sum
		}
	}
	all := maps.Clone(before.Protected)
	maps.Copy(all, w.protected)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if was := w.protected[path]; was != before.Protected[path] || was != after.Protected[path] {
			out = append(out, path)
			w.notice("the protected file " + path + " was changed, added or removed: the check does not count until it is as it was")
		}
	}
	return out
}

// failed is what the model is told of a check that did not pass.
func (w *work) failed(out gate.Output, touched []string) string {
	how := cmp.Or(out.Signal, fmt.Sprintf("exited with %d", out.Exit))
	if out.TimedOut {
		how = "ran into its time limit"
	}
	text := fmt.Sprintf("The check failed (%s), round %d of %d: %s", how, w.round, w.u.Rounds, w.u.Command)
	if len(touched) > 0 {
		text += "\nIt does not count: these protected files are not as they were at the start. Put them back: " + strings.Join(touched, ", ")
	}
	return text + "\nIts output:\n" + out.Text
}
