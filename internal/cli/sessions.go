package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"anchor/internal/gate"
	"anchor/internal/msg"
	"anchor/internal/session"
)

// sessions is anchor sessions: list, show, rm.
func sessions(ctx context.Context, sh shell, o *options) error {
	b, err := prepare(ctx, sh, o)
	if err != nil {
		return err
	}
	if b.dirs.State == "" {
		return usagef("there are no sessions without a home directory: set HOME")
	}
	g, err := b.newGate(gate.Options{})
	if err != nil {
		return err
	}
	defer g.Close()
	store := session.NewStore(b.dirs.State, g.Mask)
	verb, id := "list", ""
	switch len(o.args) {
	case 0:
	case 1:
		verb = o.args[0]
	default:
		verb, id = o.args[0], strings.Join(o.args[1:], " ")
	}
	switch {
	case verb == "list" && id == "":
		return listSessions(sh, store, b.dir)
	case verb != "show" && verb != "rm":
		return usagef("sessions takes list, show ID or rm ID, not %q", strings.Join(o.args, " "))
	case !session.ValidID(id):
		return usagef("sessions %s takes an id such as 20260928-225355-be7b, not %q", verb, id)
	case verb == "rm":
		return sessionError(id, store.Remove(id))
	}
	past, err := store.Load(id)
	if err != nil {
		return sessionError(id, err)
	}
	_, err = fmt.Fprint(sh.out, markdown(past))
	return err
}

func listSessions(sh shell, store session.Store, dir string) error {
	list, err := store.List(dir)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintf(sh.err, "no sessions of %s yet\n", dir)
	}
	for _, i := range list {
		if _, err := fmt.Fprintf(sh.out, "%s  %6s  %s  %3d turns  %s\n", i.ID, age(time.Since(i.Time)), i.Dir, i.Turns, clean(i.Prompt)); err != nil {
			return err
		}
	}
	return nil
}

func age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// markdown renders a session for reading.
func markdown(p *session.Past) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Session %s\n\n%s, %s, %s\n", p.Meta.ID, p.Meta.Dir, p.Meta.Model, p.Meta.Time.Format(time.RFC3339))
	for _, e := range p.Entries {
		switch e := e.(type) {
		case session.Message:
			writeMessage(&b, e)
		case session.Reduced:
			fmt.Fprintf(&b, "\n*Context %s: %d tokens, now %d.*\n", e.Kind, e.Before, e.After)
		case session.Change:
			fmt.Fprintf(&b, "\n*Wrote %s.*\n", clean(e.Path))
		case session.Turn:
			if e.Reason != "completed" {
				fmt.Fprintf(&b, "\n*The turn ended: %s. %s*\n", e.Reason, clean(e.Detail))
			}
		}
	}
	return b.String()
}

func writeMessage(b *strings.Builder, e session.Message) {
	title := strings.ToUpper(msg.Kind(e.Message)[:1]) + msg.Kind(e.Message)[1:]
	if e.Agent != "" {
		title += " (" + e.Agent + ")"
	}
	fmt.Fprintf(b, "\n## %s\n", title)
	switch m := e.Message.(type) {
	case *msg.User:
		fmt.Fprintf(b, "\n%s\n", clean(m.Text))
	case *msg.Assistant:
		if t := m.Text(); t != "" {
			fmt.Fprintf(b, "\n%s\n", clean(t))
		}
		for _, c := range m.Calls() {
			fmt.Fprintf(b, "\n- call `%s` %s\n", c.Name, clean(string(c.Args)+c.Bad))
		}
	case *msg.Tool:
		fmt.Fprintf(b, "\n%s\n", fenced(clean(m.Text)))
	case *msg.Summary:
		fmt.Fprintf(b, "\n%s\n", clean(m.Text))
	case *msg.Note:
		fmt.Fprintf(b, "\n%s\n", clean(m.Text))
	}
}
