package cli

import (
	"context"
	"strings"

	"github.com/charmbracelet/x/term"

	"anchor/internal/agent"
	"anchor/internal/front/repl"
)

// interactive is a session of a person's: in a terminal, or by lines where there is none that can move its cursor.
func interactive(ctx context.Context, sh shell, o *options) error {
	if !term.IsTerminal(sh.in.Fd()) || !term.IsTerminal(sh.out.Fd()) || sh.getenv("TERM") == "dumb" {
		return byLines(ctx, sh, o)
	}
	t := repl.New()
	return converse(ctx, sh, o, face{sink: t.Event, approver: t, asker: t, person: true}, func(w *work) error {
		return t.Run(ctx, w.terminal(), strings.Join(o.args, " "))
	})
}

// terminal is what the session offers to the terminal.
func (w *work) terminal() repl.Options {
	return repl.Options{
		In: w.sh.in, Out: w.sh.out, Env: w.sh.env, NoColor: w.sh.getenv("NO_COLOR") != "", Verbose: w.o.verbose,
		Turn:  w.turn,
		Queue: func(text string) bool { return w.agent.Queue(agent.Input{Text: text}) },
		Dir:   w.dir,
		Model: func() string { return w.model.Name },
	}
}
