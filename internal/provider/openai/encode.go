package openai

import (
	"bytes"
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

// piece is a message as it stands in the body. A reply and a tool result are whole messages; what a user says is text and images
// that may be joined with their neighbours', since some servers refuse two user messages in a row. The images of a tool
// result come as a user's after all results.
type piece struct {
	whole  []byte
	result bool   // whole is a tool result
	text   []byte // JSON without its quotes
	images []byte // parts, each with a comma before it
}

// call is a tool call on its way out.
type call struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function function        `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// body puts a request together; see the fields that the server refused.
func (c *Client) body(req provider.Request) []byte {
	h := map[string]any{"model": req.Model, "stream": true}
	set := func(field string, v any) bool {
		if c.without[field] {
			return false
		}
		h[field] = v
		return true
	}
	set("stream_options", map[string]bool{"include_usage": true})
	if n := cmp.Or(req.MaxTokens, c.e.MaxTokens); n > 0 {
		first, second := "max_tokens", "max_completion_tokens"
		if c.vendor {
			first, second = second, first
		}
		_ = set(first, n) || set(second, n)
	}
	if req.Effort != "" {
		set("reasoning_effort", strings.Replace(req.Effort, "off", "none", 1))
	}
	if len(req.Tools) > 0 {
		h["tools"] = json.RawMessage(c.cache.Tools(req.Tools, encodeTools))
		if req.NoCalls {
			set("tool_choice", "none")
		}
	}
	var messages [][]byte
	if req.System != "" {
		messages = append(messages, bytes.Join([][]byte{[]byte(`{"role":"system","content":`), provider.Encode(req.System), []byte("}")}, nil))
	}
	messages = append(messages, join(c.cache.Messages(req.Model, req.Messages, func(m msg.Message) piece { return c.encode(m, req.Model) }))...)
	front := append(bytes.TrimSuffix(provider.Encode(h), []byte("}")), `,"messages":[`...)
	return slices.Concat(front, bytes.Join(messages, []byte(",")), []byte("]}"))
}

// join makes messages of the pieces.
func join(pieces []piece) [][]byte {
	var out [][]byte
	var user piece
	flush := func() {
		switch {
		case len(user.images) > 0 && len(user.text) > 0:
			out = append(out, bytes.Join([][]byte{[]byte(`{"role":"user","content":[{"type":"text","text":"`), user.text, []byte(`"}`), user.images, []byte("]}")}, nil))
		case len(user.images) > 0:
			out = append(out, bytes.Join([][]byte{[]byte(`{"role":"user","content":[`), user.images[1:], []byte("]}")}, nil))
		case len(user.text) > 0:
			out = append(out, bytes.Join([][]byte{[]byte(`{"role":"user","content":"`), user.text, []byte(`"}`)}, nil))
		}
		user = piece{}
	}
	afterReply := false
	for _, p := range pieces {
		if p.whole != nil {
			if !p.result && afterReply && len(user.text)+len(user.images) == 0 {
				user.text = []byte("Go on.") // the reply before was paused
			}
			if afterReply = !p.result; afterReply {
				flush()
			}
			out = append(out, p.whole)
		}
		if len(p.text) > 0 && len(user.text) > 0 {
			user.text = append(user.text[:len(user.text):len(user.text)], `\n\n`...)
		}
		user.text = append(user.text[:len(user.text):len(user.text)], p.text...)
		user.images = append(user.images[:len(user.images):len(user.images)], p.images...)
	}
	flush()
	return out
}

// encode makes the piece of a message. What servers would refuse is left out or said in words.
func (c *Client) encode(m msg.Message, model string) piece {
	switch m := m.(type) {
	case *msg.Assistant:
		return piece{whole: c.reply(m, model)}
	case *msg.Tool:
		result := struct {
			Role    string `json:"role"`
			ID      string `json:"tool_call_id"`
			Content string `json:"content"`
		}{"tool", c.fitID(m.CallID), provider.ResultText(m)}
		return piece{whole: provider.Encode(result), result: true, images: images(m.Images)}
	case *msg.User:
		return piece{text: bare(provider.UserText(m)), images: images(m.Images)}
	}
	return piece{text: bare(provider.UserText(m))}
}

// bare is a JSON string without its quotes.
func bare(s string) []byte {
	b := provider.Encode(s)
	return b[1 : len(b)-1]
}

// reply encodes a reply; nil if there is nothing in it to send. The content is always there, and never null: each of the two
// has servers that refuse it.
func (c *Client) reply(a *msg.Assistant, model string) []byte {
	own := a.Provider == c.e.Name && a.Model == model
	thoughts := map[string]string{}
	out := struct {
		Role             string `json:"role"`
		Content          string `json:"content"`
		ReasoningContent string `json:"reasoning_content,omitempty"`
		Reasoning        string `json:"reasoning,omitempty"`
		ToolCalls        []call `json:"tool_calls,omitempty"`
	}{Role: "assistant"}
	var extra json.RawMessage
	for _, b := range a.Blocks {
		switch b := b.(type) {
		case msg.Text:
			out.Content += b.Text
		case msg.Thinking:
			if own {
				thoughts[b.Signature] += b.Text
			}
			if raw, ok := strings.CutPrefix(b.Redacted, extraContent); ok && own && json.Valid([]byte(raw)) {
				extra = json.RawMessage(raw)
			}
		case msg.Call:
			f := function{provider.FitName(b.Name), string(provider.Object(b.Args))}
			out.ToolCalls = append(out.ToolCalls, call{ID: c.fitID(b.ID), Type: "function", Function: f, Extra: extra})
			extra = nil
		}
	}
	if strings.TrimSpace(out.Content) == "" {
		out.Content = ""
		if out.ToolCalls == nil {
			return nil
		}
	}
	out.ReasoningContent, out.Reasoning = thoughts[reasoningContent], thoughts[reasoning]
	return provider.Encode(out)
}

// fitID returns a call's id as the server takes it: Mistral wants nine letters and digits, OpenAI at most forty characters.
func (c *Client) fitID(id string) string {
	if c.e.Name == "mistral" || strings.Contains(c.e.BaseURL, "mistral.ai") {
		if len(id) != 9 {
			return provider.FitID(id, 0, "")
		}
		return provider.FitID(id, 9, "")
	}
	return provider.FitID(id, 40, "_-.:")
}

// images are parts, each with a comma before it.
func images(list []msg.Image) []byte {
	var out []byte
	for _, i := range list {
		var part any = map[string]string{"type": "text", "text": provider.ImageFault(i)}
		if provider.ImageFault(i) == "" {
			address := "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
			part = map[string]any{"type": "image_url", "image_url": map[string]string{"url": address}}
		}
		out = append(append(out, ','), provider.Encode(part)...)
	}
	return out
}

func encodeTools(specs []msg.Spec) []byte {
	type definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type entry struct {
		Type     string     `json:"type"`
		Function definition `json:"function"`
	}
	out := make([]entry, len(specs))
	for i, s := range specs {
		out[i] = entry{"function", definition{s.Name, s.Description, provider.FitSchema(s.Schema)}}
	}
	return provider.Encode(out)
}
