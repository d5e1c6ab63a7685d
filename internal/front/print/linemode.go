package print

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

// LineMode is a session by plain lines, where no terminal front can run. It is a gate.Approver and a tool.Asker. Use
// NewLineMode.
type LineMode struct {
	lines  chan string
	asking sync.Mutex // one question at a time
	calm   time.Duration
	mu     sync.Mutex // held while out is written
	out    *Lines
}

// NewLineMode reads from in and draws on out. The reading goroutine lives until in ends or the process does. With typed, in is a
// keyboard: lines that came before a question was asked (the rest of a paste) do not answer it, and are dropped.
func NewLineMode(in io.Reader, out io.Writer, verbose, typed bool) *LineMode {
	m := &LineMode{calm: 200 * time.Millisecond, out: &Lines{W: out, Verbose: verbose, Stream: true}, lines: make(chan string)}
	if !typed {
		m.calm = 0
	}
	go func() {
		defer close(m.lines)
		s := bufio.NewScanner(in)
		s.Buffer(nil, 16<<20)
		for s.Scan() {
			m.lines <- s.Text()
		}
	}()
	return m
}

// Event draws an event; it is a Sink.
func (m *LineMode) Event(e event.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.out.Event(e)
}

// Run takes the first message, then one a line, and runs a turn for each until the input ends, /exit, or ctx does (its
// cause).
func (m *LineMode) Run(ctx context.Context, first string, turn func(ctx context.Context, text string)) error {
	for text := first; text != "/exit"; {
		if strings.TrimSpace(text) != "" {
			turn(ctx, text)
		}
		var err error
		if text, err = m.ask(ctx, "", "> "); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// ask shows a text and returns the next line; io.EOF if there is none.
func (m *LineMode) ask(ctx context.Context, text, prompt string) (string, error) {
	m.asking.Lock()
	defer m.asking.Unlock()
	if text != "" { // a question, not the prompt for the next message
		m.drain(ctx)
	}
	m.mu.Lock()
	m.out.fresh()
	fmt.Fprint(m.out.W, visible(text+prompt))
	m.mu.Unlock()
	select {
	case s, ok := <-m.lines:
		if !ok {
			return "", io.EOF
		}
		return s, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// drain drops the lines that came before a question, until none comes for a moment.
func (m *LineMode) drain(ctx context.Context) {
	for m.calm > 0 {
		select {
		case line, ok := <-m.lines:
			if !ok {
				return
			}
			m.Event(event.Notice{Message: "not taken as an answer, for it came before the question: " + line})
		case <-time.After(m.calm):
			return
		case <-ctx.Done():
			return
		}
	}
}

// Approve shows the action whole and takes y, a (always) or anything else for no; text after "n " is the reason.
func (m *LineMode) Approve(ctx context.Context, r gate.Request) (gate.Answer, error) {
	prompt := "allow? [y]es, [n]o: "
	if r.Always != "" {
		prompt = "allow? [y]es, [n]o, [a]lways (" + r.Always + "): "
	}
	s, err := m.ask(ctx, strings.TrimRight(r.Title+"\n"+r.Detail, "\n")+"\n", prompt)
	word, reason, _ := strings.Cut(strings.TrimSpace(s), " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		return gate.Answer{Yes: true}, err
	case "a", "always":
		return gate.Answer{Yes: r.Always != "", Always: r.Always != ""}, err
	}
	return gate.Answer{Reason: strings.TrimSpace(reason)}, err
}

// Ask shows the options with numbers and takes a number, an option, or other text where that is allowed.
func (m *LineMode) Ask(ctx context.Context, q tool.Question) (string, bool, error) {
	text := q.Text + "\n"
	for i, o := range q.Options {
		text += fmt.Sprintf("  %d. %s\n", i+1, o)
	}
	s, err := m.ask(ctx, text, "answer (empty dismisses): ")
	s = strings.TrimSpace(s)
	if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1], true, nil
	}
	return s, slices.Contains(q.Options, s) || s != "" && q.AllowOther, err
}
