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
	type definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type tool struct {
		Type     string     `json:"type"`
		Function definition `json:"function"`
	}
	out := make([]tool, len(specs))
	for i, s := range specs {
		out[i] = tool{"function", definition{s.Name, s.Description, provider.FitSchema(s.Schema)}}
	}
	return provider.Encode(out)
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
func (w *wire) Encode(m msg.Message, model string) (t provider.Turn) {
	t.Images = provider.Images(m, image, textPart)
	says := provider.Says(m)
	switch m := m.(type) {
	case *msg.Assistant:
		if r := w.reply(m, m.Provider == w.Name && m.Model == model); r != nil {
			t.Reply, t.Texts = true, [][]byte{r}
		}
	case *msg.Tool:
		result := struct {
			Role    string `json:"role"`
			ID      string `json:"tool_call_id"`
			Content string `json:"content"`
		}{"tool", w.fitID(m.CallID), says}
		t.Results = [][]byte{provider.Encode(result)}
	default:
		if b := provider.Encode(says); says != "" {
			t.Texts = [][]byte{b[1 : len(b)-1]}
		}
	}
	return t
}

// reply encodes a reply; nil if there is nothing in it to send. The content is always there, and never null: each of the two
// has servers that refuse it. Thinking goes back only to its own model, in the field in which it came.
func (w *wire) reply(a *msg.Assistant, own bool) []byte {
	thoughts := map[string]string{}
	out := struct {
		Role             string `json:"role"`
		Content          string `json:"content"`
		ReasoningContent string `json:"reasoning_content,omitempty"`
		Reasoning        string `json:"reasoning,omitempty"`
		ToolCalls        []call `json:"tool_calls,omitempty"`
	}{Role: "assistant", Content: a.Text()}
	var extra json.RawMessage
	for _, b := range a.Blocks {
		switch b := b.(type) {
		case msg.Thinking:
			if own {
				thoughts[b.Signature] += b.Text
			}
			if raw, ok := strings.CutPrefix(b.Redacted, extraContent); ok && own && json.Valid([]byte(raw)) {
				extra = json.RawMessage(raw)
			}
		case msg.Call:
			f := function{provider.FitName(b.Name), string(provider.Object(b.Args))}
			out.ToolCalls = append(out.ToolCalls, call{ID: w.fitID(b.ID), Type: "function", Function: f, Extra: extra})
			extra = nil
		}
	}
	if strings.TrimSpace(out.Content) == "" {
		if out.Content = ""; out.ToolCalls == nil {
			return nil
		}
	}
	out.ReasoningContent, out.Reasoning = thoughts[reasoningContent], thoughts[reasoning]
	return provider.Encode(out)
}

// fitID returns a call's id as the server takes it: Mistral wants nine letters and digits, OpenAI at most forty characters.
func (w *wire) fitID(id string) string {
	if w.Name == "mistral" || strings.Contains(w.BaseURL, "mistral.ai") {
		return provider.FitID(id, `[[:alnum:]]{9}`)
	}
	return provider.FitID(id, `[\w.:-]{1,40}`)
}

func textPart(s string) []byte { return provider.Encode(map[string]string{"type": "text", "text": s}) }

func image(i msg.Image) []byte {
	address := "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
	return provider.Encode(map[string]any{"type": "image_url", "image_url": map[string]string{"url": address}})
}
