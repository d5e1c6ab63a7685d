package anthropic

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"anchor/internal/msg"
	"anchor/internal/provider"
)

// event is what of a stream's events is used.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	ContentBlock start           `json:"content_block"`
	Delta        delta           `json:"delta"`
	Usage        usage           `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

type start struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type delta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
}

// usage is cumulative: a later one counts, where it is set.
type usage struct {
	Input    int `json:"input_tokens"`
	Output   int `json:"output_tokens"`
	Read     int `json:"cache_read_input_tokens"`
	Creation int `json:"cache_creation_input_tokens"`
}

// part is a block of the reply that grows. text is that of a text or thinking block, or the arguments of a call.
type part struct {
	start
	index int
	text  strings.Builder
}

// reading is a reply as it comes in.
type reading struct {
	parts []*part
	usage usage
	known bool
	stop  string
	show  func(provider.Chunk) bool
}

// read reads the stream to its message_stop: nothing else is an end.
func (c *Client) read(reply *provider.Reply, req provider.Request, show func(provider.Chunk) bool) (provider.Done, error) {
	r := &reading{show: show}
	for {
		data, err := reply.Event()
		if err == io.EOF {
			return provider.Done{}, reply.Broken("the reply ended before its end", nil)
		}
		if err != nil {
			return provider.Done{}, err
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil && len(data) > 0 && data[0] != ':' { // not a keep-alive sent as data
			return provider.Done{}, reply.Broken("the reply is not understood", err)
		}
		if e.Type == "message_stop" {
			return r.done(c.e.Name, req), nil
		}
		if e.Type == "error" {
			return provider.Done{}, c.e.Finish(provider.StreamFault(e.Error), c.e.BaseURL+"/v1/messages")
		}
		if !r.take(&e) {
			return provider.Done{}, provider.ErrStopped
		}
	}
}

// take adds an event; unknown ones mean nothing. It returns false when the reader wants no more.
func (r *reading) take(e *event) bool {
	switch e.Type {
	case "message_start":
		r.count(e.Message.Usage)
	case "content_block_start":
		p := &part{start: e.ContentBlock, index: e.Index}
		r.parts = append(r.parts, p)
		p.text.WriteString(p.Text + p.Thinking)
		return r.tell(p.Text, p.Thinking)
	case "content_block_delta":
		p := r.part(e)
		p.text.WriteString(e.Delta.Text)
		p.text.WriteString(e.Delta.Thinking)
		p.text.WriteString(e.Delta.PartialJSON)
		p.Signature += e.Delta.Signature
		return r.tell(e.Delta.Text, e.Delta.Thinking)
	case "message_delta":
		r.stop = cmp.Or(e.Delta.StopReason, r.stop)
		r.count(e.Usage)
	}
	return true
}

// part finds the newest block with the event's index. A server that did not begin it gets one of the delta's kind.
func (r *reading) part(e *event) *part {
	for i := len(r.parts) - 1; i >= 0; i-- {
		if r.parts[i].index == e.Index {
			return r.parts[i]
		}
	}
	p := &part{index: e.Index}
	p.Type, _, _ = strings.Cut(e.Delta.Type, "_")
	r.parts = append(r.parts, p)
	return p
}

func (r *reading) tell(text, thinking string) bool {
	if text != "" && !r.show(provider.TextDelta{Text: text}) {
		return false
	}
	return thinking == "" || r.show(provider.ThinkingDelta{Text: thinking})
}

func (r *reading) count(u usage) {
	set := func(to *int, n int) {
		if n > 0 {
			*to, r.known = n, true
		}
	}
	set(&r.usage.Input, u.Input)
	set(&r.usage.Output, u.Output)
	set(&r.usage.Read, u.Read)
	set(&r.usage.Creation, u.Creation)
}

// done makes the whole reply.
func (r *reading) done(name string, req provider.Request) provider.Done {
	a := &msg.Assistant{Provider: name, Model: req.Model}
	ids := provider.NewIDs(req.Messages)
	calls := false
	for _, p := range r.parts {
		text := p.text.String()
		switch p.Type {
		case "text":
			if strings.TrimSpace(text) != "" {
				a.Blocks = append(a.Blocks, msg.Text{Text: text})
			}
		case "thinking":
			if text != "" || p.Signature != "" {
				a.Blocks = append(a.Blocks, msg.Thinking{Text: text, Signature: p.Signature})
			}
		case "redacted_thinking":
			a.Blocks = append(a.Blocks, msg.Thinking{Redacted: p.Data})
		case "tool_use":
			if text == "" {
				text = string(p.Input)
			}
			a.Blocks = append(a.Blocks, provider.NewCall(ids.Unique(p.ID), p.Name, text))
			calls = true
		}
	}
	u := r.usage
	return provider.Done{Reply: a, Stop: stop(r.stop, calls), Usage: provider.Usage{
		Input: u.Input + u.Read + u.Creation, Output: u.Output, Cached: u.Read, Known: r.known,
	}}
}

func stop(reason string, calls bool) provider.Stop {
	switch reason {
	case "max_tokens":
		return provider.StopLength
	case "pause_turn":
		return provider.StopPause
	case "refusal":
		return provider.StopRefusal
	case "model_context_window_exceeded":
		return provider.StopWindow
	}
	if calls {
		return provider.StopTools
	}
	return provider.StopEnd
}
