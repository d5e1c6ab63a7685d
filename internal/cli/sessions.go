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

// sessions is anchor sessions: list, show, export, rm.
func sessions(ctx context.Context, sh shell, o *options) error {
	b, err := prepare(ctx, sh, o, gate.Options{})
	if err != nil {
		return err
	}
	defer b.gate.Close()
	if b.dirs.State == "" {
		return usagef("there are no sessions without a home directory: set HOME")
	}
	store := session.NewStore(b.dirs.State, b.gate.Mask)
	words := strings.Join(o.args, " ")
	verb, id, _ := strings.Cut(words, " ")
	switch verb {
	case "", "list":
		if id == "" {
			return listSessions(sh, store, b.dir)
		}
	case "show", "export", "rm":
		if !session.ValidID(id) {
			return usagef("sessions %s takes an id such as 20260928-225355-be7b, not %q", verb, id)
		}
		if verb == "rm" {
			return sessionError(id, store.Remove(id))
		}
		past, err := store.Load(id)
		if err != nil {
			return sessionError(id, err)
		}
		if verb == "export" {
			return session.Export(sh.out, past)
		}
		_, err = fmt.Fprint(sh.out, clean(markdown(past)))
		return err
	}
	return usagef("sessions takes list, show ID, export ID or rm ID, not %q", words)
}

func listSessions(sh shell, store session.Store, dir string) error {
	list, err := store.List(dir)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintf(sh.err, "no sessions of %s yet\n", dir)
	}
	var rows [][]string
	for _, i := range list {
		rows = append(rows, []string{i.ID, age(time.Since(i.Time)), i.Dir, fmt.Sprint(i.Turns, " turns"), i.Prompt})
	}
	return table(sh.out, rows)
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
			title := msg.Kind(e.Message)
			if e.Agent != "" {
				title += " (" + e.Agent + ")"
			}
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", strings.ToUpper(title[:1])+title[1:], body(e.Message))
		case session.Reduced:
			fmt.Fprintf(&b, "\n*Context %s: %d tokens, now %d.*\n", e.Kind, e.Before, e.After)
		case session.Change:
			fmt.Fprintf(&b, "\n*Wrote %s.*\n", e.Path)
		case session.Turn:
			if e.Reason != "completed" {
				fmt.Fprintf(&b, "\n*The turn ended: %s. %s*\n", e.Reason, e.Detail)
			}
		}
	}
	return b.String()
}

func body(m msg.Message) string {
	switch m := m.(type) {
	case *msg.User:
		return m.Text
	case *msg.Summary:
		return m.Text
	case *msg.Note:
		return m.Text
	case *msg.Tool:
		return fenced(m.Text)
	case *msg.Assistant:
		text := m.Text()
		for _, c := range m.Calls() {
			text += fmt.Sprintf("\n\n- call `%s` %s", c.Name, string(c.Args)+c.Bad)
		}
		return strings.TrimPrefix(text, "\n\n")
	}
	return ""
}
