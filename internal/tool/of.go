package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
)

// Of makes a tool of a function that takes its arguments as a struct. The schema is made of A: json tags name the fields,
// omitempty makes one optional, jsonschema tags describe them. What does not fit it is a failed result that says what is
// wrong and what the tool takes. It panics if A is no struct that a schema can be made of.
func Of[A any](s Spec, summary func(A) string, run func(context.Context, Env, A) (Result, error)) Tool {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", s.Name, err))
	}
	plain(schema)
	if s.Schema, err = json.Marshal(schema); err != nil {
		panic(fmt.Sprintf("tool %s: %v", s.Name, err))
	}
	return &of[A]{spec: s, schema: schema, summary: summary, run: run}
}

// plain takes null off the types that Go's slices have: it is put in and left out again by fit.
func plain(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, p := range s.Properties {
		plain(p)
	}
	if s.Items != nil {
		plain(s.Items)
	}
}

type of[A any] struct {
	spec    Spec
	schema  *jsonschema.Schema
	summary func(A) string
	run     func(context.Context, Env, A) (Result, error)
}

func (t *of[A]) Spec() Spec { return t.spec }

func (t *of[A]) Summary(args json.RawMessage) string {
	a, err := t.decode(args)
	if err != nil {
		return oneLine(string(args))
	}
	return oneLine(t.summary(a))
}

func (t *of[A]) Run(ctx context.Context, env Env, args json.RawMessage) (Result, error) {
	a, err := t.decode(args)
	if err != nil {
		return Fail(err.Error()), nil
	}
	return t.run(ctx, env, a)
}

func (t *of[A]) decode(args json.RawMessage) (a A, err error) {
	fitted, faults := fit(t.schema, args)
	if len(faults) > 0 {
		return a, fmt.Errorf("The call was wrong, nothing was done: %s. %s takes %s.", strings.Join(faults, "; "), t.spec.Name, fields(t.schema))
	}
	err = json.Unmarshal(fitted, &a)
	return a, err
}

// maxSummary is the most characters that a summary has.
const maxSummary = 120

// oneLine makes text one short line without control characters.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxSummary {
		text = string(runes[:maxSummary-1]) + "…"
	}
	return text
}
