package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"sync"

	"anchor/internal/agent"
	"anchor/internal/event"
	"anchor/internal/front/jsonl"
	"anchor/internal/front/print"
	"anchor/internal/front/wire"
)

// run is anchor without a command: one headless run, the editor protocol, or a session by lines.
func run(ctx context.Context, sh shell, o *options) error {
	if o.schema {
		_, err := io.WriteString(sh.out, jsonl.Schema())
		return err
	}
	if o.timeout != "" {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, o.timeout.Time(), &agent.TimeoutError{After: string(o.timeout)})
		defer stop()
	}
	var watch sync.WaitGroup
	defer watch.Wait()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	watch.Go(func() { watchReader(watching, sh.out, sh.signals.cancel) })
	switch {
	case o.print:
		return headless(ctx, sh, o)
	case o.json:
		return editor(ctx, sh, o)
	}
	return interactive(ctx, sh, o)
}

// headless is -p. The result is a fold over the events, whichever way they are shown.
func headless(ctx context.Context, sh shell, o *options) error {
	fold, out := jsonl.NewFold(), jsonl.NewWriter(sh.out, o.verbose, sh.signals.cancel)
	show := (&print.Lines{W: sh.err, Verbose: o.verbose, Stream: o.stream}).Event
	if o.json {
		show = out.Event
	}
	f := face{sink: event.Serial(func(e event.Event) { fold.Add(e); show(e) })}
	id, unused, err := once(ctx, sh, o, f)
	cause := context.Cause(ctx)
	if r := fold.Result(""); err == nil && cause != nil && o.until != "" && r.Status == event.Completed && r.Check == nil {
		fold.End(event.Cancelled, nil) // in a check, which has no end of its own
	}
	switch timedOut := code(cause) == exitTimedOut; {
	case timedOut && (err != nil || fold.Result("").Status == event.Cancelled):
		fold.End(jsonl.TimedOut, nil)
	case err != nil && code(err) > exitTimedOut:
		fold.End(event.Cancelled, nil)
	case err != nil:
		fold.End(event.Failed, &event.Fault{Kind: "config"})
	}
	result := fold.Result(id)
	if o.json {
		out.Result(result)
		err = cmp.Or(err, out.Err())
	} else if err == nil && result.Status == event.Completed && !o.stream {
		err = answer(sh.out, result.Text)
	}
	switch {
	case err != nil:
		return err
	case unused && result.Status == event.Completed:
		return exit{exitError, ""}
	}
	return exit{exitCode(result, cause), ""}
}

// once does the work of a headless run. Its error says why no turn began. unused says that a script had replies left: whoever
// wrote it expected something else.
func once(ctx context.Context, sh shell, o *options, f face) (id string, unused bool, err error) {
	w, err := prepare(ctx, sh, o, f)
	if err != nil {
		return "", false, err
	}
	defer w.close()
	text, err := w.piped(ctx)
	if err == nil {
		err = w.open(ctx)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", false, err
	}
	w.turn(ctx, text)
	if w.script != nil {
		for _, u := range w.script.Unused() {
			unused = true
			f.sink(event.Notice{Message: u})
		}
	}
	return w.id(), unused, nil
}

// answer writes the final answer of -p: as it is to a pipe or file, with control characters made visible to a terminal.
func answer(out *os.File, text string) error {
	if text == "" {
		return nil
	}
	if info, err := out.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		text = event.Visible(text)
	}
	return say(out, strings.TrimSuffix(text, "\n"))
}

// editor is --json without -p. Its end with the client's input is exit code 0.
func editor(ctx context.Context, sh shell, o *options) error {
	queue := wire.NewQueue(sh.out, sh.signals.cancel)
	out := jsonl.NewWriter(queue, o.verbose, sh.signals.cancel)
	desk := jsonl.NewDesk(out.Event)
	served := false
	err := converse(ctx, sh, o, face{sink: out.Event, approver: desk, asker: desk}, func(w *work) error {
		served = true
		server := jsonl.Server{In: sh.in, Out: out, Desk: desk, Turn: w.turn, Ready: func() event.Ready {
			return event.Ready{Session: w.id(), Model: w.model.Name, Tools: w.agent.ToolNames()}
		}}
		return server.Run(ctx)
	})
	if err != nil && !served && ctx.Err() == nil {
		out.Event(event.Error{Message: err.Error()})
	}
	return cmp.Or(err, queue.Close())
}

// converse serves a front that asks for input itself.
func converse(ctx context.Context, sh shell, o *options, f face, serve func(*work) error) error {
	w, err := prepare(ctx, sh, o, f)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.open(ctx); err != nil {
		return err
	}
	return serve(w)
}
