package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"anchor/internal/agent"
	"anchor/internal/config"
	"anchor/internal/event"
	"anchor/internal/front/jsonl"
)

// The exit codes, as docs/cli.md lists them.
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

// signalError is the cause of a context that a signal ended.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return "stopped by " + e.signal.String() }

// errGone is the cause of a context that ended because standard output was closed.
var errGone = errors.New("standard output was closed")

// exitCode maps the outcome of a run to the exit code.
func exitCode(r jsonl.Result, cause error) int {
	switch r.Status {
	case event.Completed:
		if r.Check != nil && *r.Check != "passed" {
			return exitCheck
		}
		return exitOK
	case event.LoopStopped:
		return exitLoop
	case event.RoundLimit:
		return exitRounds
	case event.Cancelled, jsonl.TimedOut:
		if code := causeCode(cause); code != 0 {
			return code
		}
		return exitCancelled
	}
	if r.Error != nil && r.Error.Retryable {
		return exitTryLater
	}
	return exitError
}

// causeCode maps the cause that ended a run from outside to its exit code; 0 for none.
func causeCode(cause error) int {
	var sig signalError
	var timeout *agent.TimeoutError
	switch {
	case errors.As(cause, &sig):
		return 128 + int(sig.signal)
	case errors.As(cause, &timeout):
		return exitTimedOut
	case errors.Is(cause, errGone):
		return exitBrokenPipe
	}
	return 0
}

// errorCode maps an error that ended the program to the exit code.
func errorCode(err error) int {
	var usage usageError
	var settings *config.Error
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage), errors.As(err, &settings):
		return exitUsage
	case errors.Is(err, syscall.EPIPE):
		return exitBrokenPipe
	case errors.Is(err, context.Canceled):
		return exitCancelled
	}
	if code := causeCode(err); code != 0 {
		return code
	}
	return exitError
}

// report writes an error for people, one line. Signals and closed pipes are no news.
func report(w *os.File, err error) {
	if err == nil || err.Error() == "" || causeCode(err) != 0 || errors.Is(err, syscall.EPIPE) {
		return
	}
	fmt.Fprintf(w, "anchor: %v\n", err)
}
