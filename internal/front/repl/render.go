package repl

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"anchor/internal/event"
)

// printer makes lines of events. out holds the lines to be printed; tail is the end of the model's text that is not finished yet.
type printer struct {
	style   style
	width   int
	verbose bool

	out      []string
	tail     growing // Markdown
	spoke    bool    // the model's text was printed last
	thinking string
	asked    string               // the diff that an approval showed last: the write shows it no second time
	agents   map[string]string    // those that run, with their step
	began    map[string]time.Time // the calls that run
}

func (p *printer) say(text string) { p.out = append(p.out, strings.Split(text, "\n")...) }

// line prints foreign text behind a mark, wrapped.
func (p *printer) line(mark string, look func(string) string, format string, args ...any) {
	blank := strings.Repeat(" ", ansi.StringWidth(mark))
	p.say(wrap(look(clean(fmt.Sprintf(format, args...))), p.width, mark, blank))
}

// event prints an event of the main agent.
func (p *printer) event(e event.Event) {
	switch e := e.(type) {
	case event.Text:
		p.finishThinking()
		done := p.tail.add(e.Text)
		p.markdown(done)
		return
	case event.Thinking:
		p.thinking += e.Text
		return
	case event.Context: // a model request ended
		p.flush()
		return
	case event.Usage, event.Start, event.Ready:
		return
	}
	p.flush()
	p.tool("", e)
}

// tool prints what is told in whole lines; of a sub-agent behind its id.
func (p *printer) tool(who string, e event.Event) {
	s := p.style
	words := func(s string) string { return strings.ReplaceAll(s, "_", " ") }
	switch e := e.(type) {
	case event.ToolStart:
		if p.spoke {
			p.say("") // between text and what is done
		}
		p.spoke = false
		p.began[who+e.ID] = time.Now()
		p.say(s.cyan("● ") + who + clip(step(e), p.width-2-ansi.StringWidth(who)))
	case event.ToolEnd:
		p.outcome(who, e)
	case event.Diff:
		if who == "" && strings.Trim(clean(e.Diff), "\n") != p.asked {
			p.say("  " + s.bold(clip(clean(e.Path), p.width-2)) + "\n" + colouredDiff(s, clean(e.Diff), p.width))
		}
		p.asked = ""
	case event.LoopWarning:
		p.line("! ", s.yellow, "%sloop guard: %s", who, e.Message)
	case event.Compacting:
		p.line("… ", s.dim, "%ssummarizing older turns (%d tokens)", who, e.Before)
	case event.ContextReduced:
		p.line("… ", s.dim, "%scontext %s: %d tokens, now %d", who, words(e.Kind), e.Before, e.After)
	case event.Notice:
		p.line("! ", s.yellow, "%s%s", who, e.Message)
	case event.Error:
		p.line("! ", s.red, "%s%s", who, e.Message)
	case event.Check:
		p.check(e)
	case event.SubAgent:
		p.subAgent(e)
	case event.TurnEnd:
		p.end(who, e)
	}
}

// step is what a call does, in a line.
func step(e event.ToolStart) string {
	return clean(strings.TrimSpace(strings.ReplaceAll(e.Name, "_", " ") + " " + e.Summary))
}

// outcome is the line of a finished call: its first line of output, dim, or red where it failed, and the time if it took long.
func (p *printer) outcome(who string, e event.ToolEnd) {
	look, took := p.style.red, ""
	if e.OK {
		look = p.style.dim
	}
	if t := time.Since(p.began[who+e.ID]).Truncate(time.Second); t > 0 {
		took = "(" + t.String() + ") "
	}
	delete(p.began, who+e.ID)
	if text := took + clean(e.Result); text != "" || !e.OK {
		p.say(look("  └ " + who + clip(text, p.width-4-ansi.StringWidth(who))))
	}
}

// result is what a command gave and what went wrong with it.
func (p *printer) result(shown string, err error) string {
	if err != nil {
		shown += "\n" + wrap(p.style.red(clean(err.Error())), p.width, "! ", "  ")
	}
	return strings.Trim(shown, "\n")
}

func (p *printer) check(e event.Check) {
	look, outcome := p.style.red, "failed"
	if e.Passed {
		look, outcome = p.style.green, "passed"
	}
	p.line("● ", look, "check %d %s: %s", e.Round, outcome, e.Command)
	if e.Output != "" && !e.Passed {
		p.line("  ", p.style.dim, "%s", last(strings.TrimRight(e.Output, "\n"), 15))
	}
	switch e.Outcome {
	case "no_changes":
		p.line("  ", look, "nothing changed since the last check: stopped")
	case "out_of_rounds":
		p.line("  ", look, "all check rounds are used up: stopped")
	}
}

// subAgent prints what a sub-agent does, without its text, and keeps its step.
func (p *printer) subAgent(e event.SubAgent) {
	who := "[" + clean(e.Agent) + "] "
	switch inner := e.Event.(type) {
	case event.Text, event.Thinking, event.Usage, event.Context:
		p.agents[e.Agent] = cmp.Or(p.agents[e.Agent], "thinking")
	case event.TurnEnd:
		delete(p.agents, e.Agent)
		p.line("● ", p.style.cyan, "%s%s", who, strings.ReplaceAll(inner.Reason, "_", " "))
	default:
		if call, ok := inner.(event.ToolStart); ok {
			p.agents[e.Agent] = step(call)
		}
		p.tool(who, inner)
	}
}

// end prints how a turn ended, where that is not a matter of course.
func (p *printer) end(who string, e event.TurnEnd) {
	look := p.style.yellow
	if e.Reason == event.Failed {
		look = p.style.red
	}
	switch reason := strings.ReplaceAll(e.Reason, "_", " "); {
	case e.Detail != nil:
		p.line("■ ", look, "%s%s: %s", who, reason, *e.Detail)
	case e.Reason != event.Completed:
		p.line("■ ", look, "%s%s", who, reason)
	}
}

// flush finishes the text that is in the making.
func (p *printer) flush() {
	p.finishThinking()
	p.markdown(p.tail.take())
}

func (p *printer) finishThinking() {
	if text := strings.TrimSpace(p.thinking); text != "" && p.verbose {
		p.line("  ", p.style.dim, "%s", text)
	}
	p.thinking = ""
}

func (p *printer) markdown(text string) {
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) != "" {
		p.spoke = true
		p.say("\n" + renderMarkdown(p.style, clean(text), p.width))
	}
}

// colouredDiff draws the hunks of a unified diff, each line behind its number: the old one of what is taken out, else the new one. Lines
// longer than the width are wrapped, none is left out. What is no diff, a command, has no numbers.
func colouredDiff(s style, unified string, width int) string {
	var out []string
	hunks := strings.Contains("\n"+unified, "\n@@ ")
	was, now, removed, added := 0, 0, 0, 0
	for l := range strings.SplitSeq(strings.Trim(unified, "\n"), "\n") {
		look, number := func(t string) string { return t }, 0
		switch inside := hunks && was+now > 0; {
		case hunks && strings.HasPrefix(l, "@@"):
			_, _ = fmt.Sscanf(strings.ReplaceAll(l, ",", " "), "@@ -%d", &was)
			_, _ = fmt.Sscanf(l[strings.Index(l, "+")+1:], "%d", &now)
			look = s.cyan
		case inside && strings.HasPrefix(l, "-"):
			look, number, was, removed = s.red, was, was+1, removed+1
		case inside && strings.HasPrefix(l, "+"):
			look, number, now, added = s.green, now, now+1, added+1
		case inside && strings.HasPrefix(l, " "):
			number, was, now = now, was+1, now+1
		}
		out = append(out, numbered(s, number, strings.Split(ansi.Hardwrap(l, max(8, width-6), true), "\n"), look)...)
	}
	if added+removed > 0 {
		out = append(out, s.dim(fmt.Sprintf("     +%d -%d", added, removed)))
	}
	return strings.Join(out, "\n")
}

// numbered puts a number, if it is one, before the first of the parts of a line.
func numbered(s style, number int, parts []string, look func(string) string) (out []string) {
	gutter := "     "
	if number > 0 {
		gutter = s.dim(fmt.Sprintf("%4d ", number))
	}
	for _, part := range parts {
		out = append(out, gutter+look(part))
		gutter = "     "
	}
	return out
}
