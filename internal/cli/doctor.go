package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"anchor/internal/config"
	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/home"
)

// checkup is what anchor doctor found: a row each of state, name and detail.
type checkup [][]string

func (c *checkup) ok(name, detail string) { *c = append(*c, []string{"ok", name, detail}) }

// warn notes something that is not as it should be, and what to do about it.
func (c *checkup) warn(name, detail, advice string) {
	*c = append(*c, []string{"warning", name, detail + ". To do: " + advice})
}

// fault is a warning of what would stop a run.
func (c *checkup) fault(name, detail, advice string) {
	c.warn(name, detail, advice)
	(*c)[len(*c)-1][0] = "fault"
}

// doctor checks the set-up, a line each; a fault gives exit code 1.
func doctor(ctx context.Context, sh shell, o *options) error {
	var c checkup
	w, err := prepare(ctx, sh, o, face{})
	if err != nil {
		c.fault("settings", err.Error(), "mend that place")
	} else {
		defer w.close()
		w.examine(ctx, &c)
	}
	if err := table(sh.out, c); err != nil || !slices.ContainsFunc(c, func(row []string) bool { return row[0] == "fault" }) {
		return err
	}
	return exit{exitError, ""}
}

func (w *work) examine(ctx context.Context, c *checkup) {
	c.ok("version", version())
	c.ok("directory", w.dir)
	if len(w.notices) == 0 {
		c.ok("settings", w.userFile())
	}
	for _, n := range w.notices {
		c.warn("settings", n, "mend or remove that")
	}
	w.examineModel(ctx, c)
	w.examineProgram(ctx, c, "bash", c.fault, "install bash; commands run in it")
	w.examineProgram(ctx, c, "git", c.warn, "install git to let the model see history")
	if sandbox := gate.Confinement(); strings.HasPrefix(sandbox, "none") {
		c.warn("sandbox", sandbox, "nothing; read-only commands run on the reader's word alone")
	} else {
		c.ok("sandbox", sandbox)
	}
	if w.dirs.State == "" {
		c.warn("sessions", "are not saved: no home directory", "set HOME")
	} else if err := home.Write(filepath.Join(w.dirs.State, ".doctor"), nil); err != nil {
		c.warn("sessions", "are not saved: "+err.Error(), "make "+w.dirs.State+" writable or set XDG_STATE_HOME")
	} else {
		c.ok("sessions", w.dirs.State)
	}
	w.examineServers(ctx, c)
	w.examineFiles(ctx, c)
	switch name := w.sh.getenv("TERM"); {
	case !term.IsTerminal(w.sh.in.Fd()) || !term.IsTerminal(w.sh.out.Fd()):
		c.ok("terminal", "none here: anchor works by plain lines")
	case name == "" || name == "dumb":
		c.warn("terminal", fmt.Sprintf("TERM is %q: anchor works by plain lines", name), "set TERM if the terminal can do more")
	default:
		c.ok("terminal", name)
	}
}

// examineServers starts the MCP servers that may start and says how each is. One that does not work stops no run.
func (w *work) examineServers(ctx context.Context, c *checkup) {
	definitions := w.definitions(ctx, func(text string) { c.warn("MCP server", text, "mend that definition") })
	states, err := w.tryServers(ctx, definitions)
	if err != nil {
		c.warn("MCP server", err.Error(), "try again")
	}
	for _, s := range states {
		switch s.Status {
		case "ready":
			c.ok("MCP server", fmt.Sprintf("%s: %d tools", s.Name, len(s.Tools)))
		case "disabled":
			c.ok("MCP server", s.Name+": disabled")
		default:
			c.warn("MCP server", event.Visible(s.Name+": "+s.Status+" "+s.Error), "see anchor mcp list, and trust or login there")
		}
	}
}

// examineFiles shows the skills, sub-agents and instructions that a run would have, and what is wrong with others.
func (w *work) examineFiles(ctx context.Context, c *checkup) {
	found, err := w.find(ctx)
	if err != nil {
		return
	}
	for _, s := range found.Skills {
		c.ok("skill", s.Name+": "+s.File)
	}
	for _, a := range found.Agents {
		c.ok("agent", a.Name+": "+a.File)
	}
	for _, file := range found.Sources {
		c.ok("rules", file)
	}
	for _, n := range found.Notices {
		c.warn("file", n, "mend or remove that file")
	}
}

// examineModel asks the provider for its models: that shows the key, the address and the name at once.
func (w *work) examineModel(ctx context.Context, c *checkup) {
	m, err := w.choose(ctx)
	if err != nil {
		c.fault("model", err.Error(), "as the line says")
		return
	}
	p, known := w.set.Providers[m.Provider]
	if !known {
		c.ok("model", "a script")
		return
	}
	where := fmt.Sprintf("%s of %s at %s, window %d (%s)", m.Name, m.Provider, p.BaseURL, m.Info.Window, m.Info.Source)
	switch listed, err := w.list(ctx, p); {
	case err != nil:
		c.fault("model", fmt.Sprintf("%s: %v", where, err), "check the key, the address and the network")
	case !lists(listed, m.Name):
		c.warn("model", where+": the server does not list it", "see anchor models")
	default:
		c.ok("model", where)
	}
}

func (w *work) examineProgram(ctx context.Context, c *checkup, name string, bad func(name, detail, advice string), advice string) {
	out, err := w.gate.Exec(ctx, gate.Command{Text: name + " --version", Timeout: 5 * time.Second, ByUser: true})
	first, _, _ := strings.Cut(out.Text, "\n")
	if err != nil || out.Exit != 0 {
		bad(name, "does not run: "+cmp.Or(first, fmt.Sprint(err)), advice)
		return
	}
	c.ok(name, first)
}

// models lists what can be used now: each provider with a key and each local server found.
func (w *work) models(ctx context.Context) error {
	var rows [][]string
	failed := false
	for _, l := range w.listAll(ctx, func(p config.Provider) bool { return p.Local || p.Usable(w.sh.getenv) }) {
		if l.err != nil && !l.Local {
			failed = true
			fmt.Fprintf(w.sh.err, "%s: %s\n", l.Name, event.Visible(l.err.Error()))
		}
		for _, m := range l.models {
			i := info(l.Provider, m.ID, m.Window)
			rows = append(rows, []string{l.Name + "/" + m.ID, fmt.Sprint("window ", i.Window), i.Source})
		}
	}
	switch {
	case rows == nil && failed:
		return exit{exitError, ""}
	case rows == nil:
		return usagef("no model to use: %s", gettingStarted)
	}
	return table(w.sh.out, rows)
}

// settings is anchor config: what is in force, and where each value came from.
func (w *work) config(ctx context.Context) error {
	rows := w.set.List(w.sh.getenv)
	for _, r := range rows {
		r[1], r[2] = cmp.Or(r[1], "(none)"), cmp.Or(r[2], "built in")
	}
	return table(w.sh.out, rows)
}

// tell writes what was found on the way, for the commands without a front.
func (w *work) tell() {
	for _, n := range w.notices {
		fmt.Fprintf(w.sh.err, "notice: %s\n", event.Visible(n))
	}
}
