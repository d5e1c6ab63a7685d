package repl

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"anchor/internal/tool"
)

// picker lets the user choose one of the options of a question, or type another answer where that is allowed.
type picker struct {
	question tool.Question
	answer   chan picked
	at       int
	other    *editor // is typed in, or nil
}

type picked struct {
	text string
	ok   bool
}

func newPicker(q tool.Question) *picker { return &picker{question: q, answer: make(chan picked, 1)} }

func (p *picker) shown(s style, width int) string {
	return wrap(s.bold(clean(p.question.Text)), width, "? ", "  ")
}

func (p *picker) rows() []string {
	if p.question.AllowOther {
		return append(p.question.Options[:len(p.question.Options):len(p.question.Options)], "another answer …")
	}
	return p.question.Options
}

func (p *picker) view(s style, width, height int) string {
	if p.other != nil {
		return entry(s.yellow("answer: "), p.other, width, height)
	}
	var out []string
	rows := p.rows()
	from := max(0, min(p.at-height/2, len(rows)-height))
	for i := from; i < min(len(rows), from+height); i++ {
		row := clip(fmt.Sprintf("%d. %s", i+1, clean(rows[i])), width-2)
		if i == p.at {
			out = append(out, s.cyan("> "+row))
		} else {
			out = append(out, "  "+row)
		}
	}
	return strings.Join(out, "\n")
}

func (p *picker) key(k tea.KeyPressMsg) bool {
	if p.other != nil {
		return p.typed(k)
	}
	n := len(p.rows())
	switch name := k.String(); name {
	case "up", "ctrl+p", "k":
		p.at = (p.at + n - 1) % max(n, 1)
	case "down", "ctrl+n", "j", "tab":
		p.at = (p.at + 1) % max(n, 1)
	case "enter":
		return p.choose(p.at)
	default:
		if len(name) == 1 && name >= "1" && name <= "9" && int(name[0]-'1') < n {
			return p.choose(int(name[0] - '1'))
		}
	}
	return false
}

func (p *picker) choose(i int) bool {
	if i < len(p.question.Options) {
		p.answer <- picked{p.question.Options[i], true}
		return true
	}
	if p.question.AllowOther {
		p.at, p.other = i, &editor{}
	}
	return false
}

// typed takes a key of another answer.
func (p *picker) typed(k tea.KeyPressMsg) bool {
	text := strings.TrimSpace(p.other.text())
	switch {
	case k.String() == "enter" && text != "":
		p.answer <- picked{text, true}
		return true
	case k.String() == "backspace" && p.other.text() == "":
		p.other = nil
		return false
	}
	p.other.key(k, 1000)
	return false
}

func (p *picker) dismiss() { p.answer <- picked{} }
