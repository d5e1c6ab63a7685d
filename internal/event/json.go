package event

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Marshal encodes e as one JSON object whose first field is "type", without a final newline. With verbose, ToolStart has
// its input too. Invalid UTF-8 in strings becomes U+FFFD. It fails only on an event of a type it does not know.
func Marshal(e Event, verbose bool) ([]byte, error) {
	switch e := e.(type) {
	case Text:
		return object("text", e)
	case ToolStart:
		if verbose {
			return object("tool_start", struct {
				ToolStart
				Input json.RawMessage `json:"input"`
			}{e, e.Input})
		}
		return object("tool_start", e)
	case ToolEnd:
		return object("tool_end", e)
	case FileChanged:
		return object("file_changed", e)
	case LoopWarning:
		return object("loop_warning", e)
	case Compacting:
		return object("compacting", e)
	case ContextReduced:
		return object("context_reduced", e)
	case Notice:
		return object("notice", e)
	case Check:
		return object("check", e)
	case SubAgent:
		inner, err := Marshal(e.Event, verbose)
		if err != nil {
			return nil, err
		}
		return object("sub_agent", struct {
			Agent string          `json:"agent"`
			Event json.RawMessage `json:"event"`
		}{e.Agent, inner})
	case Usage:
		return object("usage", e)
	case TurnEnd:
		return object("turn_end", e)
	case Start:
		return object("start", e)
	case Thinking:
		return object("thinking", e)
	case Diff:
		return object("diff", e)
	case Context:
		return object("context", e)
	case Ready:
		if e.Tools == nil {
			e.Tools = []string{}
		}
		return object("ready", e)
	case ApprovalRequest:
		return object("approval_request", e)
	case Question:
		if e.Options == nil {
			e.Options = []string{}
		}
		return object("question", e)
	case Error:
		return object("error", e)
	}
	return nil, fmt.Errorf("event: no JSON form for %T", e)
}

// Verbose says whether e is one of the events that only --verbose shows.
func Verbose(e Event) bool {
	switch e := e.(type) {
	case Start, Thinking, Diff, Context:
		return true
	case SubAgent:
		return Verbose(e.Event)
	}
	return false
}

// object puts the type in front of the fields of v, which must encode as an object.
func object(kind string, v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	fields := bytes.TrimRight(b.Bytes(), "\n")
	out := make([]byte, 0, len(fields)+len(kind)+12)
	out = append(append(append(out, `{"type":"`...), kind...), '"')
	if len(fields) > 2 {
		out = append(out, ',')
	}
	return append(out, fields[1:]...), nil
}
