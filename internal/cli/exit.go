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

// The exit codes, as docs/cli.md lists them. From exitTimedOut on the program was ended from outside, which is no news.
const (
	exitOK, exitError, exitUsage, exitCheck, exitLoop, exitRounds = 0, 1, 2, 3, 4, 5

	exitTryLater   = 75  // EX_TEMPFAIL of sysexits(3)
	exitTimedOut   = 124 // as timeout(1)
	exitCancelled  = 130
	exitBrokenPipe = 141 // 128 + SIGPIPE: what a shell shows for a program whose reader went away
)

// exit is an error with an exit code of its own. Without a text it is a run that ended in order.
type exit struct {
	code int
	text string
}

func (e exit) Error() string { return e.text }

// usagef is a fault of the command line or the settings.
func usagef(format string, args ...any) error { return exit{exitUsage, fmt.Sprintf(format, args...)} }

// stoppedBy is the cause of a context that a signal ended.
func stoppedBy(s syscall.Signal) error { return exit{128 + int(s), "stopped by " + s.String()} }

// code is the exit code for what ended the program.
func code(err error) int {
	var (
		own      exit
		settings *config.Error
		timeout  *agent.TimeoutError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &settings):
		return exitUsage
	case errors.As(err, &timeout):
		return exitTimedOut
	case errors.Is(err, syscall.EPIPE):
		return exitBrokenPipe
	case errors.Is(err, context.Canceled):
		return exitCancelled
	}
	return exitError
}

// exitCode is the exit code of a run by its result; cause is what ended its context, if anything did.
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
		if cause == nil {
			return exitCancelled
		}
		return code(cause)
	}
	if r.Error != nil && r.Error.Retryable {
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
