package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"anchor/internal/agent"
	"anchor/internal/config"
	"anchor/internal/event"
	"anchor/internal/front/jsonl"
)

// The exit codes, as docs/cli.md lists them. Those from exitTimedOut on end the program from outside and are no news.
const (
	exitOK         = 0
	exitError      = 1
	exitUsage      = 2
	exitCheck      = 3
	exitLoop       = 4
	exitRounds     = 5
	exitTryLater   = 75  // EX_TEMPFAIL of sysexits(3)
	exitTimedOut   = 124 // as timeout(1)
	exitCancelled  = 130
	exitBrokenPipe = 141 // 128 + SIGPIPE: what a shell shows for a program whose reader went away
)

// outcome is the exit code of a run that ended in order.
type outcome int

func (outcome) Error() string { return "" }

// usageError is a fault of the command line or the settings: exit code 2.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// signalError is the cause of a context that a signal ended.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return "stopped by " + e.signal.String() }

// errGone is the cause of a context that ended because standard output was closed.
var errGone = errors.New("standard output was closed")

// code is the exit code for what ended the program.
func code(err error) int {
	var (
		run      outcome
		usage    usageError
		settings *config.Error
		sig      signalError
		timeout  *agent.TimeoutError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &run):
		return int(run)
	case errors.As(err, &usage), errors.As(err, &settings):
		return exitUsage
	case errors.As(err, &sig):
		return 128 + int(sig.signal)
	case errors.As(err, &timeout):
		return exitTimedOut
	case errors.Is(err, errGone), errors.Is(err, syscall.EPIPE):
		return exitBrokenPipe
	case errors.Is(err, context.Canceled):
		return exitCancelled
	}
	return exitError
}

// exitCode is the exit code of a run by its result; cause is what ended its context, if anything did.
func exitCode(r jsonl.Result, cause error) int {
	switch {
	case r.Status == event.Completed && (r.Check == nil || *r.Check == "passed"):
		return exitOK
	case r.Status == event.Completed:
		return exitCheck
	case r.Status == event.LoopStopped:
		return exitLoop
	case r.Status == event.RoundLimit:
		return exitRounds
	case (r.Status == event.Cancelled || r.Status == jsonl.TimedOut) && cause != nil:
		return code(cause)
	case r.Status == event.Cancelled || r.Status == jsonl.TimedOut:
		return exitCancelled
	case r.Error != nil && r.Error.Retryable:
		return exitTryLater
	}
	return exitError
}

// report writes an error for people, one line.
func report(w io.Writer, err error) {
	if err != nil && err.Error() != "" && code(err) < exitTimedOut {
		fmt.Fprintf(w, "anchor: %v\n", err)
	}
}
