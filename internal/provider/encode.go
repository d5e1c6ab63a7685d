package provider

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"anchor/internal/msg"
)

// Cache keeps what a wire made of the messages of the last request, so that a long conversation is not encoded again each
// round. Messages never change, so their address is enough of a key.
type Cache[T any] struct {
	kept   map[msg.Message]T
	target string
	spec   []msg.Spec
	raw    []byte
}

// Messages returns the encoded form of each message. What the last request did not have is encoded now; what this one does
// not have is forgotten. target names what the encoding depends on beside the message: when it changes, all is done again.
func (c *Cache[T]) Messages(target string, messages []msg.Message, encode func(msg.Message) T) []T {
	if c.target != target {
		c.target, c.kept = target, nil
	}
	next := make(map[msg.Message]T, len(messages))
	out := make([]T, len(messages))
	for i, m := range messages {
		v, ok := c.kept[m]
		if !ok {
			v = encode(m)
		}
		next[m], out[i] = v, v
	}
	c.kept = next
	return out
}

// Tools returns the encoded tool definitions; encode is called only when they changed.
func (c *Cache[T]) Tools(specs []msg.Spec, encode func([]msg.Spec) []byte) []byte {
	same := func(a, b msg.Spec) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
	}
	if c.raw == nil || !slices.EqualFunc(c.spec, specs, same) {
		c.spec, c.raw = slices.Clone(specs), encode(specs)
	}
	return c.raw
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

// UserText is what a message that is not the assistant's says in a user's role, "" for nothing. A note and a summary are
// marked as such: the user did not say them.
func UserText(m msg.Message) string {
	wrap := func(tag, s string) string {
		if strings.TrimSpace(s) == "" {
			return ""
		}
		return "<" + tag + ">\n" + s + "\n</" + tag + ">"
	}
	switch m := m.(type) {
	case *msg.User:
		if strings.TrimSpace(m.Text) != "" {
			return m.Text
		}
	case *msg.Note:
		return wrap("note", m.Text)
	case *msg.Summary:
		return wrap("summary", m.Text)
	}
	return ""
}

// ResultText is what a tool result says; never empty.
func ResultText(m *msg.Tool) string {
	if strings.TrimSpace(m.Text) == "" {
		return "(no output)"
	}
	return m.Text
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

// FitID returns a call's id as a wire takes it: itself if it is at most length long and made of letters, digits and the characters
// of punct, else nine letters and digits that stand for it. The same id always gives the same result.
func FitID(id string, length int, punct string) string {
	if id != "" && len(id) <= length && !strings.ContainsFunc(id, func(r rune) bool { return !alnum(r) && !strings.ContainsRune(punct, r) }) {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return strconv.FormatUint(h.Sum64()|1<<63, 36)[:9]
}

// FitName returns a tool's name as every wire takes it. Models invent names that servers refuse to read again.
func FitName(name string) string {
	name = strings.Map(func(r rune) rune {
		if alnum(r) || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}

func alnum(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }

// Object returns args if they are a JSON object, else an empty one.
func Object(args json.RawMessage) json.RawMessage {
	if s := bytes.TrimSpace(args); len(s) > 0 && s[0] == '{' && json.Valid(s) {
		return s
	}
	return json.RawMessage("{}")
}

// FitSchema returns a tool's schema as servers take it: an object with properties, no $schema, no choice at the top,
// objects with properties and arrays with items all the way down. A schema that needs none of it is returned as it is.
func FitSchema(schema json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	var m map[string]any
	if d.Decode(&m) != nil || m == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	changed := false
	if m["type"] != "object" {
		m["type"], changed = "object", true
	}
	for _, k := range []string{"$schema", "$id", "oneOf", "anyOf", "allOf"} {
		if _, ok := m[k]; ok {
			delete(m, k)
			changed = true
		}
	}
	if !fitNode(m) && !changed {
		return schema
	}
	return Encode(m)
}

// fitNode completes a schema and all in it; it says whether anything changed.
func fitNode(v any) (changed bool) {
	switch v := v.(type) {
	case []any:
		for _, sub := range v {
			changed = fitNode(sub) || changed
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		missing := map[string]string{"object": "properties", "array": "items"}[kind]
		if missing != "" && v[missing] == nil {
			v[missing], changed = map[string]any{}, true
		}
		for _, sub := range v {
			changed = fitNode(sub) || changed
		}
	}
	return changed
}
