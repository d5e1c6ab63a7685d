// Package wiretest checks request bodies against the rules that the model APIs enforce. It is for tests only: those of the wires,
// and those that drive whole conversations through a loopback server.
package wiretest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Anthropic says what the Messages API would refuse in a request body, nil if nothing: messages begin with the user and alternate,
// each call has its one result at the beginning of the next message, ids are unique, no text is empty, thinking is signed, and at
// most four cache marks are set.
func Anthropic(body []byte) error {
	var req struct {
		MaxTokens int `json:"max_tokens"`
		Thinking  struct {
			Budget int `json:"budget_tokens"`
		} `json:"thinking"`
		Messages []struct {
			Role    string
			Content []map[string]any
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if n := strings.Count(string(body), `"cache_control":{`); n > 4 {
		return fmt.Errorf("%d cache marks", n)
	}
	if req.Thinking.Budget >= req.MaxTokens {
		return fmt.Errorf("thinking budget %d is not under max_tokens %d", req.Thinking.Budget, req.MaxTokens)
	}
	p := pairs{seen: map[string]bool{}}
	for i, m := range req.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return fmt.Errorf("message %d is of the %s, must be of the %s", i, m.Role, want)
		}
		if len(m.Content) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		for j, b := range m.Content {
			text := func(k string) string { s, _ := b[k].(string); return s }
			var err error
			switch b["type"] {
			case "text":
				if strings.TrimSpace(text("text")) == "" {
					err = fmt.Errorf("empty text")
				}
			case "thinking":
				if text("signature") == "" {
					err = fmt.Errorf("thinking without a signature")
				}
			case "tool_use":
				if _, ok := b["input"].(map[string]any); !ok {
					err = fmt.Errorf("input is no object")
				} else {
					err = p.call(text("id"))
				}
			case "tool_result":
				if j > 0 && m.Content[j-1]["type"] != "tool_result" {
					err = fmt.Errorf("a result after other content")
				} else {
					err = p.result(text("tool_use_id"))
				}
			}
			if err != nil {
				return fmt.Errorf("message %d, block %d: %w", i, j, err)
			}
		}
		if err := p.open(); m.Role == "user" && err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return p.open()
}

// OpenAI says what strict chat completion servers would refuse in a request body, nil if nothing.
func OpenAI(body []byte) error {
	var req struct {
		Messages []struct {
			Role      string
			Content   json.RawMessage
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	p := pairs{seen: map[string]bool{}}
	last := ""
	for i, m := range req.Messages {
		err := error(nil)
		switch content := string(m.Content); {
		case content == "" || content == "null":
			err = fmt.Errorf("no content")
		case m.Role == last && m.Role != "tool":
			err = fmt.Errorf("two messages of the %s in a row", m.Role)
		case m.Role == "tool":
			err = p.result(m.CallID)
		case content == `""` && len(m.ToolCalls) == 0 || strings.Contains(content, `"text":""`):
			err = fmt.Errorf("empty text")
		default:
			err = p.open()
		}
		for _, c := range m.ToolCalls {
			if !json.Valid([]byte(c.Function.Arguments)) || c.Function.Arguments[0] != '{' || c.Function.Name == "" {
				err = fmt.Errorf("call %q of %q has arguments %q", c.ID, c.Function.Name, c.Function.Arguments)
			}
			if err == nil {
				err = p.call(c.ID)
			}
		}
		if err != nil {
			return fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
		last = m.Role
	}
	return p.open()
}

// pairs follows calls and their results.
type pairs struct {
	seen map[string]bool
	wait []string
}

func (p *pairs) call(id string) error {
	if id == "" || p.seen[id] {
		return fmt.Errorf("call id %q is empty or used twice", id)
	}
	p.seen[id] = true
	p.wait = append(p.wait, id)
	return nil
}

func (p *pairs) result(id string) error {
	for i, w := range p.wait {
		if w == id {
			p.wait = append(p.wait[:i:i], p.wait[i+1:]...)
			return nil
		}
	}
	return fmt.Errorf("a result for %q, which is no open call", id)
}

func (p *pairs) open() error {
	if len(p.wait) > 0 {
		return fmt.Errorf("calls without a result: %q", p.wait)
	}
	return nil
}
