package jsonl

import (
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"anchor/internal/event"
)

// events has a valid one of each event, in the order of docs/json.md.
func events() []event.Event {
	return []event.Event{event.Text{}, event.ToolStart{}, event.ToolEnd{}, event.FileChanged{}, event.LoopWarning{},
		event.Compacting{}, event.ContextReduced{Kind: event.Trimmed}, event.Notice{}, event.Check{}, event.SubAgent{Event: event.Text{}}, event.Usage{},
		event.TurnEnd{Reason: event.Completed}, event.Ready{}, event.ApprovalRequest{}, event.Question{}, event.Error{},
		event.Start{}, event.Thinking{}, event.Diff{}, event.Context{}}
}

// build makes the schema from the types that are encoded. Each event and request is a definition under its type's name; "event",
// "result" and "request" are what may stand on a line.
func build() ([]byte, error) {
	root := &jsonschema.Schema{Schema: "https://json-schema.org/draft/2020-12/schema", Title: "anchor --json", Defs: map[string]*jsonschema.Schema{}}
	event := &jsonschema.Schema{Description: "A line of output."}
	for _, e := range events() {
		kind, s := shape(e)
		root.Defs[kind] = s
		event.OneOf = append(event.OneOf, ref(kind))
	}
	request := &jsonschema.Schema{Description: "A line of input."}
	for _, kind := range []string{userInput, approvalResponse, questionResponse, cancelRequest} {
		root.Defs[kind] = &jsonschema.Schema{Type: "object", Required: []string{"type"}, Properties: map[string]*jsonschema.Schema{"type": constant(kind)}}
		request.OneOf = append(request.OneOf, ref(kind))
	}
	field := func(kind, name string, s jsonschema.Schema) {
		if root.Defs[kind].Properties[name] = &s; s.Type != "" {
			root.Defs[kind].Required = append(root.Defs[kind].Required, name)
		}
	}
	text := jsonschema.Schema{Type: "string"}
	field(userInput, "text", text)
	field(approvalResponse, "id", text)
	field(approvalResponse, "answer", jsonschema.Schema{Description: "yes, no or always; anything else is no"})
	field(approvalResponse, "reason", jsonschema.Schema{Description: "why not, for the model"})
	field(questionResponse, "id", text)
	field(questionResponse, "answer", jsonschema.Schema{Description: "an option, or other text where allowOther is true; anything else dismisses the question"})
	_, result := shape(Result{Type: "result"})
	result.Description = "The last line with -p."
	root.Defs["event"], root.Defs["request"], root.Defs["result"] = event, request, result
	root.OneOf = []*jsonschema.Schema{ref("event"), ref("result"), ref("request")}
	return json.MarshalIndent(root, "", "  ")
}

// shape returns the type's name of a line and its schema, from the Go type that is encoded.
func shape(v any) (string, *jsonschema.Schema) {
	kind := "result"
	if e, ok := v.(event.Event); ok {
		line, _ := event.Marshal(e, false)
		var head struct{ Type string }
		_ = json.Unmarshal(line, &head)
		kind = head.Type
	}
	s, err := jsonschema.ForType(reflect.TypeOf(v), nil)
	if err != nil {
		panic(err) // plain structs
	}
	for _, p := range s.Properties {
		if p.Items != nil {
			p.Types, p.Type = nil, "array" // lists are never null
		}
	}
	switch v.(type) {
	case event.ToolStart:
		s.Properties["input"] = &jsonschema.Schema{Description: "the call's arguments; with --verbose"}
	case event.ContextReduced:
		s.Properties["kind"] = oneOf(event.Trimmed, event.Compacted, event.RoundsDropped)
	case event.TurnEnd:
		s.Properties["reason"] = oneOf(event.Completed, event.Cancelled, event.LoopStopped, event.RoundLimit, event.Failed)
	case Result:
		s.Properties["status"] = oneOf(event.Completed, event.Cancelled, event.LoopStopped, event.RoundLimit, TimedOut, event.Failed)
		s.Properties["check"] = oneOf("passed", "no_changes", "out_of_rounds", nil)
	case event.SubAgent:
		s.Properties = map[string]*jsonschema.Schema{"agent": {Type: "string"}, "event": ref("event")}
		s.Required = []string{"agent", "event"}
	}
	if s.Properties["type"] == nil {
		s.Required = append([]string{"type"}, s.Required...)
	}
	s.Properties["type"] = constant(kind)
	return kind, s
}

func constant(s string) *jsonschema.Schema {
	v := any(s)
	return &jsonschema.Schema{Const: &v}
}

func oneOf(values ...any) *jsonschema.Schema { return &jsonschema.Schema{Enum: values} }

func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }
