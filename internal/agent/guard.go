package agent

import (
	"bytes"
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
//   - so does any other change of the directory between two runs of a call, seen by its fingerprint, which is only taken
//     around calls that repeat: a script's edits, a file that is waited for;
//   - a call that writes is never cleared: two writes that undo each other are a loop.
//
// A command that exits non-zero is an answer: it neither counts as a failure nor ends a row of them.

const (
	sameWarn, sameStop = 3, 5
	failWarn, failStop = 2, 3
)

// key tells calls apart.
type key [sha256.Size]byte

func keyOf(c msg.Call) key {
	args := []byte(c.Bad)
	if c.Args != nil {
		args = canonical(c.Args)
	}
	return sha256.Sum256(append([]byte(c.Name+"\x00"), args...))
}

// canonical is JSON with its keys in order and numbers as they are written.
func canonical(args json.RawMessage) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return args
	}
	out, err := json.Marshal(v)
	if err != nil {
		return args
	}
	return out
}

// state is what the directory holds, if that is known.
type state struct {
	sum   [32]byte
	known bool
}

// runs is what the guard knows of one call.
type runs struct {
	n             int
	writes        bool
	before, after state // around its last run, from the second on
}

type guard struct {
	calls  map[key]*runs
	failed int // in a row
}

func newGuard() guard { return guard{calls: map[key]*runs{}} }

// room is how many calls may run before one of them could be the failure that stops the turn.
func (g *guard) room() int { return max(failStop-g.failed, 1) }

// before looks, ahead of a repeated call, whether something else changed the directory since its last run.
func (g *guard) before(k key, s tool.Spec, look func() state) {
	r := g.calls[k]
	if r == nil || r.writes || s.Uncounted {
		return
	}
	r.before = look()
	if r.before.known && r.after.known && r.before != r.after {
		r.n = 0
	}
}

// wrote notes that a call wrote a file.
func (g *guard) wrote(k key) {
	for other, r := range g.calls {
		if other != k && !r.writes {
			r.n, r.after = 0, state{}
		}
	}
	if g.calls[k] == nil {
		g.calls[k] = &runs{}
	}
	g.calls[k].writes = true
}

// count counts a call that ran. A warning with stop ends the turn.
func (g *guard) count(j *job, look func() state) (warning string, stop bool) {
	switch j.result.Outcome {
	case tool.Failed:
		g.failed++
	case tool.OK:
		g.failed = 0
	}
	same := g.same(j, look)
	name := j.call.Name
	switch {
	case same >= sameStop:
		return fmt.Sprintf("%s was called %d times with the same arguments: the turn was stopped", name, same), true
	case j.result.Outcome == tool.Failed && g.failed >= failStop:
		return fmt.Sprintf("%d calls failed in a row, the last one to %s: the turn was stopped", g.failed, name), true
	case same == sameWarn:
		return fmt.Sprintf("%s was called %d times with the same arguments; %d stop the turn", name, same, sameStop), false
	case j.result.Outcome == tool.Failed && g.failed == failWarn:
		return fmt.Sprintf("%d calls failed in a row; %d stop the turn", g.failed, failStop), false
	}
	return "", false
}

// same counts the call among its like and returns how many there were.
func (g *guard) same(j *job, look func() state) int {
	if j.spec.Uncounted {
		return 0
	}
	r := g.calls[j.key]
	if r == nil {
		r = &runs{}
		g.calls[j.key] = r
	}
	r.n++
	if r.before.known {
		if r.after = look(); r.after.known && r.after != r.before && !j.spec.Parallel {
			r.writes = true
		}
		r.before = state{}
	}
	return r.n
}
