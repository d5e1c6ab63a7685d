package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"anchor/internal/agent"
	"anchor/internal/config"
	"anchor/internal/event"
	"anchor/internal/front/jsonl"
)

func TestExitCode(t *testing.T) {
	check := func(s string) *string { return &s }
	timeout := &agent.TimeoutError{After: "1s"}
	for _, c := range []struct {
		r     jsonl.Result
		cause error
		want  int
	}{
		{jsonl.Result{Status: event.Completed}, nil, 0},
		{jsonl.Result{Status: event.Completed, Check: check("passed")}, nil, 0},
		{jsonl.Result{Status: event.Completed, Check: check("no_changes")}, nil, 3},
		{jsonl.Result{Status: event.Completed, Check: check("out_of_rounds")}, nil, 3},
		{jsonl.Result{Status: event.LoopStopped}, nil, 4},
		{jsonl.Result{Status: event.RoundLimit}, nil, 5},
		{jsonl.Result{Status: event.Failed}, nil, 1},
		{jsonl.Result{Status: event.Failed, Error: &event.Fault{Kind: "auth", Status: 401}}, nil, 1},
		{jsonl.Result{Status: event.Failed, Error: &event.Fault{Kind: "overloaded", Status: 529, Retryable: true}}, nil, 75},
		{jsonl.Result{Status: jsonl.TimedOut}, timeout, 124},
		{jsonl.Result{Status: event.Cancelled}, stoppedBy(syscall.SIGINT), 130},
		{jsonl.Result{Status: event.Cancelled}, stoppedBy(syscall.SIGTERM), 143},
		{jsonl.Result{Status: event.Cancelled}, stoppedBy(syscall.SIGHUP), 129},
		{jsonl.Result{Status: event.Cancelled}, syscall.EPIPE, 141},
		{jsonl.Result{Status: event.Completed}, stoppedBy(syscall.SIGINT), 0}, // it had ended before
	} {
		if got := exitCode(c.r, c.cause); got != c.want {
			t.Errorf("%s, %v: %d, want %d", c.r.Status, c.cause, got, c.want)
		}
	}
	for err, want := range map[error]int{
		nil: 0, errors.New("x"): 1, usagef("x"): 2, &config.Error{}: 2, fmt.Errorf("wrapped: %w", usagef("x")): 2,
		fmt.Errorf("write: %w", syscall.EPIPE): 141, stoppedBy(syscall.SIGTERM): 143, error(timeout): 124, context.Canceled: 130, exit{4, ""}: 4,
	} {
		if got := code(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

// The next word after -r is an id only if it looks like one; flags may stand anywhere.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		args       []string
		id, prompt string
		rest       int
		resume     bool
	}{
		{[]string{"-r", "20260928-225355-be7b", "-p", "x"}, "20260928-225355-be7b", "x", 0, true},
		{[]string{"-p", "x", "--resume"}, "", "x", 0, true},
		{[]string{"-r", "fix the bug"}, "", "", 1, true},
		{[]string{"--resume=20260928-225355-be7b", "go", "on"}, "20260928-225355-be7b", "", 2, true},
		{[]string{"go", "-C", "d", "--", "--yolo", "-r"}, "", "", 3, false},
		{[]string{"-p", "--json is a flag"}, "", "--json is a flag", 0, false},
	} {
		o, err := parse(c.args)
		if err != nil || o.id != c.id || o.prompt != c.prompt || len(o.args) != c.rest || o.resume != c.resume {
			t.Errorf("%q: %v, %+v", c.args, err, o)
		}
	}
}
