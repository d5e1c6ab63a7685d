package agent

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anchor/internal/event"
	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/session"
)

// The fill of the window is the provider's own count of the last request, plus an estimate of what came after it: one token
// for four bytes, corrected by how far that was off for what the provider counted.

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

// stub replaces the text of a tool result by what it was. It depends on the log alone, so that a resumed session sends the same.
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
		text, images = m.Text, len(m.Images)
	case *msg.Tool:
		text, images = m.Text, len(m.Images)
	case *msg.Summary:
		text = m.Text
	case *msg.Note:
		text = m.Text
	}
	return text, images
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

// limit is the fill from which the context is reduced. A tenth of the window is kept for the reply.
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

// Near the limit, or when a server says that the context is too long, it is reduced, in this order until it is enough:
//
//   - trimmed: large old tool results become stubs that say what they were. The newest round and earlier ones up to half the
//     window stay, but for single results well over a quarter of the window (which are from a time when it was thought larger).
//   - compacted: the model summarizes the older rounds. The user's first and latest message stay word for word, the others
//     newest first as far as a tenth of the window goes; the newest rounds stay.
//   - rounds_dropped: the oldest rounds go, until the fill is a quarter below the limit.
//
// A kind that would gain less than a tenth is not used. A cut is only made before a reply, so that no call loses its result.
// Each reduction is logged as the list of the messages that stay; a summary is logged before it, so that a crash between the two
// loses neither.

const (
	maxSummaries = 2   // requests in a turn
	smallResult  = 250 // estimated tokens: not worth trimming
)

//go:embed summary.md
var summaryPrompt string

var errNothing = errors.New("there is nothing to summarize yet")

// reduce reduces the context until it is under its limit or nothing is left to reduce. Its error is ctx's.
func (a *Agent) reduce(ctx context.Context) error {
	a.trim()
	if a.used() > a.limit() && a.summaries < maxSummaries {
		err := a.compact(ctx, "", a.window/5)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, errNothing) {
			a.notice("summarizing the conversation failed: " + oneLine(err.Error(), maxDetail))
		}
	}
	if a.used() > a.limit() {
		a.drop()
	}
	return nil
}

// apply takes on a reduced list if that gains enough, tells and logs it.
func (a *Agent) apply(kind string, list []entry, count int) {
	before, estimate := a.used(), a.estimate()
	reduced := a.fixed + sizes(list)
	if reduced > estimate*9/10 {
		return
	}
	after := int(float64(before) * float64(reduced) / float64(estimate))
	a.list = list
	a.counted(after, reduced)
	r := session.Reduced{Kind: kind, Before: before, After: after, Count: count}
	for _, e := range list {
		if e.seq > 0 {
			r.Keep = append(r.Keep, e.seq)
		}
		if e.seq > 0 && e.trimmed {
			r.Trimmed = append(r.Trimmed, e.seq)
		}
	}
	if a.o.id == "" {
		a.record(r)
	}
	a.emit(event.ContextReduced{Kind: kind, Before: before, After: after, Count: count})
}

// trim replaces large results by stubs.
func (a *Agent) trim() {
	old, giant := a.tail(a.window/2), a.window*3/10
	list, count := slices.Clone(a.list), 0
	for i, e := range list {
		_, result := e.m.(*msg.Tool)
		if result && !e.trimmed && (i < old && e.size > smallResult || a.tokens(e.size) > giant) {
			list[i] = e.stub()
			count++
		}
	}
	a.apply(event.Trimmed, list, count)
}

// tail returns where the newest rounds start that hold at most this many tokens; the newest one always belongs to them.
func (a *Agent) tail(tokens int) int {
	sum, from := 0, len(a.list)
	for i, e := range slices.Backward(a.list) {
		if sum += e.size; isReply(e) {
			if from < len(a.list) && a.tokens(sum) > tokens {
				break
			}
			from = i
		}
	}
	return from
}

// Compact summarizes by hand; focus may be empty. The error says why it did not work. Not while a turn runs.
func (a *Agent) Compact(ctx context.Context, focus string) error {
	a.usage, a.summaries = event.Usage{}, 0
	a.prepare()
	err := a.compact(ctx, focus, 0)
	if a.usage != (event.Usage{}) {
		a.emit(a.usage)
	}
	return err
}

// compact lets the model summarize what is older than the newest rounds, behind the same prefix as ever, which is cached. keep is how
// many tokens of these stay, and at least one does.
func (a *Agent) compact(ctx context.Context, focus string, keep int) error {
	cut := a.tail(keep)
	kept := a.kept(cut, false)
	older := sizes(a.list[:cut]) - sizes(kept)
	if older < a.estimate()/10 {
		return errNothing
	}
	prompt := &msg.Note{Text: summaryPrompt}
	if !blank(focus) {
		prompt.Text += "Pay special attention to: " + strings.TrimSpace(focus)
	}
	r := a.request(append(slices.Clip(a.list[:cut]), newEntry(prompt, 0)))
	r.NoCalls = true
	a.summaries++
	a.emit(event.Compacting{Before: a.used()})
	done, _, err := a.stream(ctx, r, func(event.Event) {})
	if err != nil {
		return err
	}
	summary := &msg.Summary{Text: strings.TrimSpace(done.Reply.Text())}
	switch {
	case !says(summary) || done.Stop == provider.StopRefusal:
		return errors.New("the model refused, or gave an empty summary")
	case done.Stop == provider.StopLength:
		return errors.New("the summary was cut at the output limit")
	case size(summary) > older-a.estimate()/10:
		return errors.New("the summary would save too little")
	}
	list := append(kept, a.logged(summary))
	a.apply(event.Compacted, append(list, a.list[cut:]...), cut-len(kept))
	return nil
}

// kept returns those of the first cut entries that stay as they are: what the user said first and last, the rest of it newest
// first as far as a tenth of the window goes, and earlier summaries if no new one takes them in.
func (a *Agent) kept(cut int, summaries bool) (out []entry) {
	isUser := func(e entry) bool { return msg.Kind(e.m) == "user" }
	first, latest, room := slices.IndexFunc(a.list, isUser), !slices.ContainsFunc(a.list[cut:], isUser), a.window/10
	for i, e := range slices.Backward(a.list[:cut]) {
		switch tokens := a.tokens(e.size); {
		case isUser(e) && (i == first || latest):
			latest = false
		case isUser(e) && tokens <= room:
			room -= tokens
		case summaries && msg.Kind(e.m) == "summary":
		default:
			continue
		}
		out = append(out, e)
	}
	slices.Reverse(out)
	return out
}

// drop leaves out the oldest rounds, as few as bring the fill a quarter below the limit, but never the newest.
func (a *Agent) drop() {
	enough := a.estimate() - int(float64(a.used()-a.limit()*3/4)/a.rate())
	list, newest, rounds := a.list, a.tail(0), -1
	for i, e := range a.list {
		if isReply(e) && i <= newest {
			rounds++
			if list = append(a.kept(i, true), a.list[i:]...); a.fixed+sizes(list) <= enough {
				break
			}
		}
	}
	a.apply(event.RoundsDropped, list, max(rounds, 1))
}
