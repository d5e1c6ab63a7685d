package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"anchor/internal/msg"
)

// NewCall makes a call of what a model sent. No arguments are an empty object, and an object that was sent as a string is taken
// out of it. Everything else that is no object is a bad call, which is answered and never run.
func NewCall(id, name, args string) msg.Call {
	c := msg.Call{ID: id, Name: name}
	raw := strings.TrimSpace(strings.ToValidUTF8(args, "\uFFFD"))
	if raw == "" || raw == "null" {
		raw = "{}"
	}
	var within string
	if raw[0] == '"' && json.Unmarshal([]byte(raw), &within) == nil && strings.HasPrefix(strings.TrimSpace(within), "{") {
		raw = strings.TrimSpace(within)
	}
	var v json.RawMessage
	err := json.Unmarshal([]byte(raw), &v)
	switch {
	case err != nil:
		c.Bad, c.Fault = raw, "the arguments are not valid JSON: "+where(err, raw)
	case raw[0] != '{':
		c.Bad, c.Fault = raw, "the arguments must be a JSON object"
	default:
		c.Args = v
	}
	return c
}

// where adds to a JSON error the place and the text around it.
func where(err error, raw string) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err.Error()
	}
	at := int(syntax.Offset)
	near := strings.ToValidUTF8(raw[max(0, min(at, len(raw))-20):min(len(raw), at+10)], "")
	return fmt.Sprintf("%s at byte %d of %d, near %q", syntax, at, len(raw), near)
}

// IDs makes the ids of new calls unique in a conversation: some servers begin again with each reply, some send none.
type IDs struct{ taken map[string]bool }

// NewIDs knows the ids of the calls in messages.
func NewIDs(messages []msg.Message) IDs {
	taken := map[string]bool{}
	for _, m := range messages {
		if a, ok := m.(*msg.Assistant); ok {
			for _, b := range a.Blocks {
				if c, ok := b.(msg.Call); ok {
					taken[c.ID] = true
				}
			}
		}
	}
	return IDs{taken}
}

// Unique returns id, or a new one like it if it is taken or empty. Each result is then taken.
func (u IDs) Unique(id string) string {
	if id == "" {
		id = "call"
	}
	out := id
	for n := 2; u.taken[out] || out == "call"; n++ {
		out = fmt.Sprintf("%s_%d", id, len(u.taken)+n-1)
	}
	u.taken[out] = true
	return out
}

// Whole says whether args is already a whole JSON object, so that what comes next can't belong to it.
func Whole(args []byte) bool {
	args = bytes.TrimSpace(args)
	return len(args) > 1 && args[len(args)-1] == '}' && json.Valid(args)
}
