package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"anchor/internal/msg"
)

// One pass checks and mends the list of messages before each request, whatever made it so: a cancel, a crash, a resume, a
// reduction, another model, a damaged file. After it
//
//   - the list starts with what the user said, or a summary;
//   - each call has exactly one result, directly after its reply, in the order of the calls; results without a call are gone;
//   - ids are unique in the whole conversation, names are legal on every wire;
//   - no text is blank, no reply empty; thinking is signed and its model's own; of an interrupted reply there is the text.
//
// It is deterministic, and what needs no mending keeps its address: mending a mended list changes nothing.

const (
	noResult = "There is no record of this call's result: the program ended before it was written. The call may have had effects: look before you repeat it."
	noOutput = "(no output)"
)

// mend mends the agent's own list.
func (a *Agent) mend() {
	m, _ := a.current()
	a.list, a.ids = mend(a.list, m)
}

// mend returns the mended list and the ids of its calls. to is the model that gets it.
func mend(in []entry, to Model) ([]entry, map[string]bool) {
	out := make([]entry, 0, len(in)+8)
	ids := make(map[string]bool, len(in))
	for i := firstOf(in); i < len(in); {
		reply, ok := in[i].m.(*msg.Assistant)
		if !ok {
			out = keep(out, in[i])
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
	i := slices.IndexFunc(in, func(e entry) bool {
		switch m := e.m.(type) {
		case *msg.User:
			return !blank(m.Text) || len(m.Images) > 0
		case *msg.Summary:
			return !blank(m.Text)
		}
		return false
	})
	if i < 0 {
		return len(in)
	}
	return i
}

func isReply(e entry) bool {
	_, ok := e.m.(*msg.Assistant)
	return ok
}

// keep appends a message that is no reply, if it says something. A result that comes here has no call.
func keep(out []entry, e entry) []entry {
	switch m := e.m.(type) {
	case *msg.Tool:
		return out
	case *msg.User:
		if blank(m.Text) && len(m.Images) == 0 {
			return out
		}
	case *msg.Summary:
		if blank(m.Text) {
			return out
		}
	case *msg.Note:
		if blank(m.Text) {
			return out
		}
	}
	return append(out, e)
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
		out = keep(out, r)
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
		if m.CallID == c.ID && m.Name == c.Name && (!blank(m.Text) || len(m.Images) > 0) {
			return e
		}
		fixed := *m
		fixed.CallID, fixed.Name = c.ID, c.Name
		if blank(m.Text) && len(m.Images) == 0 {
			fixed.Text = noOutput
		}
		return entry{m: &fixed, seq: e.seq, trimmed: e.trimmed, size: size(&fixed)}
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

// rename returns the reply with ids that are not in ids yet, which it adds them to, and with legal names and arguments.
func rename(r *msg.Assistant, ids map[string]bool) *msg.Assistant {
	out := r
	for i, b := range r.Blocks {
		c, ok := b.(msg.Call)
		if !ok {
			continue
		}
		fixed := legal(c)
		fixed.ID = unique(ids, c.ID)
		if fixed.ID == c.ID && fixed.Name == c.Name && bytes.Equal(fixed.Args, c.Args) {
			continue
		}
		if out == r {
			copied := *r
			copied.Blocks = slices.Clone(r.Blocks)
			out = &copied
		}
		out.Blocks[i] = fixed
	}
	return out
}

// legal mends a name that no wire takes, and arguments that are no object.
func legal(c msg.Call) msg.Call {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	}
	if strings.ContainsFunc(c.Name, odd) {
		c.Name = strings.Map(func(r rune) rune {
			if odd(r) {
				return '_'
			}
			return r
		}, c.Name)
	}
	if c.Name = c.Name[:min(len(c.Name), 64)]; c.Name == "" {
		c.Name = "unknown"
	}
	switch args := bytes.TrimLeft(c.Args, " \t\r\n"); {
	case string(args) == "null":
		c.Args = json.RawMessage("{}")
	case c.Args != nil && !bytes.HasPrefix(args, []byte("{")):
		c.Args, c.Bad, c.Fault = nil, string(c.Args), "the arguments are no JSON object"
	case c.Args == nil && c.Bad == "":
		c.Args = json.RawMessage("{}")
	}
	return c
}

// unique returns id, or one made from it that is not in ids, and adds it to them.
func unique(ids map[string]bool, id string) string {
	fresh := id
	if id == "" || len(id) > 64 {
		id = "call" + strings.ToValidUTF8(id[:min(len(id), 40)], "")
		fresh = id
	}
	for n := len(ids) + 1; ids[fresh]; n++ {
		fresh = fmt.Sprintf("%s-%d", id, n)
	}
	ids[fresh] = true
	return fresh
}
