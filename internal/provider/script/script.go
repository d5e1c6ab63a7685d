// Package script is a model that reads its replies from a file. It drives the demo, the tests of the loop, and users' own tests
// of their skills and rules: no key, no network, the same every time.
//
// A script is a list of replies, taken in order, one per model request:
//
//	# A line that starts with # is a comment.
//	reply
//	text I will read it first.
//	call read_file {"path": "sum.go"}
//
//	reply
//	expect return a - b
//	text It subtracts.
//
// docs/scripts.md tells all words. Each reply answers one request, in order; what follows "agent TEXT" is for the agents whose first
// user message holds TEXT. A request that the script does not expect fails with the line that it breaks.
package script

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"anchor/internal/msg"
	"anchor/internal/provider"
)

// Script is a [provider.Provider] for all agents of a run at once.
type Script struct {
	name  string
	lists []*list

	mu    sync.Mutex
	calls int
}

// list is the replies for the agents whose first message holds key; the empty key is for all others.
type list struct {
	key     string
	replies []*reply
	at      int
}

type reply struct {
	line  int
	times int // -1: for ever
	used  int
	steps []step
	usage provider.Usage
	stop  string
}

type step struct {
	line       int
	word, text string
}

// Stream implements [provider.Provider]. It may be called by several agents at once.
func (s *Script) Stream(ctx context.Context, req provider.Request) iter.Seq2[provider.Chunk, error] {
	return provider.Sequence(func(show func(provider.Chunk) bool) (provider.Done, error) {
		r, err := s.take(req)
		if err != nil {
			return provider.Done{}, err
		}
		return s.play(ctx, r, req, show)
	})
}

// Unused tells which replies were never asked for, one line each; empty if all were used.
func (s *Script) Unused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, l := range s.lists {
		for _, r := range l.replies {
			if r.times < 0 && r.used == 0 || r.used < r.times {
				out = append(out, fmt.Sprintf("%s:%d: this reply was not used", s.name, r.line))
			}
		}
	}
	return out
}

// take finds the next reply for a request.
func (s *Script) take(req provider.Request) (*reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := ""
	for _, m := range req.Messages {
		if u, ok := m.(*msg.User); ok {
			first = u.Text
			break
		}
	}
	l := s.lists[0]
	for _, other := range s.lists[1:] {
		if strings.Contains(first, other.key) {
			l = other
			break
		}
	}
	for l.at < len(l.replies) {
		r := l.replies[l.at]
		if r.times < 0 || r.used < r.times {
			r.used++
			return r, nil
		}
		l.at++
	}
	return nil, s.fault(0, "there is no reply left for a request that ends with %q", clip(newest(req.Messages)))
}

// play streams a reply.
func (s *Script) play(ctx context.Context, r *reply, req provider.Request, show func(provider.Chunk) bool) (provider.Done, error) {
	a := &msg.Assistant{Provider: "script", Model: req.Model}
	ids := provider.NewIDs(req.Messages)
	var text, thoughts strings.Builder
	for _, st := range r.steps {
		var c provider.Chunk
		switch st.word {
		case "text", "chunk":
			piece := st.text
			if st.word == "text" && text.Len() > 0 {
				piece = "\n" + piece
			}
			text.WriteString(piece)
			c = provider.TextDelta{Text: piece}
		case "think":
			thoughts.WriteString(st.text)
			c = provider.ThinkingDelta{Text: st.text}
		case "call":
			end := strings.IndexAny(st.text+" ", " \n")
			a.Blocks = append(a.Blocks, provider.NewCall(ids.Unique(s.id()), st.text[:end], st.text[end:]))
		default:
			if err := s.check(ctx, st, req); err != nil {
				return provider.Done{}, err
			}
		}
		if c != nil && !show(c) {
			return provider.Done{}, provider.ErrStopped
		}
		if ctx.Err() != nil {
			return provider.Done{}, ctx.Err()
		}
	}
	var before []msg.Block
	if thoughts.Len() > 0 {
		before = append(before, msg.Thinking{Text: thoughts.String(), Signature: "script"})
	}
	if text.Len() > 0 {
		before = append(before, msg.Text{Text: text.String()})
	}
	a.Blocks = append(before, a.Blocks...)
	return provider.Done{Reply: a, Stop: stops()[r.end(a)], Usage: r.usage}, nil
}

// check does the steps that show nothing.
func (s *Script) check(ctx context.Context, st step, req provider.Request) error {
	switch st.word {
	case "expect":
		if got := newest(req.Messages); !strings.Contains(got, st.text) {
			return s.fault(st.line, "the request must hold %q after the last reply; it holds %q", st.text, clip(got))
		}
	case "reject":
		if got := newest(req.Messages); strings.Contains(got, st.text) {
			return s.fault(st.line, "the request must not hold %q after the last reply; it holds %q", st.text, clip(got))
		}
	case "expect-any":
		if !strings.Contains(whole(req), st.text) {
			return s.fault(st.line, "the request must hold %q", st.text)
		}
	case "delay":
		d, _ := time.ParseDuration(st.text)
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	case "cut":
		return &provider.Error{Kind: provider.Broken, URL: s.name, Message: "the reply ended before its end"}
	case "error":
		e, _ := failure(st.text)
		e.URL = s.name
		return e
	}
	return nil
}

func (s *Script) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return fmt.Sprintf("call_%d", s.calls)
}

// fault is an error of the script's user: the request is not the one that the script was written for.
func (s *Script) fault(line int, format string, args ...any) error {
	at := s.name
	if line > 0 {
		at = fmt.Sprintf("%s:%d", s.name, line)
	}
	return &provider.Error{Kind: provider.BadRequest, URL: at, Message: fmt.Sprintf(format, args...)}
}

func stops() map[string]provider.Stop {
	return map[string]provider.Stop{
		"end": provider.StopEnd, "tools": provider.StopTools, "length": provider.StopLength, "pause": provider.StopPause,
		"refusal": provider.StopRefusal, "window": provider.StopWindow,
	}
}

func (r *reply) end(a *msg.Assistant) string {
	switch {
	case r.stop != "":
		return r.stop
	case len(a.Calls()) > 0:
		return "tools"
	}
	return "end"
}

// newest is the text of all that came after the last reply.
func newest(messages []msg.Message) string {
	var parts []string
	for _, m := range messages {
		if _, ok := m.(*msg.Assistant); ok {
			parts = nil
		} else {
			parts = append(parts, said(m))
		}
	}
	return strings.Join(parts, "\n")
}

// whole is the text of a request.
func whole(req provider.Request) string {
	parts := []string{req.System}
	for _, t := range req.Tools {
		parts = append(parts, t.Name)
	}
	for _, m := range req.Messages {
		parts = append(parts, said(m))
	}
	return strings.Join(parts, "\n")
}

func said(m msg.Message) string {
	switch m := m.(type) {
	case *msg.Tool:
		return m.Text
	case *msg.Assistant:
		out := m.Text()
		for _, c := range m.Calls() {
			out += "\n" + c.Name + " " + string(c.Args) + c.Bad
		}
		return out
	}
	return provider.UserText(m)
}

func clip(s string) string {
	if len(s) > 200 {
		return "…" + strings.ToValidUTF8(s[len(s)-200:], "")
	}
	return s
}

// unquote reads a JSON string; other text stays as it is.
func unquote(s string) string {
	var out string
	if strings.HasPrefix(s, `"`) && json.Unmarshal([]byte(s), &out) == nil {
		return out
	}
	return s
}
