package repl

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"anchor/internal/event"
)

// style writes the few looks that are used, in the terminal's own 16 colours, which suit a light and a dark background. off writes
// none of them.
type style struct{ off bool }

func (s style) sgr(code, text string) string {
	if s.off || text == "" {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = "\x1b[" + code + "m" + l + "\x1b[m"
		}
	}
	return strings.Join(lines, "\n")
}

func (s style) bold(text string) string   { return s.sgr("1", text) }
func (s style) dim(text string) string    { return s.sgr("2", text) }
func (s style) italic(text string) string { return s.sgr("3", text) }
func (s style) red(text string) string    { return s.sgr("31", text) }
func (s style) green(text string) string  { return s.sgr("32", text) }
func (s style) yellow(text string) string { return s.sgr("33", text) }
func (s style) cyan(text string) string   { return s.sgr("36", text) }

// clean makes foreign text fit to be shown: nothing in it moves the cursor, colours, hides or turns the writing round. Tabs become
// blanks, since their width depends on where they stand.
func clean(text string) string {
	return strings.ReplaceAll(event.Visible(strings.ReplaceAll(text, "\r\n", "\n")), "\t", "    ")
}

// wrap breaks lines at words to the width, the first behind first and the others behind rest.
func wrap(text string, width int, first, rest string) string {
	room := width - max(ansi.StringWidth(first), ansi.StringWidth(rest))
	return indent(ansi.Wrap(text, max(8, room), ""), first, rest)
}

// hang wraps each line by itself.
func hang(text string, width int, first, rest string) string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		out = append(out, wrap(line, width, first, rest))
	}
	return strings.Join(out, "\n")
}

// indent puts first before the first line and rest before the others.
func indent(text, first, rest string) string {
	return first + strings.ReplaceAll(text, "\n", "\n"+rest)
}

// clip is the first line of a text, cut to the width with an ellipsis.
func clip(text string, width int) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if rest != "" {
		line += " …"
	}
	return ansi.Truncate(line, max(1, width), "…")
}

// last is the last n lines of a text.
func last(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-max(n, 0)):], "\n")
}
