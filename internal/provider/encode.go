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
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("provider: a message has no JSON form: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Says is what a message says in text, "" for nothing; a tool result always says something. A note and a summary
// are marked as such: the user did not say them.
func Says(m msg.Message) string {
	text, before, after := "", "", ""
	switch m := m.(type) {
	case *msg.User:
		text = m.Text
	case *msg.Assistant:
		text = m.Text()
	case *msg.Note:
		text, before, after = m.Text, "<note>\n", "\n</note>"
	case *msg.Summary:
		text, before, after = m.Text, "<summary>\n", "\n</summary>"
	case *msg.Tool:
		if text = m.Text; strings.TrimSpace(text) == "" {
			text = "(no output)"
		}
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return before + text + after
}

// Images are those of a message, each encoded by image, or by text with the reason why it can't be sent: one bad image must not
// make every later request fail.
func Images(m msg.Message, image func(msg.Image) []byte, text func(string) []byte) (out [][]byte) {
	var list []msg.Image
	switch m := m.(type) {
	case *msg.User:
		list = m.Images
	case *msg.Tool:
		list = m.Images
	}
	for _, i := range list {
		switch {
		case len(i.Data) == 0:
			out = append(out, text("[an empty image was left out]"))
		case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, i.Type):
			out = append(out, text("[an image of type "+i.Type+" was left out: models take PNG, JPEG, GIF and WebP]"))
		default:
			out = append(out, image(i))
		}
	}
	return out
}

// FitID returns a call's id as a wire takes it: itself if it fits the pattern, else nine letters and digits that stand for it. The
// same id always gives the same result.
func FitID(id, pattern string) string {
	if regexp.MustCompile("^" + pattern + "$").MatchString(id) {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return strconv.FormatUint(h.Sum64()|1<<63, 36)[:9]
}

// FitName returns a tool's name as every wire takes it. Models invent names that servers refuse to read again.
func FitName(name string) string {
	name = cmp.Or(regexp.MustCompile(`[^\w-]`).ReplaceAllString(name, "_"), "unnamed")
	return name[:min(len(name), 64)]
}

// Object returns args if they are a JSON object, else an empty one.
func Object(args json.RawMessage) json.RawMessage {
	if s := bytes.TrimSpace(args); len(s) > 0 && s[0] == '{' && json.Valid(s) {
		return s
	}
	return json.RawMessage("{}")
}

// FitSchema returns a tool's schema as servers take it: an object with properties, no $schema, no choice at the top,
// objects with properties and arrays with items all the way down. A schema that needs none of it is returned as it is, in its order.
func FitSchema(schema json.RawMessage) json.RawMessage {
	var m map[string]any
	if json.Unmarshal(schema, &m) != nil || m == nil {
		m = map[string]any{}
	}
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
	switch v := v.(type) {
	case []any:
		for _, sub := range v {
			complete(sub)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		if missing := map[string]string{"object": "properties", "array": "items"}[kind]; missing != "" && v[missing] == nil {
			v[missing] = map[string]any{}
		}
		for _, sub := range v {
			complete(sub)
		}
	}
}
