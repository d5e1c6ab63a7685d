package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"anchor/internal/event"
	"anchor/internal/home"
	"anchor/internal/mcp"
)

// listLimit is how long anchor mcp list waits for servers to start.
const listLimit = 20 * time.Second

// mcp is anchor mcp: list, add, remove, trust, login, logout.
func (w *work) mcp(ctx context.Context) error {
	words := append(slices.Clone(w.o.args), "", "")
	verb, name, rest := cmp.Or(words[0], "list"), words[1], w.o.args[min(2, len(w.o.args)):]
	named := map[string]func(context.Context, mcp.Definition) error{"trust": w.trustServer, "login": w.login, "logout": w.logout}[verb]
	switch {
	case verb == "list" && name == "":
		return w.listServers(ctx)
	case name == "" || verb != "add" && len(rest) > 0:
	case verb == "add" && len(rest) > 0:
		return w.addServer(name, rest)
	case verb == "remove":
		return w.removeServer(name)
	case named != nil:
		for _, d := range w.definitions(ctx, w.warn) {
			if d.Name == name {
				return named(ctx, d)
			}
		}
		return usagef("there is no MCP server %q here; anchor mcp lists them", name)
	}
	return usagef("mcp takes list, add NAME URL, add NAME COMMAND ARGUMENTS, remove NAME, trust NAME, login NAME or logout NAME, not %q", strings.Join(w.o.args, " "))
}

func (w *work) warn(text string) { fmt.Fprintln(w.sh.err, event.Visible(text)) }

// listServers tells how each server is.
func (w *work) listServers(ctx context.Context) error {
	definitions := w.definitions(ctx, w.warn)
	if len(definitions) == 0 {
		w.warn("no MCP servers yet; anchor mcp add NAME COMMAND or URL adds one")
		return nil
	}
	states, err := w.tryServers(ctx, definitions)
	var rows [][]string
	for i, s := range states {
		var names []string
		for _, t := range s.Tools {
			names = append(names, t.Spec().Name)
		}
		what := cmp.Or(definitions[i].URL, strings.Join(append([]string{definitions[i].Command}, definitions[i].Args...), " "))
		detail := cmp.Or(s.Error, fmt.Sprintf("%d tools: %s", len(names), strings.Join(names, ", ")))
		rows = append(rows, []string{event.Visible(s.Name), s.Status, event.Visible(w.gate.Mask(what)), event.Visible(detail)})
	}
	return cmp.Or(err, table(w.sh.out, rows))
}

// tryServers starts the servers that may start, waits for them a while, and returns how each is.
func (w *work) tryServers(ctx context.Context, definitions []mcp.Definition) ([]mcp.State, error) {
	o := w.serverOptions(func(string) {})
	o.Once = true
	set := mcp.Start(ctx, o, definitions)
	defer set.Close()
	err := set.Settle(ctx, listLimit)
	return set.States(), err
}

// addServer writes a definition into the user's file: an address and headers, or variables, a command and its arguments.
func (w *work) addServer(name string, words []string) error {
	d, env, headers := map[string]any{}, map[string]string{}, map[string]string{}
	for len(words) > 0 {
		key, value, ok := strings.Cut(words[0], "=")
		if !ok || strings.ContainsAny(key, "/ :") {
			break
		}
		env[key], words, d["env"] = value, words[1:], env
	}
	switch {
	case len(words) == 0:
		return usagef("mcp add needs an address or a command")
	case strings.HasPrefix(words[0], "http://"), strings.HasPrefix(words[0], "https://"):
		d["url"] = words[0]
		for _, h := range words[1:] {
			key, value, ok := strings.Cut(h, ":")
			if !ok {
				return usagef("%q is no header; one looks like 'X-Key: ${KEY}'", h)
			}
			headers[strings.TrimSpace(key)], d["headers"] = strings.TrimSpace(value), headers
		}
	default:
		d["command"], d["args"] = words[0], words[1:]
	}
	if w.set.MCPServers[name] != nil {
		return usagef("there is an MCP server %s already; anchor mcp remove %s first", name, name)
	}
	if err := w.keep([]string{"mcpServers", name}, d); err != nil {
		return err
	}
	return say(w.sh.out, fmt.Sprintf("%s added to %s; anchor mcp shows whether it works", event.Visible(name), w.userFile()))
}

func (w *work) removeServer(name string) error {
	if w.set.MCPServers[name] == nil {
		return usagef("%s has no MCP server %q; those of a project are in its own file", w.userFile(), name)
	}
	if err := w.keep([]string{"mcpServers", name}, nil); err != nil {
		return err
	}
	return say(w.sh.out, event.Visible(name)+" removed from "+w.userFile())
}

// trustServer shows a project's server and, with a terminal, asks; without one the command itself is the user's word. What anchor runs
// for a model can't give it.
func (w *work) trustServer(ctx context.Context, d mcp.Definition) error {
	if w.sh.getenv("ANCHOR_JOB") != "" {
		return usagef("trust is the user's to give: run anchor mcp trust yourself, in a shell of your own")
	}
	if d.Dir == "" {
		return usagef("%s stands in your own %s: it needs no trust", d.Name, d.Source)
	}
	o := w.serverOptions(w.warn)
	_, files, err := o.Sum(ctx, d)
	if err != nil {
		return err
	}
	w.warn(fmt.Sprintf("%s defines the MCP server %s:\n%s", d.Source, d.Name, d.Raw))
	if len(files) > 0 {
		w.warn("It runs these files of the project; when one changes you are asked again: " + strings.Join(files, ", "))
	}
	if names := d.Variables(); len(names) > 0 {
		w.warn("It gets these variables of your environment: " + strings.Join(names, ", "))
	}
	if term.IsTerminal(w.sh.in.Fd()) {
		fmt.Fprint(w.sh.err, "Let it start in this project from now on? [y/N] ")
		var answer string
		_, _ = fmt.Fscanln(w.sh.in, &answer)
		if !slices.Contains([]string{"y", "yes"}, strings.ToLower(answer)) {
			return exit{exitError, "not trusted"}
		}
	}
	if err := o.Trust(ctx, d); err != nil {
		return err
	}
	return say(w.sh.out, event.Visible(d.Name)+" is trusted as it is now")
}

func (w *work) login(ctx context.Context, d mcp.Definition) error {
	pasted := io.Reader(strings.NewReader(""))
	if term.IsTerminal(w.sh.in.Fd()) {
		pasted = w.sh.in
	}
	tools, err := w.serverOptions(w.warn).Login(ctx, d, func(address string) {
		w.warn("Open this address to sign in to " + d.Name + ":\n" + address)
		if home.Browse(address, w.sh.getenv) == nil {
			w.warn("It was opened in your browser.")
		} else if pasted == w.sh.in {
			w.warn("If your browser is on another machine, it ends at a page that can't be reached: paste the address of that page here.")
		}
	}, pasted)
	if err != nil {
		return err
	}
	return say(w.sh.out, fmt.Sprintf("%s works: %d tools", event.Visible(d.Name), tools))
}

func (w *work) logout(ctx context.Context, d mcp.Definition) error {
	if err := w.serverOptions(w.warn).Logout(ctx, d); err != nil {
		return err
	}
	return say(w.sh.out, "the sign-in to "+event.Visible(d.Name)+" is forgotten")
}
