package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"anchor/internal/msg"
)

// Turn is what one side says in a row, encoded: the model's replies in Texts, or tool results, texts and images of the other side.
type Turn struct {
	Reply                  bool
	Results, Texts, Images [][]byte
}

// Join appends parts to out, with sep between them.
func Join(out []byte, sep string, parts [][]byte) []byte {
	for i, p := range parts {
		if i > 0 {
			out = append(out, sep...)
		}
		out = append(out, p...)
	}
	return out
}

// List is a JSON array of encoded values.
func List(values ...[]byte) json.RawMessage { return append(Join([]byte("["), ",", values), ']') }

// addTurn adds a turn to the last one of the same side, or as a new one. Empty ones are left out.
func addTurn(turns []Turn, t Turn) []Turn {
	if len(t.Results)+len(t.Texts)+len(t.Images) == 0 {
		return turns
	}
	if n := len(turns); n == 0 || turns[n-1].Reply != t.Reply {
		turns = append(turns, Turn{Reply: t.Reply})
	}
	last := &turns[len(turns)-1]
	last.Results, last.Texts, last.Images = append(last.Results, t.Results...), append(last.Texts, t.Texts...), append(last.Images, t.Images...)
	return turns
}

// Encode is v as JSON, with <, > and & left as they are. v is made of strings, numbers and JSON that was checked, so it always
// has a form.
func Encode(v any) []byte {
	data, err := msg.Encode(v)
	if err != nil {
		panic("provider: a message has no JSON form: " + err.Error())
	}
	return data
}

// Object is a JSON object of keys and their values, in this order.
func Object(pairs ...any) json.RawMessage {
	var fields [][]byte
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, slices.Concat(Encode(pairs[i]), []byte(":"), Encode(pairs[i+1])))
	}
	return append(Join([]byte("{"), ",", fields), '}')
}

// Says is what a message says in text, "" for nothing, and the images with it. A note and a summary are marked as such: the user did
// not say them.
func Says(m msg.Message) (text string, images []msg.Image) {
	tag := ""
	switch m := m.(type) {
	case *msg.User:
		text, images = m.Text, m.Images
	case *msg.Assistant:
		text = m.Text()
	case *msg.Note:
		text, tag = m.Text, "note"
	case *msg.Summary:
		text, tag = m.Text, "summary"
	case *msg.Tool:
		text, images = m.Text, m.Images
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "", images
	case tag != "":
		text = "<" + tag + ">\n" + text + "\n</" + tag + ">"
	}
	return text, images
}

// ImageFault says why an image can't be sent, "" if it can: one bad image must not make every later request fail.
func ImageFault(i msg.Image) string {
	switch {
	case len(i.Data) == 0:
		return "[an empty image was left out]"
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, i.Type):
		return "[an image of type " + i.Type + " was left out: models take PNG, JPEG, GIF and WebP]"
	}
	return ""
}

// FitID returns a call's id as a wire takes it: itself if it has shortest to longest characters, all ASCII letters, digits or
// of more; else nine letters and digits that stand for it. The same id always gives the same result.
func FitID(id, more string, shortest, longest int) string {
	odd := func(r rune) bool {
		return !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') && !strings.ContainsRune(more, r)
	}
	if shortest <= len(id) && len(id) <= longest && !strings.ContainsFunc(id, odd) {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return strconv.FormatUint(h.Sum64()|1<<63, 36)[:9]
}

var notInName = regexp.MustCompile(`[^\w-]`)

// FitName returns a tool's name as every wire takes it. Models invent names that servers refuse to read again.
func FitName(name string) string {
	name = cmp.Or(notInName.ReplaceAllString(name, "_"), "unnamed")
	return name[:min(len(name), 64)]
}

// Args returns the arguments of a call if they are a JSON object, else an empty one.
func Args(args json.RawMessage) json.RawMessage {
	if s := bytes.TrimSpace(args); len(s) > 0 && s[0] == '{' && json.Valid(s) {
		return s
	}
	return json.RawMessage("{}")
}

// FitSchema returns a tool's schema as servers take it: an object with properties, no $schema, no choice at the top,
// objects with properties and arrays with items all the way down. A schema that needs none of it is returned as it is, in its order.
func FitSchema(schema json.RawMessage) json.RawMessage {
	m := map[string]any{}
	_ = json.Unmarshal(schema, &m)
	before := Encode(m)
	m["type"] = "object"
	for _, k := range []string{"$schema", "$id", "oneOf", "anyOf", "allOf"} {
		delete(m, k)
	}
	complete(m)
	if after := Encode(m); !bytes.Equal(before, after) {
		return after
	}
	return schema
}

// complete gives all objects in a schema properties, and all arrays items.
func complete(v any) {
	list, _ := v.([]any)
	m, _ := v.(map[string]any)
	switch {
	case m["type"] == "object" && m["properties"] == nil:
		m["properties"] = map[string]any{}
	case m["type"] == "array" && m["items"] == nil:
		m["items"] = map[string]any{}
	}
	for _, sub := range m {
		complete(sub)
	}
	for _, sub := range list {
		complete(sub)
	}
}
