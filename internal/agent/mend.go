package agent

import (
	"slices"

	"anchor/internal/msg"
	"anchor/internal/provider"
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

// mend returns the mended list. to is the model that gets it.
func mend(in []entry, to Model) []entry {
	out, ids := make([]entry, 0, len(in)+8), provider.NewIDs(nil)
	for i, e := range in {
		switch m := e.m.(type) {
		case *msg.Assistant:
			if len(out) > 0 {
				out = appendRound(out, e, clean(m, to, ids), in[i+1:])
			}
		case *msg.Tool: // stands after its reply already
		default:
			if _, note := m.(*msg.Note); says(m) && !(note && len(out) == 0) {
				out = append(out, e)
			}
		}
	}
	return out
}

// appendRound appends a reply, if there is something in it, and the results of its calls. rest is what came after it.
func appendRound(out []entry, e entry, reply *msg.Assistant, rest []entry) []entry {
	calls := reply.Calls()
	if len(calls) == 0 && blank(reply.Text()) {
		return out
	}
	old := calls
	if was := e.m.(*msg.Assistant); was != reply {
		old, e = was.Calls(), newEntry(reply, e.seq)
	}
	out = append(out, e)
	if next := slices.IndexFunc(rest, isReply); next >= 0 {
		rest = rest[:next]
	}
	rest = slices.Clone(rest)
	for i, c := range calls {
		out = append(out, takeResult(c, old[i].ID, rest))
	}
	return out
}

// takeResult takes the result of a call that had the id old out of rest, or makes one where there is none.
func takeResult(c msg.Call, old string, rest []entry) entry {
	for i, e := range rest {
		m, ok := e.m.(*msg.Tool)
		if !ok || m.CallID != old {
			continue
		}
		rest[i].m = nil
		if m.CallID == c.ID && m.Name == c.Name && says(m) {
			return e
		}
		fixed := &msg.Tool{CallID: c.ID, Name: c.Name, OK: m.OK, Text: m.Text, Images: m.Images}
		if !says(m) {
			fixed.Text = noOutput
		}
		return entry{m: fixed, seq: e.seq, trimmed: e.trimmed, size: size(fixed)}
	}
	return newEntry(&msg.Tool{CallID: c.ID, Name: c.Name, Text: noResult}, 0)
}

// clean returns the reply without what must not be sent, the ids of its calls unique; itself if that changes nothing.
func clean(r *msg.Assistant, to Model, ids provider.IDs) *msg.Assistant {
	own := r.Provider == to.Provider && r.Model == to.Name
	drop := func(b msg.Block) bool {
		switch b := b.(type) {
		case msg.Text:
			return blank(b.Text)
		case msg.Thinking:
			return r.Interrupted || !own || b.Signature == "" && b.Redacted == ""
		}
		return r.Interrupted
	}
	blocks, changed := r.Blocks, slices.ContainsFunc(r.Blocks, drop)
	if changed {
		blocks = slices.DeleteFunc(slices.Clone(blocks), drop)
	}
	for i, b := range blocks {
		if c, ok := b.(msg.Call); ok {
			if id := ids.Unique(c.ID); id != c.ID {
				c.ID = id
				blocks, changed = slices.Clone(blocks), true
				blocks[i] = c
			}
		}
	}
	if !changed {
		return r
	}
	return &msg.Assistant{Blocks: blocks, Provider: r.Provider, Model: r.Model, Interrupted: r.Interrupted}
}

func isReply(e entry) bool {
	_, ok := e.m.(*msg.Assistant)
	return ok
}
