package session

import (
	"fmt"
	"io"
	"strings"

	"anchor/internal/event"
)

// Markdown writes a session for reading in a terminal or a pager: what was said as it is, the rest as blocks of code.
func Markdown(w io.Writer, p *Past) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Session %s\n\n%s, %s, %s\n", p.Meta.ID, p.Meta.Dir, p.Meta.Model, p.Meta.Time.Format("2006-01-02 15:04"))
	for _, i := range items(p) {
		for _, l := range i.Lines {
			i.Text += l.Text + "\n"
		}
		switch i.Class {
		case "line":
			fmt.Fprintf(&b, "\n*%s.*\n", i.Title)
			continue
		case "user", "assistant", "note":
		default:
			i.Text = "    " + strings.ReplaceAll(i.Text, "\n", "\n    ")
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", i.Title, strings.TrimRight(i.Text, "\n "))
	}
	_, err := io.WriteString(w, event.Visible(b.String()))
	return err
}
