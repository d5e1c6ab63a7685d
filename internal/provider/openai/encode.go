package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"anchor/internal/msg"
	"anchor/internal/provider"
)

// The fields in which servers send a model's thinking. The one that was used is kept as the signature of the thinking, since
// it must come back in the same.
const (
	reasoningContent = "reasoning_content"
	reasoning        = "reasoning"
)

// extraContent marks opaque data that belongs to the call after it: Gemini signs calls and wants the signature back.
const extraContent = "extra_content:"

// Head implements [provider.Wire].
func (w *wire) Head(req provider.Request) map[string]any {
	head := map[string]any{"stream_options": map[string]bool{"include_usage": true}}
	if n := cmp.Or(req.MaxTokens, w.MaxTokens); n > 0 {
		fields := []string{"max_tokens", "max_completion_tokens"}
		if w.vendor {
			slices.Reverse(fields)
		}
		if w.without[fields[0]] {
			fields[0] = fields[1]
		}
		head[fields[0]] = n
	}
	if req.Effort != "" {
		head["reasoning_effort"] = strings.Replace(req.Effort, "off", "none", 1)
	}
	if req.NoCalls && len(req.Tools) > 0 {
		head["tool_choice"] = "none"
	}
	for field := range w.without {
		delete(head, field)
	}
	return head
}

// Tools implements [provider.Wire].
func (w *wire) Tools(specs []msg.Spec) []byte {
	var out [][]byte
	for _, s := range specs {
		f := provider.Object("name", s.Name, "description", cmp.Or(s.Description, s.Name), "parameters", provider.FitSchema(s.Schema))
		out = append(out, provider.Object("type", "function", "function", f))
	}
	return provider.List(out...)
}

// Messages implements [provider.Wire]. What a user says is one message, after the results, with the images of these too, and two
// replies are kept apart (the first was paused): some servers refuse two messages of a role in a row.
func (w *wire) Messages(out []byte, system string, turns []provider.Turn) []byte {
	if system != "" {
		out = append(append(append(out, `{"role":"system","content":`...), provider.Encode(system)...), "},"...)
	}
	for _, t := range turns {
		if t.Reply {
			out = append(provider.Join(out, `,{"role":"user","content":"Go on."},`, t.Texts), ',')
		}
		for _, r := range t.Results {
			out = append(append(out, r...), ',')
		}
		switch {
		case t.Reply:
		case len(t.Images) == 0 && len(t.Texts) > 0:
			out = append(provider.Join(append(out, `{"role":"user","content":"`...), `\n\n`, t.Texts), `"},`...)
		case len(t.Images) > 0:
			if out = append(out, `{"role":"user","content":[`...); len(t.Texts) > 0 {
				out = append(provider.Join(append(out, `{"type":"text","text":"`...), `\n\n`, t.Texts), `"},`...)
			}
			out = append(provider.Join(out, ",", t.Images), "]},"...)
		}
	}
	return out
}

// Encode implements [provider.Wire]. Texts of the user's are JSON strings without their quotes.
func (w *wire) Encode(m msg.Message) (t provider.Turn) {
	says, images := provider.Says(m)
	switch m := m.(type) {
	case *msg.Assistant:
		if r := w.reply(m, says); r != nil {
			t.Reply, t.Texts = true, [][]byte{r}
		}
	case *msg.Tool:
		t.Results = [][]byte{provider.Object("role", "tool", "tool_call_id", w.fitID(m.CallID), "content", says)}
	default:
		if b := provider.Encode(says); says != "" {
			t.Texts = [][]byte{b[1 : len(b)-1]}
		}
	}
	for _, i := range images {
		part := map[string]any{"type": "text", "text": provider.ImageFault(i)}
		if part["text"] == "" {
			address := "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
			part = map[string]any{"type": "image_url", "image_url": map[string]string{"url": address}}
		}
		t.Images = append(t.Images, provider.Encode(part))
	}
	return t
}

// reply encodes a reply. The content is always there, and never null: each of the two has servers that refuse it. Thinking goes
// back in the field in which it came.
func (w *wire) reply(a *msg.Assistant, says string) []byte {
	thoughts := map[string]string{}
	var calls [][]byte
	extra := ""
	for _, b := range a.Blocks {
		switch b := b.(type) {
		case msg.Thinking:
			thoughts[b.Signature] += b.Text
			extra = strings.TrimPrefix(b.Redacted, extraContent)
		case msg.Call:
			f := provider.Object("name", provider.FitName(b.Name), "arguments", string(provider.Args(b.Args)))
			call := []any{"id", w.fitID(b.ID), "type", "function", "function", f}
			if json.Valid([]byte(extra)) {
				call = append(call, "extra_content", json.RawMessage(extra))
			}
			calls, extra = append(calls, provider.Object(call...)), ""
		}
	}
	if says == "" && calls == nil {
		return nil
	}
	out := []any{"role", "assistant", "content", says}
	for _, field := range []string{reasoningContent, reasoning} {
		if thoughts[field] != "" {
			out = append(out, field, thoughts[field])
		}
	}
	if calls != nil {
		out = append(out, "tool_calls", provider.List(calls...))
	}
	return provider.Object(out...)
}

// fitID returns a call's id as the server takes it: Mistral wants nine letters and digits, OpenAI at most forty characters.
func (w *wire) fitID(id string) string {
	if w.Name == "mistral" || strings.Contains(w.BaseURL, "mistral.ai") {
		return provider.FitID(id, "", 9, 9)
	}
	return provider.FitID(id, "_.:-", 1, 40)
}
