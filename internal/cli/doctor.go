package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"anchor/internal/agent"
	"anchor/internal/config"
	"anchor/internal/front/print"
	"anchor/internal/gate"
	"anchor/internal/home"
	"anchor/internal/provider"
)

// clean makes text of models, tools and servers safe to show.
func clean(s string) string { return print.Visible(s) }

// finding is one line of anchor doctor.
type finding struct {
	State  string // ok, warning, fault (it would stop a run)
	Name   string
	Detail string
	Advice string
}

// doctor checks the set-up, a line each; a fault gives exit code 1.
func doctor(ctx context.Context, sh shell, o *options) error {
	var found []finding
	b, err := prepare(ctx, sh, o)
	if err != nil {
		found = append(found, finding{"fault", "settings", err.Error(), "mend that place"})
	} else {
		found = b.examine(ctx)
	}
	bad := false
	for _, f := range found {
		bad = bad || f.State == "fault"
		line := fmt.Sprintf("%-8s %-10s %s", f.State, f.Name, f.Detail)
		if f.Advice != "" && f.State != "ok" {
			line += ". To do: " + f.Advice
		}
		if _, err := fmt.Fprintln(sh.out, clean(line)); err != nil {
			return err
		}
	}
	if bad {
		return outcome(exitError)
	}
	return nil
}

func (b *setup) examine(ctx context.Context) []finding {
	out := []finding{{"ok", "version", version(), ""}, {"ok", "directory", b.dir, ""}}
	if len(b.notices) == 0 {
		out = append(out, finding{"ok", "settings", or(b.userFile(), "no home directory"), ""})
	}
	for _, n := range b.notices {
		out = append(out, finding{"warning", "settings", n, "mend or remove that"})
	}
	g, err := b.newGate(gate.Options{})
	if err != nil {
		return append(out, finding{"fault", "directory", err.Error(), "choose another with -C"})
	}
	defer g.Close()
	out = append(out, b.examineModel(ctx, g))
	out = append(out, program(ctx, g, "bash", "bash --version", "fault", "install bash; commands run in it"))
	out = append(out, program(ctx, g, "git", "git --version", "warning", "install git to let the model see history"))
	sandbox := finding{"ok", "sandbox", gate.Confinement(), ""}
	if strings.HasPrefix(sandbox.Detail, "none") {
		sandbox.State, sandbox.Advice = "warning", "nothing; read-only commands run on the reader's word alone"
	}
	return append(out, sandbox, b.examineState())
}

// examineModel asks the provider for its models: that shows the key, the address and the name at once.
func (b *setup) examineModel(ctx context.Context, g *gate.Gate) finding {
	m, err := b.choose(ctx, b.keys(g))
	if err != nil {
		return finding{"fault", "model", err.Error(), "as the line says"}
	}
	p, known := b.set.Providers[m.Provider]
	if !known {
		return finding{"ok", "model", "a script", ""}
	}
	where := fmt.Sprintf("%s of %s at %s, %s", m.Name, m.Provider, p.BaseURL, window(m))
	listed, err := b.list(ctx, p, b.keys(g), provider.ListTimeout)
	if err != nil {
		return finding{"fault", "model", fmt.Sprintf("%s: %v", where, err), "check the key, the address and the network"}
	}
	for _, l := range listed {
		if l.ID == m.Name {
			return finding{"ok", "model", where, ""}
		}
	}
	return finding{"warning", "model", where + ": the server does not list it", "see anchor models"}
}

func window(m agent.Model) string {
	return fmt.Sprintf("window %d (%s)", m.Info.Window, m.Info.Source)
}

func program(ctx context.Context, g *gate.Gate, name, command, state, advice string) finding {
	out, err := g.Exec(ctx, gate.Command{Text: command, Timeout: 5 * time.Second, ByUser: true})
	first, _, _ := strings.Cut(out.Text, "\n")
	if err != nil || out.Exit != 0 {
		return finding{state, name, strings.TrimSpace(fmt.Sprint("does not run: ", or(first, fmt.Sprint(err)))), advice}
	}
	return finding{"ok", name, first, ""}
}

// examineState tries to write where sessions go.
func (b *setup) examineState() finding {
	if b.dirs.State == "" {
		return finding{"warning", "sessions", "are not saved: no home directory", "set HOME"}
	}
	if err := home.Write(filepath.Join(b.dirs.State, ".doctor"), nil); err != nil {
		return finding{"warning", "sessions", "are not saved: " + err.Error(), "make " + b.dirs.State + " writable or set XDG_STATE_HOME"}
	}
	return finding{"ok", "sessions", b.dirs.State, ""}
}

// models lists what can be used now: each provider with a key and each local server found, side by side.
func models(ctx context.Context, sh shell, o *options) error {
	b, err := prepare(ctx, sh, o)
	if err != nil {
		return err
	}
	g, err := b.newGate(gate.Options{})
	if err != nil {
		return err
	}
	defer g.Close()
	all := b.set.Ordered()
	lists, faults := make([][]provider.Listed, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		limit := provider.ListTimeout
		if p.Local {
			limit = probeTime
		}
		if p.Local || p.Usable(sh.getenv) {
			wg.Go(func() { lists[i], faults[i] = b.list(ctx, p, b.keys(g), limit) })
		}
	}
	wg.Wait()
	any := false
	for i, p := range all {
		if faults[i] != nil && !p.Local {
			fmt.Fprintf(sh.err, "%s: %s\n", p.Name, clean(faults[i].Error()))
		}
		any = any || len(lists[i]) > 0
		if err := printModels(sh, p, lists[i]); err != nil {
			return err
		}
	}
	if !any {
		return usageError{gettingStarted(nil)}
	}
	return nil
}

func printModels(sh shell, p config.Provider, listed []provider.Listed) error {
	for _, l := range listed {
		i := info(p, l.ID)
		if l.Window > 0 && i.Source != "config" {
			i.Window, i.Source = l.Window, "server"
		}
		if _, err := fmt.Fprintf(sh.out, "%-50s window %8d (%s)\n", clean(p.Name+"/"+l.ID), i.Window, i.Source); err != nil {
			return err
		}
	}
	return nil
}

// settings is anchor config: what is in force, and where each value came from.
func settings(ctx context.Context, sh shell, o *options) error {
	b, err := prepare(ctx, sh, o)
	if err != nil {
		return err
	}
	for _, n := range b.notices {
		fmt.Fprintf(sh.err, "notice: %s\n", clean(n))
	}
	for _, s := range b.set.List(sh.getenv) {
		if _, err := fmt.Fprintf(sh.out, "%-36s %-40s %s\n", clean(s.Key), clean(or(s.Value, "(none)")), clean(or(s.Source, "built in"))); err != nil {
			return err
		}
	}
	return nil
}
