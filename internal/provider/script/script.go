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
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

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
}

type reply struct {
	line, times, used int
	steps             []step
}

type step struct {
	line int
	do   func(*play) error
}

// play is a reply on its way to a request.
type play struct {
	*Script
	ctx  context.Context
	req  provider.Request
	d    *provider.Draft
	line int // 0 before the first
}

// Stream implements [provider.Provider]. It may be called by several agents at once.
func (s *Script) Stream(ctx context.Context, req provider.Request) iter.Seq2[provider.Chunk, error] {
	return provider.Sequence(ctx, func(ctx context.Context, show func(provider.Chunk)) (provider.Done, error) {
		p := &play{s, ctx, req, provider.NewDraft(show), 0}
		steps, ok := s.take(req.Messages)
		if !ok {
			return provider.Done{}, p.fault("there is no reply left for a request that ends with %q", clip(texts(newest(req.Messages))))
		}
		for _, st := range steps {
			p.line = st.line
			if err := cmp.Or(st.do(p), ctx.Err()); err != nil {
				return provider.Done{}, err
			}
		}
		return p.d.Done("script", req), nil
	})
}

// Unused tells which replies were never asked for, one line each; empty if all were used.
func (s *Script) Unused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, l := range s.lists {
		for _, r := range l.replies {
			if r.used == 0 || r.used < r.times && r.times < math.MaxInt {
				out = append(out, fmt.Sprintf("%s:%d: this reply was not used", s.name, r.line))
			}
		}
	}
	return out
}

// take finds the next reply to a conversation: in the first list for an agent whose task it is, else in the main one.
func (s *Script) take(messages []msg.Message) (steps []step, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	task := ""
	for _, m := range slices.Backward(messages) {
		if u, ok := m.(*msg.User); ok {
			task = u.Text // the first in the end
		}
	}
	i := slices.IndexFunc(s.lists[1:], func(l *list) bool { return strings.Contains(task, l.key) })
	for _, r := range s.lists[i+1].replies {
		if r.used < r.times {
			r.used++
			return r.steps, true
		}
	}
	return nil, false
}

func (s *Script) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return fmt.Sprintf("call_%d", s.calls)
}

// fault is an error of the script's user: the request is not the one that the script was written for.
func (p *play) fault(format string, args ...any) error {
	at := p.name
	if p.line > 0 {
		at = fmt.Sprintf("%s:%d", p.name, p.line)
	}
	return &provider.Error{Kind: provider.BadRequest, URL: at, Message: fmt.Sprintf(format, args...)}
}

// expect checks what came after the last reply, or for expect-any the whole request.
func (p *play) expect(word, text string) error {
	got, not := texts(newest(p.req.Messages)), ""
	switch word {
	case "expect-any":
		got = p.req.System + "\n" + texts(p.req.Messages)
		for _, t := range p.req.Tools {
			got += "\n" + t.Name
		}
	case "reject":
		not = "not "
	}
	if strings.Contains(got, text) == (word == "reject") {
		return p.fault("the request must %shold %q; it ends with %q", not, text, clip(got))
	}
	return nil
}

// newest is all that came after the last reply.
func newest(messages []msg.Message) []msg.Message {
	for i, m := range slices.Backward(messages) {
		if _, reply := m.(*msg.Assistant); reply {
			return messages[i+1:]
		}
	}
	return messages
}

// texts is what messages say.
func texts(messages []msg.Message) string {
	var out []string
	for _, m := range messages {
		out = append(out, provider.Says(m))
	}
	return strings.Join(out, "\n")
}

func clip(s string) string {
	if len(s) > 200 {
		return "…" + strings.ToValidUTF8(s[len(s)-200:], "")
	}
	return s
}
