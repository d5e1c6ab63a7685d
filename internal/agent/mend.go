package agent

import (
	"fmt"
	"slices"

	"anchor/internal/msg"
)

// One pass checks and mends the list of messages before each request, whatever made it so: a cancel, a crash, a resume, a
// reduction, another model, a damaged file. After it
//
//   - the list starts with what the user said, or a summary;
//   - each call has exactly one result, directly after its reply, in the order of the calls; results without a call are gone;
//   - ids are unique in the whole conversation;
//   - no text is blank, no reply empty; thinking is signed and its model's own; of an interrupted reply there is the text.
//
// It is deterministic, and what needs no mending keeps its address: mending a mended list changes nothing.

const (
	noResult = "There is no record of this call's result: the program ended before it was written. The call may have had effects: look before you repeat it."
	noOutput = "(no output)"
)

// mend returns the mended list and the ids of its calls. to is the model that gets it.
func mend(in []entry, to Model) ([]entry, map[string]bool) {
	out := make([]entry, 0, len(in)+8)
	ids := make(map[string]bool, len(in))
	for i := firstOf(in); i < len(in); {
		reply, ok := in[i].m.(*msg.Assistant)
		if !ok {
			if saysAnything(in[i].m) {
				out = append(out, in[i])
			}
			i++
			continue
		}
		end := i + 1
		for end < len(in) && !isReply(in[end]) {
			end++
		}
		out = mendRound(out, in[i], clean(reply, to), in[i+1:end], ids)
		i = end
	}
	return out, ids
}

// firstOf is where the list may begin.
func firstOf(in []entry) int {
	for i, e := range in {
		switch e.m.(type) {
		case *msg.User, *msg.Summary:
			if saysAnything(e.m) {
				return i
			}
		}
	}
	return len(in)
}

func isReply(e entry) bool {
	_, ok := e.m.(*msg.Assistant)
	return ok
}

// saysAnything is whether a message that is no reply may stand in the list. A result that is asked about has no call.
func saysAnything(m msg.Message) bool {
	switch m := m.(type) {
	case *msg.User:
		return !blank(m.Text) || len(m.Images) > 0
	case *msg.Summary:
		return !blank(m.Text)
	case *msg.Note:
		return !blank(m.Text)
	}
	return false
}

// mendRound appends a reply, the results of its calls, and what else came before the next reply.
func mendRound(out []entry, e entry, reply *msg.Assistant, rest []entry, ids map[string]bool) []entry {
	if calls := reply.Calls(); len(calls) > 0 || !blank(reply.Text()) {
		reply = rename(reply, ids)
		legal := calls
		if reply != e.m {
			e, legal = newEntry(reply, e.seq), reply.Calls()
		}
		out = append(out, e)
		taken := make([]bool, len(rest))
		for i, c := range legal {
			out = append(out, resultOf(c, calls[i].ID, rest, taken))
		}
	}
	for _, r := range rest {
		if saysAnything(r.m) {
			out = append(out, r)
		}
	}
	return out
}

// resultOf finds the result of a call that had the id old, and makes one where there is none.
func resultOf(c msg.Call, old string, rest []entry, taken []bool) entry {
	for i, e := range rest {
		m, ok := e.m.(*msg.Tool)
		if !ok || taken[i] || m.CallID != old {
			continue
		}
		taken[i] = true
		text := m.Text
		if blank(text) && len(m.Images) == 0 {
			text = noOutput
		}
		if m.CallID == c.ID && m.Name == c.Name && m.Text == text {
			return e
		}
		fixed := &msg.Tool{CallID: c.ID, Name: c.Name, OK: m.OK, Text: text, Images: m.Images}
		return entry{m: fixed, seq: e.seq, trimmed: e.trimmed, size: size(fixed)}
	}
	return newEntry(&msg.Tool{CallID: c.ID, Name: c.Name, Text: noResult}, 0)
}

// clean returns the reply without what must not be sent.
func clean(r *msg.Assistant, to Model) *msg.Assistant {
	own := r.Provider == to.Provider && r.Model == to.Name
	drop := func(b msg.Block) bool {
		switch b := b.(type) {
		case msg.Text:
			return blank(b.Text)
		case msg.Thinking:
			return r.Interrupted || !own || b.Signature == "" && b.Redacted == ""
		case msg.Call:
			return r.Interrupted
		}
		return true
	}
	if !slices.ContainsFunc(r.Blocks, drop) {
		return r
	}
	c := *r
	c.Blocks = slices.DeleteFunc(slices.Clone(r.Blocks), drop)
	return &c
}

// rename returns the reply with ids that are not in ids yet, which it adds them to.
func rename(r *msg.Assistant, ids map[string]bool) *msg.Assistant {
	out := r
	for i, b := range r.Blocks {
		c, ok := b.(msg.Call)
		if !ok {
			continue
		}
		id := unique(ids, c.ID)
		if id == c.ID {
			continue
		}
		if out == r {
			out = &msg.Assistant{Blocks: slices.Clone(r.Blocks), Provider: r.Provider, Model: r.Model, Interrupted: r.Interrupted}
		}
		c.ID = id
		out.Blocks[i] = c
	}
	return out
}

// unique returns id, or one made from it that is not in ids, and adds it to them.
func unique(ids map[string]bool, id string) string {
	fresh := id
	if id == "" {
		id, fresh = "call", "call"
	}
	for n := len(ids) + 1; ids[fresh]; n++ {
		fresh = fmt.Sprintf("%s-%d", id, n)
	}
	ids[fresh] = true
	return fresh
}
