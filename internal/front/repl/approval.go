package repl

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"anchor/internal/gate"
)

// calm is how long a question must have stood before a key answers it: what is typed on blindly must not.
const calm = 300 * time.Millisecond

// dialog is a question that takes the keys until it is answered.
type dialog interface {
	// shown is what is printed once above; view is what is drawn, at most height lines.
	shown(s style, width int) string
	view(s style, width, height int) string
	// key takes a key and says whether the question is answered by it.
	key(k tea.KeyPressMsg) bool
	// dismiss answers with no.
	dismiss()
}

// approval asks for leave. A paste never answers it.
type approval struct {
	request gate.Request
	answer  chan gate.Answer
	reason  *editor // is typed in, or nil
}

func (a *approval) shown(s style, width int) string {
	out := wrap(s.bold(s.yellow(clean(a.request.Title))), width, "? ", "  ")
	if detail := strings.Trim(clean(a.request.Detail), "\n"); detail != "" && !strings.HasSuffix(a.request.Title, detail) {
		out += "\n" + colouredDiff(s, detail, width)
	}
	return out
}

func (a *approval) view(s style, width, height int) string {
	if a.reason != nil {
		return entry(s.yellow("no, because: "), a.reason, width, height)
	}
	title := clip(clean(a.request.Title), width-7)
	keys := "[y]es  [n]o  [b] no, because …"
	if a.request.Always != "" {
		keys += "  [a]lways: " + clean(a.request.Always)
	}
	return s.yellow("Allow: ") + s.bold(title) + "\n" + last(wrap(keys, width, "  ", "  "), height-1)
}

func (a *approval) key(k tea.KeyPressMsg) bool {
	if a.reason != nil {
		return a.explain(k)
	}
	switch k.String() {
	case "y", "Y":
		a.answer <- gate.Answer{Yes: true}
	case "n", "N":
		a.answer <- gate.Answer{}
	case "a", "A":
		if a.request.Always == "" {
			return false
		}
		a.answer <- gate.Answer{Yes: true, Always: true}
	case "b", "B":
		a.reason = &editor{}
		return false
	default:
		return false
	}
	return true
}

// explain takes a key of the reason for a no.
func (a *approval) explain(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "enter":
		a.answer <- gate.Answer{Reason: strings.TrimSpace(a.reason.text())}
		return true
	case "backspace":
		if a.reason.text() == "" {
			a.reason = nil
			return false
		}
	}
	a.reason.key(k, 1000)
	return false
}

func (a *approval) dismiss() { a.answer <- gate.Answer{} }

// entry draws a line that is typed in a dialog, its cursor as a block.
func entry(label string, e *editor, width, height int) string {
	text := strings.Join(e.cells[:e.at], "") + "█" + strings.Join(e.cells[e.at:], "")
	return last(wrap(label+clean(text), width, "", ""), height)
}
