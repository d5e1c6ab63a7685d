package agent

import (
	"cmp"
	"fmt"
	"strings"

	"anchor/internal/msg"
)

// The fill of the window is the provider's own count of the last request, plus an estimate of what came after it. The
// estimate is one token for four bytes, corrected by how far it was off for what the provider counted.

const (
	imageTokens   = 1500    // a large picture
	assumedWindow = 128_000 // of a model that nothing is known of
)

// entry is one message of the context.
type entry struct {
	m       msg.Message
	seq     int  // its number in the log, 0 if it is not there
	trimmed bool // m is the stub of a result that was trimmed
	size    int  // estimated tokens
}

func newEntry(m msg.Message, seq int) entry { return entry{m: m, seq: seq, size: size(m)} }

// stub returns the entry of a tool result with its text replaced by what it was; the call itself stands before it. It depends
// on the log alone, so that a resumed session sends the same.
func (e entry) stub() entry {
	m, ok := e.m.(*msg.Tool)
	if !ok || e.trimmed {
		return e
	}
	text := fmt.Sprintf("[The result of this %s call was removed to save context: %d characters. Call it again if you need it.]", m.Name, len(m.Text))
	short := &msg.Tool{CallID: m.CallID, Name: m.Name, OK: m.OK, Text: text}
	return entry{m: short, seq: e.seq, trimmed: true, size: size(short)}
}

// content returns the text and the number of images of a message that is no reply.
func content(m msg.Message) (text string, images int) {
	switch m := m.(type) {
	case *msg.User:
		return m.Text, len(m.Images)
	case *msg.Tool:
		return m.Text, len(m.Images)
	case *msg.Summary:
		return m.Text, 0
	case *msg.Note:
		return m.Text, 0
	}
	return "", 0
}

// says is whether there is anything in a message that is no reply.
func says(m msg.Message) bool {
	text, images := content(m)
	return images > 0 || !blank(text)
}

// size estimates the tokens of a message.
func size(m msg.Message) int {
	text, images := content(m)
	n := 24 + len(text)
	if reply, ok := m.(*msg.Assistant); ok {
		for _, b := range reply.Blocks {
			switch b := b.(type) {
			case msg.Text:
				n += len(b.Text)
			case msg.Thinking:
				n += len(b.Text) + len(b.Signature) + len(b.Redacted)
			case msg.Call:
				n += 40 + len(b.Name) + len(b.Args) + len(b.Bad)
			}
		}
	}
	return n/4 + images*imageTokens
}

func sizes(list []entry) int {
	n := 0
	for _, e := range list {
		n += e.size
	}
	return n
}

// gauge knows the window and what was last counted in it.
type gauge struct {
	window int
	base   int // tokens as counted, the reply included
	mark   int // the estimate of the same
}

// rate is how many tokens an estimated one is. Servers that count nonsense are not believed beyond reason.
func (g *gauge) rate() float64 {
	if g.mark <= 0 || g.base <= 0 {
		return 1
	}
	return min(max(float64(g.base)/float64(g.mark), 0.5), 8)
}

func (g *gauge) counted(tokens, estimate int) { g.base, g.mark = tokens, estimate }

// tokens calibrates an estimate; bytes is how much text a number of tokens holds.
func (g *gauge) tokens(estimate int) int { return int(float64(estimate) * g.rate()) }
func (g *gauge) bytes(tokens int) int    { return int(float64(tokens) * 4 / g.rate()) }

// estimate is that of the next request, used its fill in tokens.
func (a *Agent) estimate() int { return a.fixed + sizes(a.list) }
func (a *Agent) used() int     { return max(a.base+a.tokens(a.estimate()-a.mark), 0) }

// limit is the fill from which the context is reduced: the share of the window that was asked for, with a tenth of the
// window kept for the reply.
func (a *Agent) limit() int {
	w := float64(a.window)
	return int(w * min(cmp.Or(a.o.CompactAt, 0.8), 1-min(float64(a.model.Info.MaxOutput)/w, 0.1)))
}

// maxTokens bounds the reply where the model's own bound would not fit behind the prompt; 0 where it does.
func (a *Agent) maxTokens() int {
	most, left := a.model.Info.MaxOutput, a.window-a.used()
	if left >= most {
		return 0
	}
	return min(max(left-a.window/50, 1024), most)
}

// overflowed learns from a server that refused the context as too long. named is the window that it named, or 0.
func (a *Agent) overflowed(named int) {
	estimate := a.estimate()
	if named < 1000 {
		named = max(a.used(), estimate)
	}
	a.window = min(a.window, named)
	if a.used() <= a.window {
		a.counted(a.window*21/20, estimate)
	}
}

// shorten keeps the first and the last part of a text that is over limit bytes, with a line between that says so.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := strings.ToValidUTF8(text[:limit*2/3], ""), strings.ToValidUTF8(text[len(text)-limit/3:], "")
	return fmt.Sprintf("%s\n[… %d characters left out: too much for the context window. Ask for less at a time.]\n%s", head, len(text)-len(head)-len(tail), tail)
}
