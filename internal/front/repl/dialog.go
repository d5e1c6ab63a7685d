package repl

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"anchor/internal/gate"
	"anchor/internal/tool"
)

// calm is how long a dialog must have stood, without a key, before one answers it: what is typed on blindly must not.
const calm = 300 * time.Millisecond

// dialog is a question that takes the keys until it is answered. A paste never answers it.
type dialog struct {
	title, diff string // printed above, once
	name        string // in front of the options, which then stand in a line; without it they are a list
	options     []option
	at          int     // the row of the list that is marked
	entry       *editor // what is typed for the last option that was chosen, or nil
	chosen      option
	answer      chan reply // gets one reply; dismissed is the option without a key
}

// option is chosen by its key. typed ones take a line of text too, behind the label.
type option struct {
	key, text, typed string
}

type reply struct{ key, text string }

// newApproval shows all of a request.
func newApproval(r gate.Request) *dialog {
	d := &dialog{title: clean(r.Title), name: "Allow: ", answer: make(chan reply, 1)}
	if text := strings.Trim(clean(r.Detail), "\n"); text != "" && !strings.HasSuffix(d.title, text) {
		d.diff = text
	}
	d.options = []option{{key: "y", text: "[y]es"}, {key: "n", text: "[n]o"}, {"b", "[b] no, because …", "no, because: "}}
	if r.Always != "" {
		d.options = append(d.options, option{key: "a", text: "[a]lways: " + clean(r.Always)})
	}
	return d
}

// newPicker lists the options of a question with numbers.
func newPicker(q tool.Question) *dialog {
	d := &dialog{title: clean(q.Text), answer: make(chan reply, 1)}
	for i, o := range q.Options {
		d.options = append(d.options, option{key: fmt.Sprint(i + 1), text: fmt.Sprintf("%d. %s", i+1, clean(o))})
	}
	if q.AllowOther {
		n := len(d.options) + 1
		d.options = append(d.options, option{fmt.Sprint(n), fmt.Sprintf("%d. another answer …", n), "answer: "})
	}
	return d
}

// shown is what is printed once.
func (d *dialog) shown(s style, width int) string {
	out := wrap(s.bold(s.yellow(d.title)), width, "? ", "  ")
	if d.diff != "" {
		out += "\n" + colouredDiff(s, d.diff, width)
	}
	return out
}

// view is what is drawn, at most height lines.
func (d *dialog) view(s style, width, height int) string {
	var out []string
	if e := d.entry; e != nil {
		text := strings.Join(e.cells[:e.at], "") + "█" + strings.Join(e.cells[e.at:], "")
		return last(wrap(s.yellow(d.chosen.typed)+clean(text), width, "", ""), height)
	}
	if d.name != "" {
		for _, o := range d.options {
			out = append(out, o.text)
		}
		title := s.yellow(d.name) + s.bold(clip(d.title, width-len(d.name)))
		return title + "\n" + last(wrap(strings.Join(out, "  "), width, "  ", "  "), height-1)
	}
	from := max(0, min(d.at-height/2, len(d.options)-height))
	for i, o := range d.options[from:min(len(d.options), from+height)] {
		if row := clip(o.text, width-2); from+i == d.at {
			out = append(out, s.cyan("> "+row))
		} else {
			out = append(out, "  "+row)
		}
	}
	return strings.Join(out, "\n")
}

// key takes a key and says whether the dialog is answered by it.
func (d *dialog) key(k tea.KeyPressMsg) bool {
	if d.entry != nil {
		return d.write(k)
	}
	name := strings.ToLower(k.String())
	if n := len(d.options); d.name == "" && n > 0 {
		switch name {
		case "up", "ctrl+p":
			d.at = (d.at + n - 1) % n
		case "down", "ctrl+n", "tab":
			d.at = (d.at + 1) % n
		case "enter":
			name = d.options[d.at].key
		}
	}
	for i, o := range d.options {
		if o.key != name {
			continue
		}
		if d.at, d.chosen = i, o; o.typed == "" {
			d.answer <- reply{key: o.key}
			return true
		}
		d.entry = &editor{}
	}
	return false
}

// write takes a key of the text of an option.
func (d *dialog) write(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "enter":
		d.answer <- reply{d.chosen.key, strings.TrimSpace(d.entry.text())}
		return true
	case "backspace":
		if d.entry.empty() {
			d.entry = nil
			return false
		}
	}
	d.entry.key(k, 1000)
	return false
}
