package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/agent"
	"anchor/internal/event"
	"anchor/internal/front/acp"
	"anchor/internal/gate"
	"anchor/internal/mcp"
	"anchor/internal/msg"
	"anchor/internal/session"
	"anchor/internal/skill"
	"anchor/internal/tools"
)

// acpServe is anchor acp: a client on standard input and output, with a work for each of its sessions.
func acpServe(ctx context.Context, sh shell, o *options) error {
	var unsaved atomic.Int64
	server := acp.Server{Version: version(), Open: func(ctx context.Context, id, dir string, servers []sdk.McpServer, f acp.Face) (acp.Session, error) {
		own := *o
		own.dir, own.resume, own.id = dir, id != "", id
		if id != "" && !session.ValidID(id) {
			return acp.Session{}, acp.ErrNoSession
		}
		s, err := openTalk(ctx, sh, &own, servers, f)
		if err == nil && s.ID == "" {
			s.ID = fmt.Sprint("unsaved-", unsaved.Add(1))
		}
		return s, err
	}, List: func(dir string) (out []acp.Info, err error) {
		own := *o
		own.dir = dir
		w, err := prepare(ctx, sh, &own, face{})
		if err != nil || w.dirs.State == "" {
			return nil, err
		}
		defer w.close()
		if dir != "" {
			dir = w.dir
		}
		list, err := session.NewStore(w.dirs.State, w.gate.Mask).List(dir)
		for _, i := range list {
			out = append(out, acp.Info{ID: i.ID, Dir: i.Dir, Title: i.Prompt, Time: i.Time})
		}
		return out, err
	}}
	return server.Run(ctx, sh.in, sh.out)
}

// openTalk makes the work for a session of the client's. Signals reach it through ctx, which ends with the server.
func openTalk(ctx context.Context, sh shell, o *options, servers []sdk.McpServer, f acp.Face) (acp.Session, error) {
	sh.signals = nil
	w, err := prepare(ctx, sh, o, face{sink: event.Serial(f.Event), approver: f, asker: f})
	if err != nil {
		return acp.Session{}, err
	}
	if err = w.open(ctx); err != nil {
		w.close()
		if errors.Is(err, session.ErrNoSession) || code(err) == exitUsage && o.resume {
			err = fmt.Errorf("%w: %w", acp.ErrNoSession, err)
		}
		return acp.Session{}, err
	}
	if o.resume && w.log == nil { // none are saved
		w.close()
		return acp.Session{}, acp.ErrNoSession
	}
	found, _ := w.find(ctx) // open has told what is wrong
	set := skill.Set{Gate: w.gate, Skills: found.Skills}
	s := acp.Session{ID: w.id(), Dir: w.dir, Mask: w.gate.Mask, Title: w.title, Close: w.close,
		Commands: []acp.Command{{Name: "compact", Description: "summarize older turns now", Hint: "what to keep in mind"}},
		Turn: func(turn context.Context, in msg.User) event.TurnEnd {
			if w.lent == nil && len(servers) > 0 && !w.o.noMCP { // asked now, since a client that waits for its new session may not answer
				w.lend(turn, ctx, servers, f)
			}
			if end, done := w.slash(turn, &in, set); done {
				return end
			}
			return w.agent.Work(turn, in, agent.Until{Command: w.o.until, Rounds: w.o.untilRounds, Protect: w.o.protect})
		}}
	for _, k := range found.Skills {
		s.Commands = append(s.Commands, acp.Command{Name: k.Name, Description: k.Description, Hint: "arguments"})
	}
	if w.past != nil {
		for e := range w.past.All {
			if m, ok := e.(session.Message); ok && m.Agent == "" {
				s.Past = append(s.Past, m.Message)
			}
		}
	}
	return s, nil
}

// slash carries out /compact, or puts a skill's text in the place of /NAME. done says that there is nothing more to do.
func (w *work) slash(ctx context.Context, in *msg.User, set skill.Set) (end event.TurnEnd, done bool) {
	name, rest, _ := strings.Cut(in.Text, " ")
	if name == "/compact" {
		end.Reason = event.Completed
		if err := w.agent.Compact(ctx, strings.TrimSpace(rest)); err != nil {
			w.face.sink(event.Notice{Message: "Not compacted: " + err.Error()})
		}
		return end, true
	}
	if name, ok := strings.CutPrefix(name, "/"); ok {
		if text, err := set.Use(ctx, name, strings.TrimSpace(rest)); err == nil {
			in.Text = text
		}
	}
	return end, false
}

// title is how a call of an old session is shown.
func (w *work) title(c msg.Call) string {
	for _, t := range append(tools.All(true, true, true), w.serverTools()...) {
		if t.Spec().Name == c.Name && c.Args != nil {
			return c.Name + " " + w.gate.Mask(t.Summary(c.Args))
		}
	}
	return c.Name
}

// lend starts the servers that a client gave, once the user has said yes: those that are trusted for the directory already, or for
// once, or from now on. Their names may not be those of others.
func (w *work) lend(ctx, whole context.Context, servers []sdk.McpServer, ask gate.Approver) {
	notice := func(text string) { w.face.sink(event.Notice{Message: text}) }
	o, raw, taken := w.serverOptions(notice), map[string]json.RawMessage{}, map[string]bool{}
	for _, d := range w.definitions(ctx, func(string) {}) {
		taken[d.Name] = true
	}
	for _, s := range servers {
		if name, definition := lentServer(s); name == "" || taken[name] {
			notice(fmt.Sprintf("the editor's MCP server %q is left out: servers run by a command or over HTTP are taken, each of a name of its own", name))
		} else {
			raw[name], _ = json.Marshal(definition)
		}
	}
	var list []mcp.Definition
	for _, d := range mcp.Define("the editor", w.dir, raw) {
		if trusted, _ := o.Trusted(ctx, d); !trusted {
			answer, err := ask.Approve(ctx, gate.Request{Title: "Start the editor's MCP server " + d.Name, Always: "this server in this directory",
				Detail: w.gate.Mask(strings.TrimSpace(strings.Join(append([]string{d.Command}, d.Args...), " ") + " " + d.URL))})
			switch {
			case err != nil || !answer.Yes:
				notice("the editor's MCP server " + d.Name + " is not started: you did not say yes")
				continue
			case answer.Always:
				err = o.Trust(ctx, d)
			}
			if d.Dir = ""; err != nil {
				notice(err.Error())
			}
		}
		list = append(list, d)
	}
	w.lent = mcp.Start(whole, o, list)
}

// lentServer is a client's server as settings have one. Others than these are not offered.
func lentServer(s sdk.McpServer) (string, any) {
	pairs := map[string]string{}
	switch {
	case s.Stdio != nil:
		for _, e := range s.Stdio.Env {
			pairs[e.Name] = e.Value
		}
		return s.Stdio.Name, map[string]any{"command": s.Stdio.Command, "args": s.Stdio.Args, "env": pairs}
	case s.Http != nil:
		for _, h := range s.Http.Headers {
			pairs[h.Name] = h.Value
		}
		return s.Http.Name, map[string]any{"type": "http", "url": s.Http.Url, "headers": pairs}
	}
	return "", nil
}
