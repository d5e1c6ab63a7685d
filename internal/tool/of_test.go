package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"anchor/internal/gate"
	"anchor/internal/msg"
	"anchor/internal/tool"
)

type edit struct {
	Old string `json:"old"`
	All bool   `json:"all,omitempty"`
}

type args struct {
	Path  string `json:"path" about:"file to change"`
	Limit int    `json:"limit,omitempty"`
	Deep  bool   `json:"deep,omitempty"`
	Edits []edit `json:"edits,omitempty"`
}

func sample() tool.Tool {
	return tool.Of(tool.Spec{Spec: msg.Spec{Name: "sample"}}, func(a args) string { return a.Path },
		func(_ context.Context, _ tool.Env, a args) (tool.Result, error) {
			return tool.Done(fmt.Sprintf("%+v", a)), nil
		})
}

func TestArguments(t *testing.T) {
	takes := ". sample takes " + string(sample().Spec().Schema)
	for in, want := range map[string]string{
		`{"path":"a","limit":3}`:                       "{Path:a Limit:3 Deep:false Edits:[]}",
		`{"path":"a","limit":"12","deep":"true"}`:      "{Path:a Limit:12 Deep:true Edits:[]}",
		`{"path":"a","limit":3.0,"deep":null}`:         "{Path:a Limit:3 Deep:false Edits:[]}",
		`{"path":"a","limit":1e2}`:                     "{Path:a Limit:100 Deep:false Edits:[]}",
		`{"path":"12"}`:                                "{Path:12 Limit:0 Deep:false Edits:[]}",
		`{"path":""}`:                                  "{Path: Limit:0 Deep:false Edits:[]}",
		`{"path":"a","edits":"[{\"old\":\"[1]\"}]"}`:   "{Path:a Limit:0 Deep:false Edits:[{Old:[1] All:false}]}",
		`{"path":"a","edits":{"old":"x","all":true}}`:  "edits must be of type array, not object" + takes,
		`"{\"path\":\"a\"}"`:                           "{Path:a Limit:0 Deep:false Edits:[]}",
		``:                                             "path is missing" + takes,
		`null`:                                         "path is missing" + takes,
		`""`:                                           "path is missing" + takes,
		`{"path":null}`:                                "path is missing" + takes,
		`{"Path":"a"}`:                                 "path is missing; there is no field Path" + takes,
		`{"path":"a","paths":1,"limit":1.5}`:           "limit must be of type integer, not number; there is no field paths" + takes,
		`{"path":5,"limit":"x","deep":1}`:              "path must be of type string, not number; limit must be of type integer, not string; deep must be of type boolean, not number" + takes,
		`{"path":"a","edits":[{"new":"x"},7]}`:         "edits[0].old is missing; there is no field edits[0].new; edits[1] must be of type object, not number" + takes,
		`{"path":"a","limit":99999999999999999999999}`: "limit must be of type integer, not number" + takes,
		`{"path":"a","limit":1e999999999}`:             "the arguments can't be read as JSON (json: cannot unmarshal number 1e999999999 into Go value of type float64)" + takes,
		`["a"]`:                                        "the whole must be of type object, not array" + takes,
		`{"path":`:                                     "the arguments can't be read as JSON (unexpected end of JSON input)" + takes,
	} {
		r, err := sample().Run(t.Context(), tool.Env{}, json.RawMessage(in))
		got := strings.TrimPrefix(r.Text, "The call was wrong, nothing was done: ")
		if err != nil || got != want || (r.Outcome == tool.OK) != strings.HasPrefix(want, "{") {
			t.Errorf("%s:\n got %s (%v)\nwant %s", in, got, err, want)
		}
	}
}

func TestSchema(t *testing.T) {
	const want = `{"type":"object","properties":{"path":{"type":"string","description":"file to change"},"limit":{"type":"integer"},"deep":{"type":"boolean"},` +
		`"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"all":{"type":"boolean"}},"required":["old"],"additionalProperties":false}}},` +
		`"required":["path"],"additionalProperties":false}`
	if got := string(sample().Spec().Schema); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSummaryIsOneShortLine(t *testing.T) {
	for in, want := range map[string]string{
		`{"path":"a\n\u001b[2J b"}`:                   "a [2J b",
		`{"nonsense": 1}`:                             `{"nonsense": 1}`,
		`{"path":"` + strings.Repeat("é", 300) + `"}`: strings.Repeat("é", 119) + "…",
	} {
		if got := sample().Summary(json.RawMessage(in)); got != want {
			t.Errorf("%s: %q", in, got)
		}
	}
}

func TestFailure(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&gate.Refusal{Reason: "It is a private key."}, "Refused: It is a private key."},
		{fmt.Errorf("x: %w", &gate.NotRegular{Path: "d", Kind: "directory"}), "d is a directory: use list_dir, or name a file in it."},
		{&gate.StaleError{Path: "f", Reason: "changed since it was read: read it again"}, "f changed since it was read: read it again. Nothing was written."},
		{&fs.PathError{Op: "open", Path: "no", Err: fs.ErrNotExist}, "no does not exist. Look for its name with glob or list_dir."},
		{errors.New("disk full"), "disk full"},
	} {
		if r, err := tool.Failure(t.Context(), c.err); err != nil || r.Text != c.want || r.Outcome != tool.Failed {
			t.Errorf("%v: %q, %v", c.err, r.Text, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tool.Failure(ctx, errors.New("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("the end of ctx was made a result: %v", err)
	}
}
