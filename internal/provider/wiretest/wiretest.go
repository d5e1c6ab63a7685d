// Package wiretest checks request bodies against the rules that the model APIs enforce. It is for tests only: those of the wires,
// and those that drive whole conversations through a loopback server.
package wiretest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// block is a content block of the Messages API, or a tool call or result of chat completions.
type block struct {
	Type      string
	Text      string
	Signature string
	ID        string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Function  struct{ Arguments string }
}

type message struct {
	Role       string
	Content    json.RawMessage
	ToolCalls  []block `json:"tool_calls"`
	ToolCallID string  `json:"tool_call_id"`
}

// Anthropic says what the Messages API would refuse in a request body, nil if nothing: messages begin with the user and alternate,
// each call has its one result at the beginning of the next message, ids are unique, no text is empty, thinking is signed and has
// room, and at most four cache marks are set.
func Anthropic(body []byte) error {
	var req struct {
		MaxTokens int `json:"max_tokens"`
		Thinking  struct {
			Budget int `json:"budget_tokens"`
		}
		Messages []message
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if n := strings.Count(string(body), `"cache_control":{`); n > 4 || req.Thinking.Budget >= req.MaxTokens {
		return fmt.Errorf("%d cache marks, thinking budget %d of max_tokens %d", n, req.Thinking.Budget, req.MaxTokens)
	}
	p := pairs{seen: map[string]bool{}}
	for i, m := range req.Messages {
		var blocks []block
		err := json.Unmarshal(m.Content, &blocks)
		if m.Role != []string{"user", "assistant"}[i%2] || len(blocks) == 0 {
			err = fmt.Errorf("not the turn of the %s, or nothing in it", m.Role)
		}
		for j, b := range blocks {
			switch {
			case b.Type == "text" && strings.TrimSpace(b.Text) == "", b.Type == "thinking" && b.Signature == "", b.Type == "tool_use" && b.Input[0] != '{':
				p.fault("block %d is empty, unsigned or no object", j)
			case b.Type == "tool_use":
				p.call(b.ID)
			case b.Type == "tool_result" && j > 0 && blocks[j-1].Type != b.Type:
				p.fault("a result after other content")
			case b.Type == "tool_result":
				p.result(b.ToolUseID)
			}
		}
		if m.Role == "user" {
			p.close()
		}
		if err == nil {
			err = p.err
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	p.close()
	return p.err
}

// OpenAI says what strict chat completion servers would refuse in a request body, nil if nothing.
func OpenAI(body []byte) error {
	var req struct{ Messages []message }
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	p := pairs{seen: map[string]bool{}}
	last := ""
	for i, m := range req.Messages {
		content := string(m.Content)
		if m.Role == "tool" {
			p.result(m.ToolCallID)
		} else {
			p.close()
		}
		if content == "" || content == "null" || content == `""` && len(m.ToolCalls) == 0 || strings.Contains(content, `"text":""`) {
			p.fault("no content")
		}
		if m.Role == last && m.Role != "tool" {
			p.fault("two messages of the %s in a row", m.Role)
		}
		for _, c := range m.ToolCalls {
			if args := c.Function.Arguments; !json.Valid([]byte(args)) || args[0] != '{' {
				p.fault("arguments %q", args)
			}
			p.call(c.ID)
		}
		if last = m.Role; p.err != nil {
			return fmt.Errorf("message %d (%s): %w", i, m.Role, p.err)
		}
	}
	p.close()
	return p.err
}

// pairs follows calls and their results; err is the first fault.
type pairs struct {
	seen map[string]bool // whether a call's result is still to come
	err  error
}

func (p *pairs) fault(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *pairs) call(id string) {
	if _, twice := p.seen[id]; twice || id == "" {
		p.fault("call id %q is empty or used twice", id)
	}
	p.seen[id] = true
}

func (p *pairs) result(id string) {
	if !p.seen[id] {
		p.fault("a result for %q, which is no open call", id)
	}
	p.seen[id] = false
}

func (p *pairs) close() {
	for id, open := range p.seen {
		if open {
			p.fault("call %q has no result", id)
		}
	}
}
