package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"anchor/internal/agent"
	"anchor/internal/event"
	"anchor/internal/front/jsonl"
	"anchor/internal/front/print"
)

// run is anchor without a command: one headless run, the editor protocol, or a session by lines.
func run(ctx context.Context, sh shell, o *options, s *signals, cancel context.CancelCauseFunc) error {
	if o.timeout != "" {
		d, _ := time.ParseDuration(o.timeout)
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, d, &agent.TimeoutError{After: o.timeout})
		defer stop()
	}
	var watch sync.WaitGroup
	defer watch.Wait()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	watch.Go(func() { watchReader(watching, sh.out, cancel) })
	switch {
	case o.print:
		return headless(ctx, sh, o, cancel)
	case o.json:
		return editor(ctx, sh, o, cancel)
	}
	return interactive(ctx, sh, o, s)
}

// gone is what a writer of standard output calls when nobody reads it any more.
func gone(cancel context.CancelCauseFunc) func(error) {
	return func(err error) {
		if errors.Is(err, syscall.EPIPE) {
			err = errGone
		}
		cancel(err)
	}
}

// headless is -p. The result is a fold over the events, whichever way they are shown.
func headless(ctx context.Context, sh shell, o *options, cancel context.CancelCauseFunc) error {
	fold := jsonl.NewFold()
	out := jsonl.NewWriter(sh.out, o.verbose, gone(cancel))
	show := (&print.Lines{W: sh.err, Verbose: o.verbose, Stream: o.stream}).Event
	if o.json {
		show = out.Event
	}
	f := face{sink: event.Serial(func(e event.Event) { fold.Add(e); show(e) })}
	w, err := begin(ctx, sh, o, f)
	var text string
	if err == nil {
		defer w.close()
		text, err = w.prompt(ctx)
	}
	if err == nil {
		err = w.open(ctx)
	}
	if err != nil {
		failed(sh, o, err)
		return err
	}
	w.turn(ctx, text)
	settle(ctx, fold)
	unused := w.unused()
	for _, u := range unused {
		f.sink(event.Notice{Message: u})
	}
	w.close()
	result := fold.Result(w.id())
	if o.json {
		out.Result(result)
	} else if result.Status == event.Completed && !o.stream {
		if err := answer(sh.out, result.Text); err != nil {
			return err
		}
	}
	if len(unused) > 0 && result.Status == event.Completed {
		return outcome(exitError)
	}
	return outcome(exitCode(result, context.Cause(ctx)))
}

// settle tells the fold that the clock ended the run: its turn ends as cancelled.
func settle(ctx context.Context, fold *jsonl.Fold) {
	var timeout *agent.TimeoutError
	if fold.Result("").Status == event.Cancelled && errors.As(context.Cause(ctx), &timeout) {
		fold.Stopped(jsonl.TimedOut)
	}
}

// answer writes the final answer of -p: as it is to a pipe or file, with control characters made visible to a terminal.
func answer(out *os.File, text string) error {
	if text == "" {
		return nil
	}
	if info, err := out.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		text = print.Visible(text)
	}
	_, err := fmt.Fprintln(out, strings.TrimSuffix(text, "\n"))
	return err
}

// failed writes the result line of a --json -p run that could not start.
func failed(sh shell, o *options, err error) {
	if !o.json || !o.print {
		return
	}
	fold := jsonl.NewFold()
	if code := causeCode(err); code != 0 {
		fold.Stopped(event.Cancelled)
	} else {
		fold.Failed(&event.Fault{Kind: "config"})
	}
	jsonl.NewWriter(sh.out, o.verbose, func(error) {}).Result(fold.Result(""))
}

// editor is --json without -p. Its end with the client's input is exit code 0.
func editor(ctx context.Context, sh shell, o *options, cancel context.CancelCauseFunc) error {
	out := jsonl.NewWriter(sh.out, o.verbose, gone(cancel))
	desk := jsonl.NewDesk(out.Event)
	w, err := begin(ctx, sh, o, face{sink: out.Event, approver: desk, asker: desk})
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.open(ctx); err != nil {
		return err
	}
	server := jsonl.Server{In: sh.in, Out: out, Desk: desk, Turn: w.turn, Ready: func() event.Ready {
		return event.Ready{Session: w.id(), Model: w.model.Name, Tools: w.agent.ToolNames()}
	}}
	return server.Run(ctx)
}

// interactive is a session of a person's. Until a terminal front takes it over it goes by lines.
func interactive(ctx context.Context, sh shell, o *options, s *signals) error {
	m := print.NewLineMode(sh.in, sh.out, o.verbose)
	w, err := begin(ctx, sh, o, face{sink: m.Event, approver: m, asker: m, person: true})
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.open(ctx); err != nil {
		return err
	}
	fmt.Fprintf(sh.out, "anchor in %s with %s; /exit or the end of input leaves\n", w.dir, w.model.Name)
	return m.Run(ctx, strings.Join(o.args, " "), func(ctx context.Context, text string) {
		s.during(ctx, func(ctx context.Context) { w.turn(ctx, text) })
	})
}
