// Package print is the plain face: events as lines of text, for -p (on standard error, the answer alone on standard output)
// and for a line mode that needs no abilities of a terminal. It writes no escape codes.
package print

import (
	"fmt"
	"io"
	"strings"

	"anchor/internal/event"
)

// Lines draws events as lines. Use it behind event.Serial.
type Lines struct {
	W       io.Writer // errors of writing are ignored: nobody reads
	Verbose bool      // show thinking, usage and the context too
	Stream  bool      // show the model's text as it comes; without, only what is around it

	mid string // the kind of text that W's line is in the middle of: "", "text", "thinking"
}

// Event draws e.
func (l *Lines) Event(e event.Event) { l.draw(e, "") }

func (l *Lines) draw(e event.Event, indent string) {
	words := func(s string) string { return strings.ReplaceAll(s, "_", " ") }
	switch e := e.(type) {
	case event.Text:
		if l.Stream && indent == "" {
			l.piece("text", e.Text)
		}
	case event.Thinking:
		if l.Verbose && indent == "" {
			l.piece("thinking", e.Text)
		}
	case event.ToolStart:
		l.say(indent, "> %s %s", e.Name, line(e.Summary, 200))
	case event.ToolEnd:
		if !e.OK {
			l.say(indent, "  %s", line(e.Result, 300))
		}
	case event.Diff:
		l.say(indent+"  ", "%s\n%s", e.Path, strings.TrimRight(e.Diff, "\n"))
	case event.FileChanged:
		l.say(indent, "  wrote %s (+%d -%d)", e.Path, e.Added, e.Removed)
	case event.LoopWarning:
		l.say(indent, "loop guard: %s", e.Message)
	case event.Compacting:
		l.say(indent, "summarizing older turns (%d tokens) …", e.Before)
	case event.ContextReduced:
		l.say(indent, "context %s: %d tokens, now %d", words(e.Kind), e.Before, e.After)
	case event.Notice:
		l.say(indent, "notice: %s", e.Message)
	case event.Check:
		l.check(indent, e)
	case event.SubAgent:
		l.draw(e.Event, indent+"["+e.Agent+"] ")
	case event.TurnEnd:
		l.fresh()
		if e.Detail != nil {
			l.say(indent, "%s: %s", words(e.Reason), *e.Detail)
		} else if e.Reason != event.Completed {
			l.say(indent, "%s", words(e.Reason))
		}
	case event.Start:
		l.more(indent, "session %s, model %s, directory %s, %s", e.Session, e.Model, e.Directory, e.Version)
	case event.Context:
		l.more(indent, "context: %d of %d tokens", e.Used, e.Window)
	case event.Usage:
		l.more(indent, "usage: %d in (%d cached), %d out", e.Input, e.Cached, e.Output)
	}
}

func (l *Lines) check(indent string, e event.Check) {
	outcome := map[bool]string{true: "passed", false: "failed"}[e.Passed]
	l.say(indent, "check %d %s: %s", e.Round, outcome, line(e.Command, 200))
	if lines := strings.Split(strings.TrimRight(e.Output, "\n"), "\n"); e.Output != "" {
		l.say(indent+"  ", "%s", strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
	switch e.Outcome {
	case "no_changes":
		l.say(indent, "nothing changed since the last check: stopped")
	case "out_of_rounds":
		l.say(indent, "all check rounds are used up: stopped")
	}
}

// piece goes on with streamed text of a kind.
func (l *Lines) piece(kind, text string) {
	if l.mid != kind {
		l.fresh()
	}
	fmt.Fprint(l.W, visible(text))
	if l.mid = kind; strings.HasSuffix(text, "\n") {
		l.mid = ""
	}
}

// fresh ends the line that streamed text is in the middle of.
func (l *Lines) fresh() {
	if l.mid != "" {
		fmt.Fprintln(l.W)
		l.mid = ""
	}
}

// say writes whole lines, each behind the indent.
func (l *Lines) say(indent, format string, args ...any) {
	l.fresh()
	fmt.Fprintln(l.W, indent+strings.ReplaceAll(visible(fmt.Sprintf(format, args...)), "\n", "\n"+indent))
}

// more says what only Verbose shows.
func (l *Lines) more(indent, format string, args ...any) {
	if l.Verbose {
		l.say(indent, format, args...)
	}
}

func visible(s string) string { return event.Visible(strings.ReplaceAll(s, "\r\n", "\n")) }

// line returns the first line of a text, at most n characters.
func line(s string, n int) string {
	s, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	if rest != "" {
		return s + " …"
	}
	return s
}
