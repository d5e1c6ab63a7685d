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

// wrap breaks lines at words to the width, the first behind first and the others behind rest, which are as wide.
func wrap(text string, width int, first, rest string) string {
	lines := strings.Split(ansi.Wrap(text, max(8, width-ansi.StringWidth(first)), ""), "\n")
	for i := range lines {
		lines[i] = map[bool]string{true: first, false: rest}[i == 0] + lines[i]
	}
	return strings.Join(lines, "\n")
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
