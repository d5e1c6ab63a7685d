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
	// W is where lines go. Errors of writing are ignored: nobody reads.
	W io.Writer
	// Verbose shows thinking, usage and the context too.
	Verbose bool
	// Stream shows the model's text as it comes; without, only what is around it.
	Stream bool

	mid string // the kind of text that W's line is in the middle of: "", "text", "thinking"
}

// Event draws e.
func (l *Lines) Event(e event.Event) { l.draw(e, "") }

func (l *Lines) draw(e event.Event, indent string) {
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
		l.say(indent, "context %s: %d tokens, now %d", strings.ReplaceAll(e.Kind, "_", " "), e.Before, e.After)
	case event.Notice:
		l.say(indent, "notice: %s", e.Message)
	case event.Check:
		l.check(indent, e)
	case event.SubAgent:
		l.draw(e.Event, indent+"["+e.Agent+"] ")
	case event.TurnEnd:
		l.end(indent, e)
	default:
		l.extra(indent, e)
	}
}

// extra draws what only Verbose shows.
func (l *Lines) extra(indent string, e event.Event) {
	if !l.Verbose {
		return
	}
	switch e := e.(type) {
	case event.Start:
		l.say(indent, "session %s, model %s, directory %s, anchor %s", e.Session, e.Model, e.Directory, e.Version)
	case event.Context:
		l.say(indent, "context: %d of %d tokens", e.Used, e.Window)
	case event.Usage:
		l.say(indent, "usage: %d in (%d cached), %d out", e.Input, e.Cached, e.Output)
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

func (l *Lines) end(indent string, e event.TurnEnd) {
	switch {
	case e.Reason == event.Completed:
		l.fresh()
	case e.Detail != nil:
		l.say(indent, "%s: %s", strings.ReplaceAll(e.Reason, "_", " "), *e.Detail)
	default:
		l.say(indent, "%s", strings.ReplaceAll(e.Reason, "_", " "))
	}
}

// piece goes on with streamed text of a kind.
func (l *Lines) piece(kind, text string) {
	if l.mid != kind {
		l.fresh()
	}
	fmt.Fprint(l.W, Visible(text))
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
	text := Visible(fmt.Sprintf(format, args...))
	fmt.Fprintln(l.W, indent+strings.ReplaceAll(text, "\n", "\n"+indent))
}
