package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"anchor/internal/session"
)

// sessions is anchor sessions: list, show, export, rm.
func (w *work) sessions(context.Context) error {
	if w.dirs.State == "" {
		return usagef("there are no sessions without a home directory: set HOME")
	}
	store := session.NewStore(w.dirs.State, w.gate.Mask)
	words := strings.Join(w.o.args, " ")
	verb, id, _ := strings.Cut(words, " ")
	write, reads := map[string]func(io.Writer, *session.Past) error{"show": session.Markdown, "export": session.Export}[verb]
	switch {
	case words == "" || words == "list" || words == "list all":
		dir := w.dir
		if words == "list all" {
			dir = ""
		}
		list, err := store.List(dir)
		if err == nil && len(list) == 0 {
			fmt.Fprintf(w.sh.err, "no sessions of %s; anchor sessions list all shows those of all directories\n", w.dir)
		}
		var rows [][]string
		for _, i := range list {
			rows = append(rows, []string{i.ID, age(time.Since(i.Time)), i.Dir, fmt.Sprint(i.Turns, " turns"), i.Prompt})
		}
		return cmp.Or(err, table(w.sh.out, rows))
	case !reads && verb != "rm":
		return usagef("sessions takes list, list all, show ID, export ID or rm ID, not %q", words)
	case !session.ValidID(id):
		return usagef("sessions %s takes an id such as 20260928-225355-be7b, not %q", verb, id)
	case !reads:
		return sessionError(id, store.Remove(id))
	}
	past, err := store.Load(id)
	if err != nil {
		return sessionError(id, err)
	}
	for _, n := range past.Notices {
		fmt.Fprintf(w.sh.err, "notice: %s\n", n)
	}
	return write(w.sh.out, past)
}

func age(d time.Duration) string {
	if d < 48*time.Hour {
		return cmp.Or(strings.TrimSuffix(d.Truncate(time.Minute).String(), "0s"), "0m")
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
