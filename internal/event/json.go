package event

import (
	"bytes"
	"encoding/json"
)

// Marshal encodes e as one JSON object whose first field is "type", without a final newline. With verbose, ToolStart has
// its input too. Invalid UTF-8 in strings becomes U+FFFD. It fails only on a ToolStart whose input is no JSON.
func Marshal(e Event, verbose bool) ([]byte, error) {
	var v any = e
	switch e := e.(type) {
	case ToolStart:
		if verbose {
			v = struct {
				ToolStart
				Input json.RawMessage `json:"input"`
			}{e, e.Input}
		}
	case SubAgent:
		inner, err := Marshal(e.Event, verbose)
		if err != nil {
			return nil, err
		}
		v = struct {
			Agent string          `json:"agent"`
			Event json.RawMessage `json:"event"`
		}{e.Agent, inner}
	case Ready:
		e.Tools = append([]string{}, e.Tools...)
		v = e
	case Question:
		e.Options = append([]string{}, e.Options...)
		v = e
	}
	return object(e.kind(), v)
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

// object puts the type in front of the fields of v, which must encode as an object with fields.
func object(kind string, v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"type":"` + kind + `",`)
	at := b.Len()
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	out := b.Bytes()
	return append(out[:at], out[at+1:len(out)-1]...), nil
}
