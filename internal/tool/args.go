package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Arguments are a struct of strings, ints, bools, and slices of these or of further structs: json tags name the fields,
// omitempty makes one optional, about tags tell the model what they are. They are taken strictly: keys match exactly, none is
// unknown or missing. Where models are often off and only one thing can be meant, that is taken: null or "" for no
// arguments, null for an absent field, a value written as a string ("12" for 12).

// types are the names that JSON Schema has for what Go calls otherwise.
func types() map[reflect.Kind]string {
	return map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Float64: "number",
		reflect.Slice: "array", reflect.Struct: "object", reflect.Map: "object", reflect.Invalid: "null"}
}

// schema is the JSON Schema of a type.
func schema(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return `{"type":"array","items":` + schema(t.Elem()) + "}"
	case reflect.Struct:
		var properties, required []string
		for f := range t.Fields() {
			key, optional := keyOf(f)
			s := schema(f.Type)
			if about := f.Tag.Get("about"); about != "" {
				s = fmt.Sprintf(`%s,"description":%q}`, strings.TrimSuffix(s, "}"), about)
			}
			properties = append(properties, fmt.Sprintf("%q:%s", key, s))
			if !optional {
				required = append(required, fmt.Sprintf("%q", key))
			}
		}
		return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`, strings.Join(properties, ","), strings.Join(required, ","))
	}
	return fmt.Sprintf(`{"type":%q}`, types()[t.Kind()])
}

func keyOf(f reflect.StructField) (key string, optional bool) {
	return strings.CutSuffix(f.Tag.Get("json"), ",omitempty")
}

// read puts arguments into a struct and returns what is wrong with them.
func read(args json.RawMessage, into reflect.Value) (faults []string) {
	var v any
	if err := json.Unmarshal(args, &v); err != nil && len(args) > 0 {
		return []string{fmt.Sprintf("the arguments can't be read as JSON (%v)", err)}
	}
	if v == nil || v == "" {
		v = map[string]any{}
	}
	return fill(into, v, "")
}

// fill puts a value where it belongs; at is the place, such as edits[0].old, or "" for the whole.
func fill(into reflect.Value, v any, at string) (faults []string) {
	kind := into.Kind()
	if text, ok := v.(string); ok && kind != reflect.String {
		if written := any(nil); json.Unmarshal([]byte(text), &written) == nil && written != nil {
			v = written
		}
	}
	list, isList := v.([]any)
	object, isObject := v.(map[string]any)
	number, isNumber := v.(float64)
	given := reflect.ValueOf(v)
	switch {
	case isObject && kind == reflect.Struct:
		return fillObject(into, object, at)
	case isList && kind == reflect.Slice:
		into.Set(reflect.MakeSlice(into.Type(), len(list), len(list)))
		for i := range list {
			faults = append(faults, fill(into.Index(i), list[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
	case isNumber && kind == reflect.Int && number == math.Trunc(number) && math.Abs(number) < 1<<53:
		into.SetInt(int64(number))
	case given.Kind() == kind && (kind == reflect.String || kind == reflect.Bool):
		into.Set(given)
	default:
		return []string{fmt.Sprintf("%s must be of type %s, not %s", cmp.Or(at, "the whole"), types()[kind], types()[given.Kind()])}
	}
	return faults
}

func fillObject(into reflect.Value, object map[string]any, at string) (faults []string) {
	if at != "" {
		at += "."
	}
	for f, field := range into.Fields() {
		key, optional := keyOf(f)
		if v := object[key]; v != nil {
			faults = append(faults, fill(field, v, at+key)...)
		} else if !optional {
			faults = append(faults, at+key+" is missing")
		}
		delete(object, key)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if object[key] != nil {
			faults = append(faults, "there is no field "+at+key)
		}
	}
	return faults
}
