// Package script is a model that reads its replies from a file. It drives the demo, the tests of the loop, and users' own tests
// of their skills and rules: no key, no network, the same every time.
//
// A script is a list of replies, each for one model request, in order; docs/scripts.md tells all words. A request that the script does
// not expect fails with the line that it breaks.
package script

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"anchor/internal/msg"
	"anchor/internal/provider"
)

// Script is a [provider.Provider] for all agents of a run at once.
type Script struct {
	name    string
	mu      sync.Mutex // guards what is used of the replies
	replies []*reply
	calls   atomic.Int64
}

type reply struct {
	line        int
	key         string // it is for agents whose task holds it; the empty key is for all others
	times, used int
	steps       []step
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
func (s *Script) Stream(ctx context.Context, req provider.Request, show func(provider.Chunk)) (provider.Done, error) {
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
}

// Unused tells which replies were never asked for, one line each; empty if all were used.
func (s *Script) Unused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.replies {
		if r.used == 0 || r.used < r.times && r.times < math.MaxInt {
			out = append(out, fmt.Sprintf("%s:%d: this reply was not used", s.name, r.line))
		}
	}
	return out
}

// take finds the next reply to a conversation.
func (s *Script) take(messages []msg.Message) (steps []step, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	task, key := "", ""
	for _, m := range slices.Backward(messages) {
		if u, ok := m.(*msg.User); ok {
			task = u.Text // the first in the end
		}
	}
	for _, r := range s.replies {
		if key == "" && strings.Contains(task, r.key) {
			key = r.key
		}
	}
	for _, r := range s.replies {
		if r.key == key && r.used < r.times {
			r.used++
			return r.steps, true
		}
	}
	return nil, false
}

func (s *Script) id() string { return fmt.Sprintf("call_%d", s.calls.Add(1)) }

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
		text, _ := provider.Says(m)
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func clip(s string) string {
	if len(s) > 200 {
		return "…" + strings.ToValidUTF8(s[len(s)-200:], "")
	}
	return s
}
