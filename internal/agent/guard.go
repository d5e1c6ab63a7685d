package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"anchor/internal/msg"
	"anchor/internal/tool"
)

// The loop guard stops a turn that does not get on. It counts identical calls (same tool, same arguments whatever the order
// of keys) and failed calls in a row, warns before it stops, and is lenient where a repetition makes sense:
//
//   - a file written by another call clears the counts of calls that don't write, so that editing and testing is no loop;
//   - so does any other change of the directory, seen by its fingerprint, which is only taken around calls that repeat: a
//     script's edits, a file that is waited for;
//   - a call that writes is never cleared: two writes that undo each other are a loop.
//
// A command that exits non-zero is an answer: it neither counts as a failure nor ends a row of them.

const (
	sameWarn, sameStop = 3, 5
	failWarn, failStop = 2, 3
)

// state is the fingerprint of the directory; zero if it is not known.
type state [sha256.Size]byte

// runs is what the guard knows of calls that are one and the same: how many ran since something else changed, whether they write.
type runs struct {
	n      int
	writes bool
}

// repeats is whether another run calls for a look at the directory.
func (r *runs) repeats() bool { return r.n > 0 && !r.writes }

type guard struct {
	calls  map[[sha256.Size]byte]*runs
	failed int   // in a row
	seen   state // the directory, as last looked at
}

// runs returns what is known of a call's like.
func (g *guard) runs(c msg.Call) *runs {
	args := []byte(cmp.Or(string(c.Args), c.Bad))
	var v any
	if json.Unmarshal(args, &v) == nil {
		args, _ = json.Marshal(v) // keys in order
	}
	key := sha256.Sum256(append([]byte(c.Name+"\x00"), args...))
	if g.calls[key] == nil {
		g.calls[key] = &runs{}
	}
	return g.calls[key]
}

// room is how many calls may run before one of them could be the failure that stops the turn.
func (g *guard) room() int { return max(failStop-g.failed, 1) }

// saw takes in a look at the directory, after a call or, with nil, before one.
func (g *guard) saw(now state, by *runs) {
	if now != g.seen && now != (state{}) && g.seen != (state{}) {
		g.wrote(by)
	}
	g.seen = now
}

// wrote notes that the directory was changed by a call, or by something else.
func (g *guard) wrote(by *runs) {
	if g.seen = (state{}); by != nil {
		by.writes = true
	}
	for _, r := range g.calls {
		if !r.writes {
			r.n = 0
		}
	}
}

// count counts a call that ran. A warning with stop ends the turn.
func (g *guard) count(j *job) (warning string, stop bool) {
	j.runs.n++
	failed := j.result.Outcome == tool.Failed
	if failed {
		g.failed++
	} else if j.result.Outcome == tool.OK {
		g.failed = 0
	}
	name, same := j.call.Name, j.runs.n
	switch {
	case same >= sameStop:
		return fmt.Sprintf("%s was called %d times with the same arguments: the turn was stopped", name, same), true
	case failed && g.failed >= failStop:
		return fmt.Sprintf("%d calls failed in a row, the last one to %s: the turn was stopped", g.failed, name), true
	case same == sameWarn:
		return fmt.Sprintf("%s was called %d times with the same arguments; %d stop the turn", name, same, sameStop), false
	case failed && g.failed == failWarn:
		return fmt.Sprintf("%d calls failed in a row; %d stop the turn", g.failed, failStop), false
	}
	return "", false
}
