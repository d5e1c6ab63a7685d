package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"anchor/internal/msg"
	"anchor/internal/provider"
)

// afterEnd is how long the usage and the closing event may come after a finish_reason. Some servers never send them, and some
// never close.
const afterEnd = time.Second

// chunk is one event of a stream, or the whole answer of a server that does not stream.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Groq    struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Delta   *delta `json:"delta"`
	Message *delta `json:"message"`
	Finish  string `json:"finish_reason"`
	Usage   *usage `json:"usage"` // Moonshot
}

type delta struct {
	Content          text        `json:"content"`
	Refusal          string      `json:"refusal"`
	ReasoningContent string      `json:"reasoning_content"`
	Reasoning        text        `json:"reasoning"`
	ToolCalls        []callDelta `json:"tool_calls"`
}

type callDelta struct {
	Index    *int `json:"index"`
	ID       text `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments text   `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Hit        int `json:"prompt_cache_hit_tokens"` // DeepSeek
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// text is a string that servers also send as null, as a list of parts, or as the JSON value that it should hold.
type text string

// UnmarshalJSON takes all of these.
func (t *text) UnmarshalJSON(data []byte) error {
	var parts []struct {
		Text string `json:"text"`
	}
	switch {
	case data[0] == '"' && bytes.IndexByte(data, '\\') < 0 && utf8.Valid(data):
		*t = text(data[1 : len(data)-1]) // the usual case, fast
	case data[0] == '"':
		return json.Unmarshal(data, (*string)(t))
	case data[0] == 'n':
	case data[0] == '[' && json.Unmarshal(data, &parts) == nil:
		for _, p := range parts {
			*t += text(p.Text)
		}
	default:
		*t = text(data)
	}
	return nil
}

// growing is a call as it comes in.
type growing struct {
	id, name string
	index    int
	args     []byte
	extra    json.RawMessage
}

// reading is a reply as it comes in.
type reading struct {
	text, thoughts strings.Builder
	field          string // where the thinking came in
	calls          []*growing
	last           *growing
	usage          *usage
	finish         string
	refused        bool
	show           func(provider.Chunk) bool
}

// read reads the stream to its end: a finish_reason, with what may follow it. A stream that just ends, even with [DONE], is
// broken.
func (c *Client) read(reply *provider.Reply, req provider.Request, show func(provider.Chunk) bool) (provider.Done, error) {
	r := &reading{show: show}
	for {
		data, err := reply.Event()
		if done := err == nil && string(data) == "[DONE]"; done || err != nil {
			if r.finish != "" {
				return r.done(c.e.Name, req), nil
			}
			if done || err == io.EOF {
				err = reply.Broken("the reply ended before its end", nil)
			}
			return provider.Done{}, err
		}
		var v chunk
		if err := json.Unmarshal(data, &v); err != nil && len(data) > 0 && data[0] != ':' { // not a keep-alive sent as data
			return provider.Done{}, reply.Broken("the reply is not understood", err)
		}
		if err := c.take(r, &v); err != nil {
			return provider.Done{}, err
		}
		if r.finish != "" {
			if r.usage != nil {
				return r.done(c.e.Name, req), nil
			}
			reply.Within(afterEnd)
		}
	}
}

// take adds a chunk to the reply.
func (c *Client) take(r *reading, v *chunk) error {
	if len(v.Error) > 0 && string(v.Error) != "null" {
		return c.e.Finish(provider.StreamFault(v.Error), c.e.BaseURL+"/chat/completions")
	}
	r.usage = cmp.Or(v.Usage, v.Groq.Usage, r.usage)
	if len(v.Choices) == 0 {
		return nil
	}
	choice := v.Choices[0]
	r.usage = cmp.Or(choice.Usage, r.usage)
	d := choice.Delta
	if m := choice.Message; m != nil && r.text.Len() == 0 && len(r.calls) == 0 {
		d = m // whole, as without streaming; after deltas it only repeats them
	}
	if d != nil && !r.add(d) {
		return provider.ErrStopped
	}
	if choice.Finish == "error" {
		return &provider.Error{Kind: provider.Broken, URL: c.e.BaseURL + "/chat/completions", Message: "the server gave up in the middle of the reply"}
	}
	r.finish = cmp.Or(choice.Finish, r.finish)
	return nil
}

// add takes a delta; false when the reader wants no more.
func (r *reading) add(d *delta) bool {
	field, thought := reasoningContent, d.ReasoningContent
	if thought == "" {
		field, thought = reasoning, string(d.Reasoning)
	}
	if thought != "" {
		r.field = field
		r.thoughts.WriteString(thought)
		if !r.show(provider.ThinkingDelta{Text: thought}) {
			return false
		}
	}
	r.refused = r.refused || d.Refusal != ""
	if s := string(d.Content) + d.Refusal; s != "" {
		r.text.WriteString(s)
		if !r.show(provider.TextDelta{Text: s}) {
			return false
		}
	}
	for i := range d.ToolCalls {
		r.call(&d.ToolCalls[i])
	}
	return true
}

// call adds a piece of a call to the one that it belongs to. The name is set once.
func (r *reading) call(d *callDelta) {
	args := string(d.Function.Arguments)
	g := r.find(d)
	if g == nil {
		g = &growing{index: -1}
		if d.Index != nil {
			g.index = *d.Index
		}
		r.calls = append(r.calls, g)
	}
	r.last = g
	g.id = cmp.Or(g.id, string(d.ID))
	g.name = cmp.Or(g.name, d.Function.Name)
	if d.Extra != nil {
		g.extra = d.Extra
	}
	switch {
	case string(g.args) == "{}" && strings.HasPrefix(args, "{"):
		g.args = []byte(args) // the first was a placeholder
	case provider.Whole([]byte(args)) && provider.Whole(g.args): // the whole call once more
	default:
		g.args = append(g.args, args...)
	}
}

// find returns the call that a piece belongs to, nil for a new one. By the index, if it is one that the call in question
// can still have: servers give all calls of a reply the same index, or none, or begin to count at 1. Without it by the id, else to
// the call that came last.
func (r *reading) find(d *callDelta) *growing {
	id, name := string(d.ID), d.Function.Name
	var slot, same *growing
	for _, g := range r.calls {
		if d.Index != nil && g.index == *d.Index {
			slot = g
		}
		if id != "" && g.id == id {
			same = g
		}
	}
	if d.Index == nil {
		slot = r.last
	}
	switch {
	case same != nil && (d.Index == nil || slot == same || name == ""):
		if name != "" && again(same, string(d.Function.Arguments)) {
			return nil
		}
		return same
	case slot == nil && name == "" && id == "":
		return r.last
	case slot == nil, id != "" && slot.id != "" && id != slot.id, name != "" && slot.name != "" && name != slot.name:
		return nil
	case name != "" && id == "" && (provider.Whole(slot.args) || d.Index == nil && len(slot.args) == 0):
		return nil
	}
	return slot
}

// again says whether args begin another call with the same id: the ones before are whole and others.
func again(g *growing, args string) bool {
	return provider.Whole([]byte(args)) && string(g.args) != "{}" && provider.Whole(g.args) && string(bytes.TrimSpace(g.args)) != strings.TrimSpace(args)
}

// done makes the whole reply.
func (r *reading) done(name string, req provider.Request) provider.Done {
	a := &msg.Assistant{Provider: name, Model: req.Model}
	if r.thoughts.Len() > 0 {
		a.Blocks = append(a.Blocks, msg.Thinking{Text: r.thoughts.String(), Signature: r.field})
	}
	if s := r.text.String(); strings.TrimSpace(s) != "" {
		a.Blocks = append(a.Blocks, msg.Text{Text: s})
	}
	ids := provider.NewIDs(req.Messages)
	for _, g := range r.calls {
		if g.extra != nil {
			a.Blocks = append(a.Blocks, msg.Thinking{Redacted: extraContent + string(g.extra)})
		}
		a.Blocks = append(a.Blocks, provider.NewCall(ids.Unique(g.id), g.name, string(g.args)))
	}
	out := provider.Done{Reply: a, Stop: r.stop()}
	if u := r.usage; u != nil {
		out.Usage = provider.Usage{Input: u.Prompt, Output: u.Completion, Cached: max(u.Details.Cached, u.Hit), Known: true}
	}
	return out
}

func (r *reading) stop() provider.Stop {
	switch r.finish {
	case "length", "max_tokens", "model_length":
		return provider.StopLength
	case "content_filter", "refusal":
		return provider.StopRefusal
	case "model_context_window_exceeded":
		return provider.StopWindow
	}
	switch {
	case len(r.calls) > 0:
		return provider.StopTools
	case r.refused:
		return provider.StopRefusal
	}
	return provider.StopEnd
}
