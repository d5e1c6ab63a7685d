package jsonl

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"anchor/internal/event"
)

var update = flag.Bool("update", false, "write schema.json anew")

// The schema that ships is the one of the types.
func TestSchemaIsCurrent(t *testing.T) {
	want, err := build()
	if err != nil {
		t.Fatal(err)
	}
	if want = append(want, '\n'); *update {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if Schema() != string(want) {
		t.Error("schema.json is not that of the types; go test -update writes it anew")
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(Schema()), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// The schema takes what anchor writes and takes, and nothing else.
func TestSchema(t *testing.T) {
	r, err := schema(t).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(line string) bool {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		return r.Validate(v) == nil
	}
	for _, e := range events() {
		for _, verbose := range []bool{false, true} {
			if start, ok := e.(event.ToolStart); ok {
				start.Input = []byte(`{"a":1}`)
				e = start
			}
			line, err := event.Marshal(e, verbose)
			if err != nil || !valid(string(line)) {
				t.Errorf("refused: %s, %v", line, err)
			}
		}
	}
	result, _ := json.Marshal(NewFold().Result("s"))
	for _, good := range []string{string(result), `{"type":"approval_response","id":"a1","answer":7}`, `{"type":"cancel"}`, `{"type":"user_input","text":"x"}`} {
		if !valid(good) {
			t.Errorf("refused: %s", good)
		}
	}
	for _, bad := range []string{`{"type":"text"}`, `{"type":"text","text":"x","more":1}`, `{"type":"dance"}`, `{"type":"turn_end","reason":"bored","detail":null}`,
		`{"type":"user_input"}`, `{"type":"sub_agent","agent":"a","event":{"type":"nope"}}`, `{"type":"ready","session":"","model":"","tools":null}`} {
		if valid(bad) {
			t.Errorf("taken: %s", bad)
		}
	}
}

// The tables of the page are the events and requests, with their fields in order.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]*) \\| [^|]+ \\|$").FindAllStringSubmatch(string(page), -1) {
		rows[m[1]] += strings.NewReplacer("`", "", ",", "").Replace(m[2])
	}
	key := regexp.MustCompile(`"(\w+)":`)
	for _, e := range events() {
		kind, _ := shape(e)
		line, _ := event.Marshal(e, false)
		var fields []string
		for _, m := range key.FindAllStringSubmatch(strings.Replace(string(line), `{"type":"text","text":""}}`, "{}}", 1), -1) {
			fields = append(fields, m[1])
		}
		if want := strings.Join(fields[1:], " "); rows[kind] != want {
			t.Errorf("%s: the page has %q, the event %q", kind, rows[kind], want)
		}
	}
	defs := schema(t).Defs
	for _, kind := range []string{userInput, approvalResponse, questionResponse, cancelRequest} {
		for _, f := range strings.Fields(rows[kind]) {
			if defs[kind].Properties[f] == nil {
				t.Errorf("%s has no %s", kind, f)
			}
		}
		for f := range defs[kind].Properties {
			if f != "type" && !slices.Contains(strings.Fields(rows[kind]), f) {
				t.Errorf("the page leaves out %s of %s", f, kind)
			}
		}
	}
}
