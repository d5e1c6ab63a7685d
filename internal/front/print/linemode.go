package print

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

// LineMode is a session by plain lines, where no terminal front can run. It is a gate.Approver and a tool.Asker. Use
// NewLineMode.
type LineMode struct {
	out   *Lines
	lines chan string
	mu    sync.Mutex // one question at a time; held while Lines is written
	ask   sync.Mutex
}

// NewLineMode reads from in and draws on out. The reading goroutine lives until in ends or the process does.
func NewLineMode(in io.Reader, out io.Writer, verbose bool) *LineMode {
	m := &LineMode{out: &Lines{W: out, Verbose: verbose, Stream: true}, lines: make(chan string)}
	go func() {
		defer close(m.lines)
		r := bufio.NewReader(in)
		for {
			s, err := r.ReadString('\n')
			if s != "" {
				m.lines <- strings.TrimRight(s, "\r\n")
			}
			if err != nil {
				return
			}
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
	for text := first; ; {
		if text == "/exit" {
			return nil
		}
		if strings.TrimSpace(text) != "" {
			turn(ctx, text)
		}
		var err error
		if text, err = m.read(ctx, "> "); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (m *LineMode) read(ctx context.Context, prompt string) (string, error) {
	m.mu.Lock()
	m.out.fresh()
	fmt.Fprint(m.out.W, prompt)
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

// Approve shows the action whole and takes y, a (always) or anything else for no; text after "n " is the reason.
func (m *LineMode) Approve(ctx context.Context, r gate.Request) (gate.Answer, error) {
	m.ask.Lock()
	defer m.ask.Unlock()
	m.show(r.Title + "\n" + r.Detail)
	prompt := "allow? [y]es, [n]o: "
	if r.Always != "" {
		prompt = fmt.Sprintf("allow? [y]es, [n]o, [a]lways (%s): ", Visible(r.Always))
	}
	s, err := m.read(ctx, prompt)
	if err != nil {
		return gate.Answer{}, err
	}
	word, reason, _ := strings.Cut(strings.TrimSpace(s), " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		return gate.Answer{Yes: true}, nil
	case "a", "always":
		return gate.Answer{Yes: r.Always != "", Always: r.Always != ""}, nil
	}
	return gate.Answer{Reason: strings.TrimSpace(reason)}, nil
}

// Ask shows the options with numbers and takes a number, an option, or other text where that is allowed.
func (m *LineMode) Ask(ctx context.Context, q tool.Question) (string, bool, error) {
	m.ask.Lock()
	defer m.ask.Unlock()
	text := q.Text
	for i, o := range q.Options {
		text += fmt.Sprintf("\n  %d. %s", i+1, o)
	}
	m.show(text)
	s, err := m.read(ctx, "answer (empty dismisses): ")
	if err != nil {
		return "", false, err
	}
	s = strings.TrimSpace(s)
	if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1], true, nil
	}
	for _, o := range q.Options {
		if o == s {
			return o, true, nil
		}
	}
	return s, s != "" && q.AllowOther, nil
}

func (m *LineMode) show(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.out.say("", "%s", strings.TrimRight(text, "\n"))
}
