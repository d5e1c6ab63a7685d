package jsonl

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The requests.
const (
	userInput        = "user_input"
	approvalResponse = "approval_response"
	questionResponse = "question_response"
	cancelRequest    = "cancel"
)

// request is the fields of a request, empty if they are missing or no strings.
type request struct{ kind, id, text, answer, reason string }

// parse reads a request of a known type that has the field it needs. The error is for the client. Keys match exactly, unlike those of
// a struct in encoding/json.
func parse(line []byte) (r request, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		if json.Valid(line) {
			return r, errors.New(`a request is a JSON object, such as {"type":"user_input","text":"…"}`)
		}
		return r, fmt.Errorf("not valid JSON: %w", err)
	}
	for key, to := range map[string]*string{"type": &r.kind, "id": &r.id, "text": &r.text, "answer": &r.answer, "reason": &r.reason} {
		_ = json.Unmarshal(fields[key], to) // what is no string stays empty
	}
	switch {
	case r.kind == "":
		err = errors.New(`a request needs "type": user_input, approval_response, question_response or cancel`)
	case r.kind == userInput && strings.TrimSpace(r.text) == "":
		err = errors.New(`user_input needs "text", a string that is not blank`)
	case (r.kind == approvalResponse || r.kind == questionResponse) && r.id == "":
		err = fmt.Errorf(`%s needs "id", the id of what it answers`, r.kind)
	case r.kind != userInput && r.kind != approvalResponse && r.kind != questionResponse && r.kind != cancelRequest:
		err = fmt.Errorf("unknown type %q; known are user_input, approval_response, question_response, cancel", r.kind)
	}
	return r, err
}
