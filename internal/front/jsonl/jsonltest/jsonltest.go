// Package jsonltest holds lines of anchor --json against their schema. It is for tests only: those that run the program.
package jsonltest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"anchor/internal/front/jsonl"
)

// Valid returns a check of one line, whose error says what the schema has against it.
func Valid(t testing.TB) func(line string) error {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(jsonl.Schema()), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(line string) error {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return fmt.Errorf("no JSON: %q", line)
		}
		if err := r.Validate(v); err != nil {
			return fmt.Errorf("not by the schema: %s: %w", line, err)
		}
		return nil
	}
}
