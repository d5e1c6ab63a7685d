package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"anchor/internal/msg"
	"anchor/internal/provider"
)

// defaultMaxTokens bounds a reply where nobody said how long it may be. Every model of today takes it.
const defaultMaxTokens = 32_000

// marked counts the user messages at the end that get a cache mark. With those on the system prompt and the tools that makes
// the four that a request may have.
const marked = 2

// mark is put before the closing brace of a block.
const mark = `,"cache_control":{"type":"ephemeral"}`

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
	Content   any             `json:"content,omitempty"` // a string or []block
	IsError   bool            `json:"is_error,omitempty"`
	Source    *source         `json:"source,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// turn is a message as it stands in the body: its encoded blocks, joined by commas. Results must come first in a user
// message, so a tool result is told apart.
type turn struct {
	assistant, result bool
	blocks            []byte
}

// body puts a request together. Only the marks and max_tokens, effort and tool choice may differ from the last request in
// what both have.
func (c *Client) body(req provider.Request) []byte {
	limit := cmp.Or(req.MaxTokens, c.e.MaxTokens, defaultMaxTokens)
	head := map[string]any{"model": req.Model, "max_tokens": limit, "stream": true}
	think, level := effort(req.Model, req.Effort, limit)
	if think != nil {
		head["thinking"] = think
	}
	if level != "" {
		head["output_config"] = map[string]string{"effort": level}
	}
	if req.System != "" {
		head["system"] = list(withMark(provider.Encode(block{Type: "text", Text: req.System})))
	}
	if len(req.Tools) > 0 {
		head["tools"] = json.RawMessage(c.cache.Tools(req.Tools, encodeTools))
		if req.NoCalls {
			head["tool_choice"] = map[string]string{"type": "none"}
		}
	}
	turns := c.cache.Messages(req.Model, req.Messages, func(m msg.Message) turn { return c.encode(m, req.Model) })
	front := bytes.TrimSuffix(provider.Encode(head), []byte("}"))
	size := len(front) + 200
	for _, t := range turns {
		size += len(t.blocks) + 40
	}
	out := append(append(make([]byte, 0, size), front...), `,"messages":[`...)
	groups := group(turns)
	users := 0
	for _, g := range groups {
		if !g[0].assistant {
			users++
		}
	}
	for i, g := range groups {
		if i > 0 {
			out = append(out, ',')
		}
		if g[0].assistant {
			out = g.append(out, "assistant")
			continue
		}
		out = g.append(out, "user")
		if users--; users < marked {
			out = append(out[:len(out)-len("}]}")], mark+"}]}"...)
		}
	}
	return append(out, "]}"...)
}

// message is the turns that make one message of the API.
type message []turn

// group joins neighbours of one role, and puts the results of a user message first.
func group(turns []turn) []message {
	var out []message
	for _, t := range turns {
		if len(t.blocks) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1][0].assistant == t.assistant {
			out[n-1] = append(out[n-1], t)
		} else {
			out = append(out, message{t})
		}
	}
	return out
}

// append writes the message.
func (m message) append(out []byte, role string) []byte {
	out = append(out, `{"role":"`+role+`","content":[`...)
	for _, results := range []bool{true, false} {
		for _, t := range m {
			if t.result == results {
				out = append(append(out, t.blocks...), ',')
			}
		}
	}
	return append(out[:len(out)-1], "]}"...)
}

// withMark puts the cache mark into an encoded block.
func withMark(b []byte) []byte { return append(bytes.TrimSuffix(b, []byte("}")), mark+"}"...) }

func encodeTools(specs []msg.Spec) []byte {
	var out [][]byte
	for _, s := range specs {
		out = append(out, provider.Encode(struct {
			Name        string          `json:"name"`
			Description string          `json:"description,omitempty"`
			InputSchema json.RawMessage `json:"input_schema"`
		}{s.Name, s.Description, provider.FitSchema(s.Schema)}))
	}
	out[len(out)-1] = withMark(out[len(out)-1])
	return list(out...)
}

// list is a JSON array of encoded values.
func list(values ...[]byte) json.RawMessage {
	return append(append([]byte("["), bytes.Join(values, []byte(","))...), ']')
}

// encode makes the blocks of a message. What the API would refuse is left out or said in words.
func (c *Client) encode(m msg.Message, model string) turn {
	switch m := m.(type) {
	case *msg.Assistant:
		return turn{assistant: true, blocks: join(c.replyBlocks(m, model))}
	case *msg.Tool:
		b := block{Type: "tool_result", ToolUseID: provider.FitID(m.CallID, 64, "_-"), IsError: !m.OK, Content: provider.ResultText(m)}
		if len(m.Images) > 0 {
			b.Content = append([]block{{Type: "text", Text: provider.ResultText(m)}}, images(m.Images)...)
		}
		return turn{result: true, blocks: join([]block{b})}
	}
	var out []block
	if s := provider.UserText(m); s != "" {
		out = append(out, block{Type: "text", Text: s})
	}
	if u, ok := m.(*msg.User); ok {
		out = append(out, images(u.Images)...)
	}
	return turn{blocks: join(out)}
}

// replyBlocks are the blocks of a reply. Thinking goes back only to who thought it, and only as it was signed.
func (c *Client) replyBlocks(a *msg.Assistant, model string) []block {
	var out []block
	for _, b := range a.Blocks {
		switch b := b.(type) {
		case msg.Text:
			if strings.TrimSpace(b.Text) != "" {
				out = append(out, block{Type: "text", Text: b.Text})
			}
		case msg.Thinking:
			if a.Provider != c.e.Name || a.Model != model || a.Interrupted {
				continue
			}
			if b.Redacted != "" {
				out = append(out, block{Type: "redacted_thinking", Data: b.Redacted})
			} else if b.Signature != "" {
				out = append(out, block{Type: "thinking", Thinking: &b.Text, Signature: b.Signature})
			}
		case msg.Call:
			out = append(out, block{Type: "tool_use", ID: provider.FitID(b.ID, 64, "_-"), Name: provider.FitName(b.Name), Input: provider.Object(b.Args)})
		}
	}
	return out
}

func images(from []msg.Image) []block {
	var out []block
	for _, i := range from {
		if fault := provider.ImageFault(i); fault != "" {
			out = append(out, block{Type: "text", Text: fault})
		} else {
			out = append(out, block{Type: "image", Source: &source{"base64", i.Type, i.Data}})
		}
	}
	return out
}

func join(blocks []block) []byte {
	var out []byte
	for i, b := range blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, provider.Encode(b)...)
	}
	return out
}

// effort says how a model is told to think. Models since 4.6 think adaptively and take an effort; those before take a
// budget, which must be at least 1,024 and under max_tokens; the oldest don't think. Some of the newest can't be told not to think at
// all: there "off" is the lowest effort. A model of another vendor behind this API is given a budget, which most of them know.
func effort(model, level string, maxTokens int) (think map[string]any, effort string) {
	name := model[strings.LastIndexByte(model, '/')+1:]
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
		return false
	}
	budgeted := !has("claude-") || has("claude-3-7", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2", "claude-opus-4-5", "claude-sonnet-4-0", "claude-sonnet-4-2",
		"claude-sonnet-4-5", "claude-haiku-4")
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
