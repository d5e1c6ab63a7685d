package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Arguments are taken strictly: keys are matched exactly, and none may be unknown or missing. Where models are usually off
// and only one thing can be meant, that is taken: null or "" for no arguments, null for an absent field, "12" for 12, "true"
// for true, an array or object written as a string, one item for an array of one.

// fit returns args as they fit the schema, or what is wrong with them.
func fit(s *jsonschema.Schema, args json.RawMessage) (fitted json.RawMessage, faults []string) {
	v, err := parse(args)
	if err != nil {
		return nil, []string{"the arguments are not valid JSON (" + err.Error() + ")"}
	}
	if v == nil || v == "" {
		v = map[string]any{}
	}
	f := fitter{}
	v = f.value(s, v, "")
	if len(f.faults) > 0 {
		return nil, f.faults
	}
	fitted, err = json.Marshal(v)
	if err != nil {
		return nil, []string{err.Error()}
	}
	return fitted, nil
}

func parse(data []byte) (v any, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err = d.Decode(&v); err == nil && d.More() {
		err = fmt.Errorf("something stands after the end")
	}
	return v, err
}

type fitter struct{ faults []string }

func (f *fitter) fault(format string, args ...any) any {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
	return nil
}

// value fits the value at a place such as edits[0].old; "" is the whole.
func (f *fitter) value(s *jsonschema.Schema, v any, at string) any {
	if text, ok := v.(string); ok && s.Type != "string" {
		if inner, err := parse([]byte(text)); err == nil && inner != nil {
			v = inner
		}
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Type == "object" {
			return f.object(s, v, at)
		}
	case []any:
		if s.Type == "array" {
			for i := range v {
				v[i] = f.value(s.Items, v[i], fmt.Sprintf("%s[%d]", at, i))
			}
			return v
		}
	case json.Number:
		if n, err := v.Float64(); s.Type == "integer" && err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int64(n)
		}
	case string:
		if s.Type == "string" {
			return v
		}
	case bool:
		if s.Type == "boolean" {
			return v
		}
	}
	if _, isArray := v.([]any); s.Type == "array" && !isArray && s.Items.Type == typeOf(v) {
		return []any{f.value(s.Items, v, at+"[0]")}
	}
	if at == "" {
		at = "the whole"
	}
	return f.fault("%s must be %s %s, not %s", at, article(s.Type), s.Type, typeOf(v))
}

func (f *fitter) object(s *jsonschema.Schema, v map[string]any, at string) any {
	out := map[string]any{}
	if at != "" {
		at += "."
	}
	for _, name := range s.PropertyOrder {
		if v[name] != nil {
			out[name] = f.value(s.Properties[name], v[name], at+name)
		} else if slices.Contains(s.Required, name) {
			f.fault("%s is missing", at+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if s.Properties[name] == nil && v[name] != nil {
			f.fault("there is no field %s", at+name)
		}
	}
	return out
}

func typeOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case json.Number:
		return "number"
	case string:
		return "string"
	case bool:
		return "boolean"
	}
	return "null"
}

func article(noun string) string {
	if strings.ContainsRune("aeio", rune(noun[0])) {
		return "an"
	}
	return "a"
}

// fields lists what a schema takes: path, limit?, edits: [{old, new, all?}].
func fields(s *jsonschema.Schema) string {
	var list []string
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		if !slices.Contains(s.Required, name) {
			name += "?"
		}
		if p.Items != nil && p.Items.Type == "object" {
			name += ": [{" + fields(p.Items) + "}]"
		}
		list = append(list, name)
	}
	if len(list) == 0 {
		return "no arguments"
	}
	return strings.Join(list, ", ")
}
