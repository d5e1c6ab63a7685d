package anthropic

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"

	"anchor/internal/msg"
	"anchor/internal/provider"
)

// defaultMaxTokens bounds a reply where nobody said how long it may be. Every model of today takes it.
const defaultMaxTokens = 32_000

// marked counts the user messages at the end that get a cache mark. With those on the system prompt and the tools that makes
// the four that a request may have.
const marked = 2

// Head implements [provider.Wire].
func (w *wire) Head(req provider.Request) map[string]any {
	limit := cmp.Or(req.MaxTokens, w.MaxTokens, defaultMaxTokens)
	head := map[string]any{"max_tokens": limit}
	think, level := effort(req.Model, req.Effort, limit)
	if think != nil {
		head["thinking"] = think
	}
	if level != "" {
		head["output_config"] = map[string]string{"effort": level}
	}
	if req.System != "" {
		head["system"] = provider.List(withMark(text(req.System)))
	}
	if req.NoCalls && len(req.Tools) > 0 {
		head["tool_choice"] = map[string]string{"type": "none"}
	}
	return head
}

// Tools implements [provider.Wire].
func (w *wire) Tools(specs []msg.Spec) []byte {
	var out [][]byte
	for _, s := range specs {
		out = append(out, provider.Object("name", s.Name, "description", cmp.Or(s.Description, s.Name), "input_schema", provider.FitSchema(s.Schema)))
	}
	return provider.List(withMark(provider.Join(nil, ",", out)))
}

// Messages implements [provider.Wire]. Results must come first in a message, and the newest ones are marked.
func (w *wire) Messages(out []byte, _ string, turns []provider.Turn) []byte {
	for i, t := range turns {
		role, marks := "user", (len(turns)-i+1)/2 <= marked
		if t.Reply {
			role, marks = "assistant", false
		}
		out = provider.Join(append(out, `{"role":"`+role+`","content":[`...), ",", slices.Concat(t.Results, t.Texts))
		if marks {
			out = withMark(out)
		}
		out = append(out, "]},"...)
	}
	return out
}

// Encode implements [provider.Wire].
func (w *wire) Encode(m msg.Message) (t provider.Turn) {
	add := func(pairs ...any) { t.Texts = append(t.Texts, provider.Object(pairs...)) }
	says, images := provider.Says(m)
	switch m := m.(type) {
	case *msg.Assistant:
		t.Reply = true
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case msg.Text:
				add("type", "text", "text", b.Text)
			case msg.Thinking:
				if b.Redacted != "" {
					add("type", "redacted_thinking", "data", b.Redacted)
				} else {
					add("type", "thinking", "thinking", b.Text, "signature", b.Signature)
				}
			case msg.Call:
				add("type", "tool_use", "id", fitID(b.ID), "name", provider.FitName(b.Name), "input", provider.Args(b.Args))
			}
		}
	case *msg.Tool:
		content := any(says)
		if len(images) > 0 {
			content = provider.List(append([][]byte{text(says)}, encode(images)...)...)
		}
		t.Results = [][]byte{provider.Object("type", "tool_result", "tool_use_id", fitID(m.CallID), "content", content, "is_error", !m.OK)}
	default:
		if says != "" {
			add("type", "text", "text", says)
		}
		t.Texts = append(t.Texts, encode(images)...)
	}
	return t
}

func fitID(id string) string { return provider.FitID(id, "_-", 1, 64) }

func text(s string) []byte { return provider.Object("type", "text", "text", s) }

func encode(images []msg.Image) (out [][]byte) {
	for _, i := range images {
		if fault := provider.ImageFault(i); fault != "" {
			out = append(out, text(fault))
		} else {
			out = append(out, provider.Object("type", "image", "source", provider.Object("type", "base64", "media_type", i.Type, "data", i.Data)))
		}
	}
	return out
}

// withMark puts a cache mark into the last of some blocks.
func withMark(b []byte) []byte {
	return append(bytes.TrimSuffix(b, []byte("}")), `,"cache_control":{"type":"ephemeral"}}`...)
}

// effort says how a model is told to think. Models since 4.6 think adaptively and take an effort; those before take a
// budget, which must be at least 1,024 and under max_tokens; the oldest don't think. Some of the newest can't be told not to think at
// all: there "off" is the lowest effort. A model of another vendor behind this API is given a budget, which most of them know.
func effort(model, level string, maxTokens int) (think map[string]any, effort string) {
	is := func(names string) bool { return regexp.MustCompile(`^(.*/)?claude-(` + names + `)`).MatchString(model) }
	switch {
	case level == "" || is("3") && !is("3-7"):
		return nil, ""
	case level == "off" && is("fable|mythos|opus-5-5"):
		return nil, "low"
	case level == "off":
		return map[string]any{"type": "disabled"}, ""
	case is("") && !is("3-7|opus-4-[0125]|sonnet-4-[025]|haiku-4"):
		return map[string]any{"type": "adaptive", "display": "summarized"}, level
	}
	budget := min(map[string]int{"low": 4096, "medium": 10_000, "high": 24_000}[level], maxTokens/2)
	if budget < 1024 {
		return nil, ""
	}
	return map[string]any{"type": "enabled", "budget_tokens": budget}, ""
}
