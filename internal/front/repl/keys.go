package repl

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// key takes a key: those that always mean the same, then the dialog's, then the input's.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	m.hint = ""
	m.awake = m.awake || time.Since(m.since) > calm
	m.since = time.Now()
	switch k.String() {
	case "ctrl+c":
		return m.stop()
	case "ctrl+z":
		if !m.o.HasShell {
			return nil
		}
		return tea.Suspend
	}
	if len(m.dialogs) > 0 {
		if k.String() == "esc" {
			return m.refuse()
		}
		if d := m.dialogs[0]; m.awake && d.key(k) {
			m.drop(d)
		}
		return nil
	}
	return m.write(k)
}

// refuse is Esc at a dialog: a question is dismissed; at an approval the whole turn ends, and nobody needs an answer any more.
func (m *model) refuse() tea.Cmd {
	d := m.dialogs[0]
	if m.drop(d); d.name != "" && m.cancel != nil {
		m.halt()
	} else {
		d.answer <- reply{}
	}
	return nil
}

// stop is Ctrl-C: it ends what runs, else empties the input; soon again it leaves.
func (m *model) stop() tea.Cmd {
	again := time.Since(m.interrupt) < twice
	m.interrupt = time.Now()
	switch {
	case again:
		return m.leave()
	case m.cancel != nil:
		m.halt()
	default:
		m.input.remember(strings.TrimSpace(m.input.text())) // Up brings it back
		m.input.reset()
	}
	m.hint = "Ctrl-C again leaves"
	return nil
}

// halt cancels what runs. Messages that wait for its end go back into the input.
func (m *model) halt() {
	if m.cancel == nil {
		return
	}
	for _, w := range slices.Backward(m.waiting) {
		m.input.before(w.Text)
	}
	m.waiting = nil
	m.input.before(m.o.Withdraw())
	m.cancel()
}

func (m *model) leave() tea.Cmd {
	m.halt()
	m.printer.flush()
	m.leaving = true
	return nil
}

// write takes a key of the input.
func (m *model) write(k tea.KeyPressMsg) tea.Cmd {
	in, name := &m.input, k.String()
	if len(in.menu) > 0 && m.pick(name) {
		return nil
	}
	if name != "ctrl+r" {
		in.query = ""
	}
	switch name {
	case "esc":
		m.halt()
	case "enter":
		if strings.HasSuffix(in.text(), "\\") && in.at == len(in.cells) {
			in.cut(in.at-1, in.at)
			in.insert("\n")
			return nil
		}
		return m.submit()
	case "ctrl+j", "alt+enter", "shift+enter":
		in.insert("\n")
	case "ctrl+r":
		in.search()
	case "ctrl+g":
		return m.edit()
	case "tab":
		m.complete()
	case "ctrl+d":
		if in.empty() {
			return m.leave()
		}
		in.key(k, m.inputWidth())
	case "up", "down":
		if !in.key(k, m.inputWidth()) {
			in.look(map[string]int{"up": 1, "down": -1}[name])
		}
	default:
		if in.key(k, m.inputWidth()) {
			m.complete()
		}
		if in.empty() {
			in.plain, in.pasted = false, nil
		}
	}
	return nil
}

// pick takes a key of the completion menu.
func (m *model) pick(name string) bool {
	in := &m.input
	switch name {
	case "up", "ctrl+p":
		in.chosen = (in.chosen + len(in.menu) - 1) % len(in.menu)
	case "down", "ctrl+n":
		in.chosen = (in.chosen + 1) % len(in.menu)
	case "esc":
		in.menu = nil
	case "tab":
		in.accept()
	case "enter":
		command := strings.HasPrefix(in.menu[in.chosen].text, "/")
		in.accept()
		return !command // the command runs at once
	default:
		return false
	}
	return true
}

// complete shows what could go on from the cursor.
func (m *model) complete() {
	if in := &m.input; in.complete(m.o.Commands) {
		in.walking = true
		m.beside(func() tea.Msg { return walked{paths(m.o.Files(m.ctx))} })
	}
}

// paste puts text into what is being written; it answers nothing and sends nothing.
func (m *model) paste(text string) {
	if len(m.dialogs) == 0 {
		m.input.paste(text)
		m.complete()
	} else if e := m.dialogs[0].entry; e != nil {
		e.insert(strings.Join(strings.Fields(text), " "))
	}
}

// editing is the user's editor, as bubbletea runs it: it has its streams already.
type editing func() error

func (e editing) Run() error        { return e() }
func (editing) SetStdin(io.Reader)  {}
func (editing) SetStdout(io.Writer) {}
func (editing) SetStderr(io.Writer) {}

// edit opens the user's editor on what is written.
func (m *model) edit() tea.Cmd {
	before, after := m.input.text(), ""
	m.away = true
	return tea.Exec(editing(func() (err error) { after, err = m.o.Edit(m.ctx, before); return err }), func(err error) tea.Msg { return edited{after, err} })
}

// edited takes what the editor left. Nobody knows what in it was typed, so it is no command unless it was one.
func (m *model) edited(e edited) {
	m.away = false
	switch text := strings.TrimRight(e.text, "\n"); {
	case e.err != nil:
		m.printer.say(m.printer.result("", e.err))
	case text != m.input.text():
		m.input.set(text)
		m.input.plain = true
	}
}

// submit sends what was written: a command, a shell command, or a message.
func (m *model) submit() tea.Cmd {
	in := &m.input
	text, plain := strings.TrimSpace(in.text()), in.plain
	if text == "" {
		return nil
	}
	if in.remember(text) {
		m.o.Remember(text)
	}
	message := message{Message: Message{text, in.named(text)}}
	in.reset()
	switch {
	case !plain && text[0] == '!':
		return m.shell(text)
	case !plain && text[0] == '/':
		return m.command(text)
	case m.cancel != nil: // it may read files, and ask
		m.beside(func() tea.Msg { return queued{message.Message, m.o.Queue(message.Message)} })
		return nil
	}
	m.waiting = append(m.waiting, message)
	return m.next()
}

// shell runs !COMMAND, which must not change files under a running turn.
func (m *model) shell(text string) tea.Cmd {
	if m.cancel != nil {
		m.input.set(text)
		m.hint = "not while a turn runs; Esc cancels it"
		return nil
	}
	m.echo(text)
	p := m.printer
	return m.begin(func(ctx context.Context) done {
		out, err := m.o.Shell(ctx, strings.TrimSpace(text[1:]))
		return done{say: p.result(hang(clean(out), p.width, "  ", "  "), err)}
	})
}

// command runs what begins with a slash, beside a turn if one runs.
func (m *model) command(text string) tea.Cmd {
	m.echo(text)
	if text == "/exit" || text == "/quit" {
		return m.leave()
	}
	p := m.printer
	run := func(ctx context.Context) done {
		out, prompt, err := m.o.Command(ctx, text)
		if out = clean(out); strings.Contains(out, "\n@@ ") {
			out = colouredDiff(p.style, out, p.width)
		} else {
			out = hang(out, p.width, "", "    ")
		}
		return done{say: p.result(out, err), prompt: prompt}
	}
	if m.cancel == nil {
		return m.begin(run)
	}
	m.beside(func() tea.Msg { d := run(m.ctx); d.beside = true; return d })
	return nil
}
