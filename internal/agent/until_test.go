package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anchor/internal/event"
)

func TestUntil(t *testing.T) {
	step := func(i int) []reply { return []reply{do(write(fmt.Sprint("f", i), "x")), say(fmt.Sprint("done ", i))} }
	for name, c := range map[string]struct {
		replies []reply
		until   Until
		checks  string // passed? and outcome, in order
		last    []string
	}{
		"passes":                               {[]reply{do(write("ok", "1")), say("done")}, Until{Command: "test -f ok"}, "true passed", []string{"test -f ok"}},
		"goes on":                              {concat(step(1), []reply{do(write("ok", "1")), say("now")}), Until{Command: "cat ok || { echo MISSING-OK; exit 1; }"}, "false, true passed", []string{"MISSING-OK", "round 1 of 10", "exited with 1"}},
		"no changes":                           {concat(step(1), []reply{say("still done")}), Until{Command: "false"}, "false, false no_changes", nil},
		"out of rounds":                        {concat(step(1), step(2), step(3)), Until{Command: "false", Rounds: 3}, "false, false, false out_of_rounds", nil},
		"by a script":                          {concat(step(1), []reply{do(shell("echo x > y")), say("2")}, step(3)), Until{Command: "false", Rounds: 3}, "false, false, false out_of_rounds", nil},
		"the check's own changes do not count": {concat(step(1), []reply{say("again")}), Until{Command: "date +%N > stamp; false"}, "false, false no_changes", nil},
		"protected":                            {[]reply{do(shell("echo weak > a_test")), say("done"), do(shell("echo strong > a_test")), say("put back")}, Until{Command: "true", Protect: []string{"*_test"}}, "false, true passed", []string{"a_test", "Put them back", "must stay exactly"}},
		"protected, added":                     {[]reply{do(shell("echo x > b_test")), say("done"), do(shell("rm b_test")), say("gone")}, Until{Command: "true", Protect: []string{"*_test"}}, "false, true passed", []string{"b_test"}},
		"protected, removed":                   {[]reply{do(shell("rm a_test")), say("done"), say("so what")}, Until{Command: "true", Protect: []string{"*_test"}}, "false, false no_changes", []string{"a_test"}},
		"protected, behind a link":             {[]reply{do(shell("ln -s a_test c; echo weak > real")), say("done"), do(shell("echo strong > real")), say("put back")}, Until{Command: "test -f c", Protect: []string{"link_test"}}, "false, true passed", []string{"link_test", "Put them back"}},
		"the check adds":                       {[]reply{do(write("x", "1")), say("done"), do(write("ok", "1")), say("done")}, Until{Command: "echo x > c_test; test -f ok", Protect: []string{"*_test"}}, "false, true passed", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, c.replies).file("a_test", "strong\n").file("real", "strong\n")
			if err := os.Symlink("real", filepath.Join(w.dir, "link_test")); err != nil {
				t.Fatal(err)
			}
			end := w.Work(t.Context(), Input{Text: "do it"}, c.until)
			w.want(end, event.Completed, "")
			var got []string
			for i, e := range of[event.Check](w) {
				got = append(got, strings.TrimSpace(fmt.Sprint(e.Passed, " ", e.Outcome)))
				if e.Round != i+1 || e.Command != c.until.Command {
					t.Errorf("%+v", e)
				}
			}
			if s := strings.Join(got, ", "); s != c.checks {
				t.Errorf("checks: %s", s)
			}
			contains(t, w.last(), c.last...)
			if strings.HasPrefix(name, "protected") {
				contains(t, of[event.Notice](w)[0].Message, "_test")
			}
		})
	}
}

func TestUntilEndsWithItsTurn(t *testing.T) {
	w := start(t, []reply{say(""), say("")})
	w.want(w.Work(t.Context(), Input{Text: "go"}, Until{Command: "true"}), event.Failed, "empty answer")
	if len(of[event.Check](w)) != 0 {
		t.Error("checked after an error")
	}
}

func TestDeniedCheck(t *testing.T) {
	w := start(t, nil)
	w.want(w.Work(t.Context(), Input{Text: "go"}, Until{Command: "sudo true"}), event.Failed, "the check command is refused")
	if len(of[event.TurnEnd](w)) != 1 || len(of[event.Usage](w)) != 1 {
		t.Errorf("%v", w.events)
	}
}

func TestCancelInACheck(t *testing.T) {
	w := start(t, []reply{say("done")})
	ctx, cancel := context.WithCancelCause(t.Context())
	watch := make(chan struct{})
	go func() {
		defer close(watch)
		for {
			if _, err := os.Stat(filepath.Join(w.dir, "begun")); err == nil || ctx.Err() != nil {
				cancel(&TimeoutError{After: "1m"})
				return
			}
		}
	}()
	w.want(w.Work(ctx, Input{Text: "go"}, Until{Command: "touch begun; sleep 50"}), event.Cancelled, "timed out after 1m")
	<-watch
	if ends := of[event.TurnEnd](w); len(ends) != 1 || ends[0].Reason != event.Completed || len(of[event.Check](w)) != 0 {
		t.Errorf("%v", ends)
	}
}

func TestQueuedDuringACheck(t *testing.T) {
	w := start(t, []reply{say("one"), say("two")})
	w.on = func(e event.Event) {
		if _, ok := e.(event.TurnEnd); ok && len(w.script.replies) == 1 {
			w.Queue(Input{Text: "one thing more"})
		}
	}
	end := w.Work(t.Context(), Input{Text: "go"}, Until{Command: "true"})
	if checks := of[event.Check](w); end.Text != "two" || len(checks) != 2 || checks[0].Outcome != "" || checks[1].Outcome != "passed" {
		t.Errorf("%+v %+v", end, checks)
	}
	contains(t, w.last(), "one thing more")
}

func TestCheckIsMasked(t *testing.T) {
	token := "ghp_" + "a8Kd92mQpZ7xY3vB6nT1wR5sE0uJ4hLcFgXo"
	w := start(t, []reply{say("done")})
	w.Work(t.Context(), Input{Text: "go"}, Until{Command: "echo " + token})
	if got := fmt.Sprint(of[event.Check](w)); strings.Count(got, "[masked: github token]") != 2 || strings.Contains(got, token) {
		t.Error(got)
	}
}
