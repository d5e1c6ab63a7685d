package repl

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// View draws what is not finished: the end of the model's text, the dialog or the input, the status line. It stays shorter than the
// screen.
func (m *model) View() tea.View {
	if m.leaving || m.away || m.width == 0 {
		return tea.NewView("")
	}
	var below []string
	var cursor *tea.Cursor
	room := max(1, min(m.height/2, m.tallest()-1))
	if len(m.dialogs) > 0 {
		below = strings.Split(m.dialogs[0].view(m.printer.style, m.width, room), "\n")
	} else {
		below, cursor = m.writing(room)
	}
	below = append(below, m.status())
	agents := m.running(max(0, m.tallest()-len(below)))
	above := append(m.unfinished(m.tallest()-len(below)-len(agents)), agents...)
	if cursor != nil {
		cursor.Position.Y += len(above)
	}
	v := tea.NewView(strings.Join(append(above, below...), "\n"))
	v.Cursor = cursor
	return v
}

// unfinished is the end of the text that still comes, at most n lines of it.
func (m *model) unfinished(n int) []string {
	tail, fence := m.printer.tail.text, ""
	if len(tail) > 16<<10 {
		tail = tail[len(tail)-16<<10:] // of a long block only the end is drawn before it is finished
		if m.printer.tail.fence != "" {
			fence = m.printer.tail.fence + "\n"
		}
	}
	if n < 1 || len(bytes.TrimSpace(tail)) == 0 {
		return nil
	}
	text := renderMarkdown(m.printer.style, clean(strings.Trim(strings.ToValidUTF8(fence+string(tail), ""), "\n")), m.width)
	return append([]string{""}, strings.Split(last(text, n-1), "\n")...)
}

const prompt = "> "

func (m *model) inputWidth() int { return max(4, m.width-len(prompt)-1) }

// writing is the input with its menu, and where the cursor stands.
func (m *model) writing(room int) ([]string, *tea.Cursor) {
	menu := m.menu(min(6, room-1))
	rows, at := m.input.view(m.inputWidth(), max(1, room-len(menu)))
	for i := range rows {
		rows[i] = map[bool]string{true: m.printer.style.cyan(prompt), false: "  "}[i == 0] + rows[i]
	}
	return append(rows, menu...), tea.NewCursor(at.x+len(prompt), at.y)
}

// menu is the completion menu, at most n rows around the chosen one.
func (m *model) menu(n int) (out []string) {
	rows := m.input.menu
	from := max(0, min(m.input.chosen-n/2, len(rows)-n))
	for i := from; i < min(len(rows), from+n); i++ {
		text := clip(fmt.Sprintf("%-14s %s", clean(rows[i].text), rows[i].help), m.width-3)
		if i == m.input.chosen {
			out = append(out, m.printer.style.cyan("  "+text))
		} else {
			out = append(out, m.printer.style.dim("  "+text))
		}
	}
	return out
}

// running is a row for each sub-agent with its step, at most n.
func (m *model) running(n int) (out []string) {
	for _, id := range slices.Sorted(maps.Keys(m.printer.agents)) {
		out = append(out, m.printer.style.dim("  "+clip(clean(id)+": "+m.printer.agents[id], m.width-2)))
	}
	return out[:min(len(out), n)]
}

// status is the last line: what runs, or a hint, then what is known of the session, as much as fits.
func (m *model) status() string {
	var parts []string
	add := func(ok bool, format string, args ...any) {
		if ok {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(m.cancel != nil, "%c %s", []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[m.frame%10], time.Since(m.began).Truncate(time.Second))
	add(len(m.printer.agents) == 1, "1 agent")
	add(len(m.printer.agents) > 1, "%d agents", len(m.printer.agents))
	add(len(m.waiting) > 0, "%d waiting", len(m.waiting))
	add(m.hint != "", "%s", m.hint)
	add(m.used.Window > 0, "%d%% context", 100*m.used.Used/max(m.used.Window, 1))
	line := ""
	for _, p := range append(parts, m.o.Status()...) {
		if next := strings.TrimPrefix(line+" · "+clean(p), " · "); line == "" || ansi.StringWidth(next) < m.width {
			line = next
		}
	}
	return m.printer.style.dim(clip(line, m.width-1))
}
