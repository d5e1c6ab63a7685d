package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"anchor/internal/msg"
	"anchor/internal/provider"
)

// defaultMaxTokens bounds a reply where nobody said how long it may be. Every model of today takes it.
const defaultMaxTokens = 32_000

// marked counts the user messages at the end that get a cache mark. With those on the system prompt and the tools that makes
// the four that a request may have.
const marked = 2

// block is a content block on its way out.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   any             `json:"content,omitempty"` // a string, or a list of blocks
	IsError   bool            `json:"is_error,omitempty"`
	Source    *source         `json:"source,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

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
		head["system"] = list(withMark(text(req.System)))
	}
	if req.NoCalls && len(req.Tools) > 0 {
		head["tool_choice"] = map[string]string{"type": "none"}
	}
	return head
}

// Tools implements [provider.Wire].
func (w *wire) Tools(specs []msg.Spec) []byte {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	var out [][]byte
	for _, s := range specs {
		out = append(out, provider.Encode(tool{s.Name, s.Description, provider.FitSchema(s.Schema)}))
	}
	return list(withMark(provider.Join(nil, ",", out)))
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

// Encode implements [provider.Wire]. Thinking goes back only to who thought it, and only as it was signed.
func (w *wire) Encode(m msg.Message, model string) (t provider.Turn) {
	add := func(b block) { t.Texts = append(t.Texts, provider.Encode(b)) }
	says, images := provider.Says(m), provider.Images(m, image, text)
	switch m := m.(type) {
	case *msg.Assistant:
		t.Reply = true
		own := m.Provider == w.Name && m.Model == model && !m.Interrupted
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case msg.Text:
				if strings.TrimSpace(b.Text) != "" {
					add(block{Type: "text", Text: b.Text})
				}
			case msg.Thinking:
				if own && b.Redacted != "" {
					add(block{Type: "redacted_thinking", Data: b.Redacted})
				} else if own && b.Signature != "" {
					add(block{Type: "thinking", Thinking: &b.Text, Signature: b.Signature})
				}
			case msg.Call:
				add(block{Type: "tool_use", ID: fitID(b.ID), Name: provider.FitName(b.Name), Input: provider.Object(b.Args)})
			}
		}
	case *msg.Tool:
		b := block{Type: "tool_result", ToolUseID: fitID(m.CallID), IsError: !m.OK, Content: says}
		if len(images) > 0 {
			b.Content = list(append([][]byte{text(says)}, images...)...)
		}
		t.Results = append(t.Results, provider.Encode(b))
	default:
		if says != "" {
			t.Texts = append(t.Texts, text(says))
		}
		t.Texts = append(t.Texts, images...)
	}
	return t
}

func fitID(id string) string { return provider.FitID(id, `[\w-]{1,64}`) }

func text(s string) []byte { return provider.Encode(block{Type: "text", Text: s}) }

func image(i msg.Image) []byte {
	return provider.Encode(block{Type: "image", Source: &source{"base64", i.Type, i.Data}})
}

// withMark puts a cache mark into the last of some blocks.
func withMark(b []byte) []byte {
	return append(bytes.TrimSuffix(b, []byte("}")), `,"cache_control":{"type":"ephemeral"}}`...)
}

// list is a JSON array of encoded values.
func list(values ...[]byte) json.RawMessage {
	return append(provider.Join([]byte("["), ",", values), ']')
}

// effort says how a model is told to think. Models since 4.6 think adaptively and take an effort; those before take a
// budget, which must be at least 1,024 and under max_tokens; the oldest don't think. Some of the newest can't be told not to think at
// all: there "off" is the lowest effort. A model of another vendor behind this API is given a budget, which most of them know.
func effort(model, level string, maxTokens int) (think map[string]any, effort string) {
	name := model[strings.LastIndexByte(model, '/')+1:]
	has := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	budgeted := !has("claude-") || has("claude-3-7", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2", "claude-opus-4-5",
		"claude-sonnet-4-0", "claude-sonnet-4-2", "claude-sonnet-4-5", "claude-haiku-4")
	switch {
	case level == "" || has("claude-3") && !has("claude-3-7"):
		return nil, ""
	case level == "off" && has("claude-fable", "claude-mythos", "claude-opus-5-5"):
		return nil, "low"
	case level == "off":
		return map[string]any{"type": "disabled"}, ""
	case !budgeted:
		return map[string]any{"type": "adaptive", "display": "summarized"}, level
	}
	budget := min(map[string]int{"low": 4096, "medium": 10_000, "high": 24_000}[level], maxTokens/2)
	if budget < 1024 {
		return nil, ""
	}
	return map[string]any{"type": "enabled", "budget_tokens": budget}, ""
}
