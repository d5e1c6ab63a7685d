package repl

import (
	"context"
	"fmt"
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
	m.cancel()
	for _, w := range slices.Backward(m.waiting) {
		m.input.set(strings.TrimSuffix(w.text+"\n"+m.input.text(), "\n"))
		m.input.plain = true
	}
	m.waiting = nil
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
			in.plain = false
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

// complete looks for what could go on from the cursor.
func (m *model) complete() {
	in := &m.input
	in.menu, in.chosen = nil, 0
	if name, ok := in.slash(); ok {
		for _, c := range m.o.Commands {
			if strings.HasPrefix(c.Name, name) {
				in.menu = append(in.menu, choice{"/" + c.Name, strings.TrimSpace(c.Args + "  " + c.Help)})
			}
		}
	}
	if part, ok := in.part(); ok && !in.plain && m.o.Files != nil {
		m.beside(func() tea.Msg { return completed{part, m.o.Files(m.ctx, part)} })
	}
}

// submit sends what was written: a command, a shell command, or a message.
func (m *model) submit() tea.Cmd {
	text, plain := strings.TrimSpace(m.input.text()), m.input.plain
	if text == "" {
		return nil
	}
	if m.input.remember(text) && m.o.Remember != nil {
		m.o.Remember(text)
	}
	m.input.reset()
	switch {
	case !plain && text[0] == '!' && m.o.Shell != nil:
		return m.shell(text)
	case !plain && text[0] == '/':
		return m.command(text)
	case m.cancel != nil:
		if m.o.Queue == nil {
			m.waiting = append(m.waiting, message{text: text})
		} else { // it may read files, and ask
			m.beside(func() tea.Msg { return queued{text, m.o.Queue(text)} })
		}
		return nil
	}
	m.echo(text)
	return m.turn(text)
}

// shell runs !COMMAND, which must not change files under a running turn.
func (m *model) shell(text string) tea.Cmd {
	if m.cancel != nil {
		m.input.set(text)
		m.hint = "not while a turn runs; Esc cancels it"
		return nil
	}
	m.echo(text)
	width := m.width
	return m.begin(m.result(func(ctx context.Context) (string, error) {
		return m.o.Shell(ctx, strings.TrimSpace(text[1:]))
	}, func(out string) string { return wrap(out, width, "  ", "  ") }))
}

// result makes what a command returned a message.
func (m *model) result(f func(context.Context) (string, error), look func(string) string) func(context.Context) done {
	s, width := m.printer.style, m.width
	return func(ctx context.Context) done {
		out, err := f(ctx)
		if out = strings.TrimRight(clean(out), "\n"); out != "" {
			out = look(out)
		}
		if err != nil {
			out = strings.TrimPrefix(out+"\n"+wrap(s.red(clean(err.Error())), width, "! ", "  "), "\n")
		}
		return done{say: out}
	}
}

// command runs /NAME ARGS: one of the session's own, or what Fallback makes of it. It runs beside a turn, if one does.
func (m *model) command(text string) tea.Cmd {
	name, args, _ := strings.Cut(text[1:], " ")
	m.echo(text)
	switch name {
	case "exit", "quit":
		return m.leave()
	case "help":
		m.printer.say(m.help())
		return nil
	}
	s, width := m.printer.style, m.width
	run := func(ctx context.Context) done { return m.skill(ctx, name, args) }
	for _, c := range m.o.Commands {
		if c.Name == name {
			look := func(text string) string { return wrap(text, width, "", "") }
			if name == "diff" {
				look = func(text string) string { return colouredDiff(s, text, width) }
			}
			run = m.result(func(ctx context.Context) (string, error) { return c.Run(ctx, strings.TrimSpace(args)) }, look)
		}
	}
	if m.cancel == nil {
		return m.begin(run)
	}
	m.beside(func() tea.Msg { d := run(m.ctx); d.beside = true; return d })
	return nil
}

// skill asks Fallback for the prompt of a name that is no command's.
func (m *model) skill(ctx context.Context, name, args string) done {
	prompt, ok, err := "", false, error(nil)
	if m.o.Fallback != nil {
		prompt, ok, err = m.o.Fallback(ctx, name, args)
	}
	if err == nil && !ok {
		err = fmt.Errorf("no command /%s; did you mean /%s? /help lists them", name, m.nearest(name))
	}
	if err != nil {
		return done{say: "! " + m.printer.style.red(clean(err.Error()))}
	}
	return done{prompt: prompt}
}

// help lists the commands and the keys.
func (m *model) help() string {
	var out []string
	row := func(name, help string) {
		out = append(out, wrap(fmt.Sprintf("%-22s %s", name, help), m.width, "  ", "      "))
	}
	row("/help", "this list")
	for _, c := range m.o.Commands {
		row(strings.TrimSpace("/"+c.Name+" "+c.Args), c.Help)
	}
	row("/exit", "leave; Ctrl-D too")
	row("!COMMAND", "run a command of yours")
	row("@FILE", "name a file")
	row("Alt-Enter, Ctrl-J", "a new line; a backslash at the end too")
	row("Ctrl-R", "look for an earlier entry")
	row("Esc, Ctrl-C", "cancel what runs")
	return strings.Join(out, "\n")
}
