package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/msg"
	"anchor/internal/tool"
)

const (
	maxLook     = 2 * time.Second // at the directory; in a huge tree it is given up
	interrupted = "The user interrupted this call after it was started. It may have had effects: look before you repeat it."
	unallowed   = "Not done: the user interrupted this call before it was allowed."
	notRun      = "Not run: the turn ended before this call was started."
)

// job is one call on its way.
type job struct {
	call   msg.Call
	runs   *runs
	tool   tool.Tool // nil: the call can't be run, and result says why
	spec   tool.Spec
	result tool.Result
	err    error
}

// runCalls runs the calls of one reply. Each has its result in the log when it returns, those that were not run too.
func (t *turn) runCalls(ctx context.Context, calls []msg.Call) (err error) {
	t.room = t.window / 2
	for len(calls) > 0 && err == nil {
		if err = ctx.Err(); err == nil {
			jobs := t.side(calls)
			err = t.runJobs(ctx, jobs)
			calls = calls[len(jobs):]
		}
	}
	for _, c := range calls {
		t.add(&msg.Tool{CallID: c.ID, Name: c.Name, Text: notRun})
	}
	return err
}

// side returns the first call and those that may run at its side: all only read, and no more than the loop guard lets fail.
func (t *turn) side(calls []msg.Call) []*job {
	jobs := []*job{t.newJob(calls[0])}
	for _, c := range calls[1:min(len(calls), t.guard.room())] {
		j := t.newJob(c)
		same := func(o *job) bool { return o.runs == j.runs }
		if !jobs[0].spec.Parallel || !j.spec.Parallel || slices.ContainsFunc(jobs, same) {
			break
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// newJob finds the tool of a call, or what is wrong with the call.
func (t *turn) newJob(c msg.Call) *job {
	j := &job{call: c, runs: t.guard.runs(c)}
	found, err := named("tool", c.Name, t.offered, func(o tool.Tool) string { return o.Spec().Name })
	switch {
	case err != nil:
		j.result = tool.Fail(err.Error())
	case c.Args == nil:
		j.result = tool.Fail(fmt.Sprintf("Not run: the arguments are not valid JSON: %s. Send the call again with a JSON object that fits the schema. What came was: %s",
			c.Fault, shorten(c.Bad, 2000)))
	default:
		j.tool, j.spec = found, found.Spec()
	}
	if j.spec.Uncounted {
		j.runs = &runs{}
	}
	return j
}

// named finds what has a name, or tells the model what there is.
func named[T any](kind, name string, list []T, nameOf func(T) string) (found T, err error) {
	var names []string
	for _, t := range list {
		if names = append(names, nameOf(t)); nameOf(t) == name {
			return t, nil
		}
	}
	return found, fmt.Errorf("there is no %s %q. There are: %s", kind, name, cmp.Or(strings.Join(names, ", "), "none"))
}

// runJobs runs calls side by side and takes in their results in order.
func (t *turn) runJobs(ctx context.Context, jobs []*job) (err error) {
	repeats := slices.ContainsFunc(jobs, func(j *job) bool { return j.runs.repeats() })
	if repeats {
		t.look(ctx, nil)
	}
	for _, j := range jobs {
		t.started(j)
	}
	var side sync.WaitGroup
	for _, j := range jobs[1:] {
		side.Go(func() { t.runJob(ctx, j) })
	}
	t.runJob(ctx, jobs[0])
	side.Wait()
	if t.wrote.Swap(false) {
		t.guard.wrote(jobs[0].runs)
	} else if repeats && !jobs[0].spec.Parallel {
		t.look(ctx, jobs[0].runs)
	}
	for _, j := range jobs {
		err = cmp.Or(err, t.finish(ctx, j))
	}
	return err
}

// look lets the guard see the directory, after a call or, with nil, before one.
func (t *turn) look(ctx context.Context, by *runs) {
	ctx, stop := context.WithTimeout(ctx, maxLook)
	defer stop()
	f, err := t.gate.Fingerprint(ctx, nil)
	if err != nil {
		f.Sum = state{}
	}
	t.guard.saw(f.Sum, by)
}

func (t *turn) started(j *job) {
	summary := ""
	if j.tool != nil {
		summary = t.gate.Mask(j.tool.Summary(j.call.Args))
	}
	input := json.RawMessage(t.gate.Mask(cmp.Or(string(j.call.Args), j.call.Bad)))
	if !json.Valid(input) {
		input, _ = json.Marshal(string(input))
	}
	t.emit(event.ToolStart{ID: j.call.ID, Name: j.call.Name, Summary: summary, Input: input})
}

// runJob carries out one call. A tool that panics is a broken harness, not the end of the program.
func (t *turn) runJob(ctx context.Context, j *job) {
	if j.tool == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			j.err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	id := strings.TrimPrefix(t.o.id+"/"+j.call.ID, "/")
	env := tool.Env{CallID: j.call.ID, Gate: t.gate.As(j.call.Name, id), Asker: t.o.Asker, Spawner: &t.crew, Skills: t.o.Skills}
	j.result, j.err = j.tool.Run(ctx, env, j.call.Args)
}

// finish tells and logs a result, masked, not over a quarter of the window, all of one reply not over half of it.
func (t *turn) finish(ctx context.Context, j *job) (err error) {
	switch {
	case j.err == nil:
	case errors.Is(j.err, gate.ErrNotDone):
		j.result, err = tool.Fail(unallowed), ctx.Err()
	case ctx.Err() != nil:
		j.result, err = tool.Fail(strings.TrimPrefix(j.result.Text+"\n"+interrupted, "\n")), ctx.Err()
	default:
		err = fmt.Errorf("the tool %s is broken: %w", j.call.Name, j.err)
		j.result = tool.Fail(err.Error())
	}
	text := t.gate.Mask(strings.ToValidUTF8(j.result.Text, "\uFFFD"))
	text = shorten(text, t.bytes(min(t.window/4, max(t.room, t.window/32))))
	m := &msg.Tool{CallID: j.call.ID, Name: j.call.Name, OK: j.result.Outcome == tool.OK, Text: text, Images: j.result.Images}
	if !says(m) {
		m.Text = noOutput
	}
	t.room -= t.tokens(size(m))
	t.emit(event.ToolEnd{ID: m.CallID, Name: m.Name, OK: m.OK, Result: m.Text})
	t.add(m)
	if err != nil {
		return err
	}
	warning, stop := t.guard.count(j)
	if warning == "" {
		return nil
	}
	t.emit(event.LoopWarning{Message: warning})
	if stop {
		return ended(event.LoopStopped, warning)
	}
	t.push(&msg.Note{Text: "Loop guard: " + warning + ". Do something else: look at what the results say, or answer in text what is in the way."})
	return nil
}
