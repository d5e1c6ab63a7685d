package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anchor/internal/event"
	"anchor/internal/msg"
)

// The guard seen from outside: how many calls ran, whether it warned, how the turn ended.
func TestGuard(t *testing.T) {
	same := func(i int) reply { return do(read("a")) }
	raw := func(args string) msg.Call {
		callNumber++
		return msg.Call{ID: fmt.Sprint("r", callNumber), Name: "read", Args: []byte(args)}
	}
	for name, c := range map[string]struct {
		replies  []reply
		ran      int
		warnings int
		stopped  string // detail, "" for a completed turn
	}{
		"the same call":         {repeat(5, same), 5, 2, "read was called 5 times"},
		"four of them":          {append(repeat(4, same), say("done")), 4, 1, ""},
		"six in one reply":      {[]reply{do(read("a"), read("a"), read("a"), read("a"), read("a"), read("a"))}, 5, 2, "5 times"},
		"another order of keys": {append(repeat(2, func(int) reply { return do(call("shell", nil), read("a"), shell("true")) }), do(raw(`{"path":"a"}`), raw(` {"path" : "a"}`)), do(read("a"))), 9, 2, "read was called 5 times"},
		"failures":              {repeat(3, func(i int) reply { return do(read(fmt.Sprint("no", i))) }), 3, 2, "3 calls failed in a row"},
		"in one reply":          {[]reply{do(read("no1"), read("no2"), read("no3"), read("no4"), read("no5"))}, 3, 2, "3 calls failed in a row"},
		"not in a row": {append(repeat(4, func(i int) reply {
			return do(read(fmt.Sprint("no", i)), read(fmt.Sprint("no-", i)), shell(fmt.Sprint("echo ", i)))
		}), say("done")), 12, 4, ""},
		"non-zero exit":                {append(repeat(4, func(i int) reply { return do(shell(fmt.Sprintf("echo %d; false", i))) }), say("done")), 4, 0, ""},
		"exit between":                 {[]reply{do(read("no1"), shell("false"), read("no2"), shell("exit 3"), read("no3"))}, 5, 2, "3 calls failed"},
		"unknown tools":                {repeat(3, func(i int) reply { return do(call("fly", map[string]any{"to": i})) }), 3, 2, "3 calls failed"},
		"edit and test":                {append(repeat(8, func(i int) reply { return do(write("n", fmt.Sprint(i)), shell("grep -q 9 n")) }), say("done")), 16, 0, ""},
		"edits by a script":            {append(repeat(8, func(i int) reply { return do(shell(fmt.Sprintf("echo %d > n", i)), shell("cat n")) }), say("done")), 16, 0, ""},
		"writes that undo each other":  {repeat(5, func(i int) reply { return do(write("n", "a"), write("n", "b")) }), 9, 3, "write was called 5 times"},
		"scripts that undo each other": {repeat(5, func(i int) reply { return do(shell("echo a > n"), shell("echo bb > n")) }), 9, 2, "shell was called 5 times"},
		"polling agents":               {append(repeat(9, func(i int) reply { return do(call("agent_status", nil)) }), say("done")), 9, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, c.replies).file("a", "x\n").file("n", "0")
			end := w.say("go")
			if c.stopped == "" {
				w.want(end, event.Completed, "")
			} else {
				w.want(end, event.LoopStopped, c.stopped)
			}
			if ran := len(of[event.ToolStart](w)); ran != c.ran || len(of[event.LoopWarning](w)) != c.warnings {
				t.Errorf("%d calls ran, not %d; warnings %v", ran, c.ran, of[event.LoopWarning](w))
			}
			calls := 0
			for _, r := range c.replies {
				calls += len(r.calls)
			}
			if r := w.results(); len(r) != calls || calls > c.ran && r[calls-1].Text != notRun {
				t.Errorf("%d results of %d calls", len(r), calls)
			}
		})
	}
}

func TestGuardForgivesWaiting(t *testing.T) {
	w := start(t, append(repeat(7, func(int) reply { return do(read("progress")) }), say("ready"))).file("progress", "0")
	n := 0
	w.on = func(e event.Event) {
		if _, ok := e.(event.Context); ok {
			n++
			if err := os.WriteFile(filepath.Join(w.dir, "progress"), []byte(strings.Repeat("x", n)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.want(w.say("wait for it"), event.Completed, "")
	if len(of[event.LoopWarning](w)) > 0 {
		t.Error("warned of polling")
	}
}

func TestGuardStartsAfreshEachTurn(t *testing.T) {
	w := start(t, concat(repeat(4, func(int) reply { return do(read("a")) }), []reply{say("one"), do(read("a")), say("two")})).file("a", "x")
	w.want(w.say("go"), event.Completed, "")
	w.want(w.say("go on"), event.Completed, "")
}
