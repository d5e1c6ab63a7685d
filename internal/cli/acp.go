package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/agent"
	"anchor/internal/event"
	"anchor/internal/front/acp"
	"anchor/internal/gate"
	"anchor/internal/mcp"
	"anchor/internal/msg"
	"anchor/internal/session"
	"anchor/internal/skill"
)

// acpServe is anchor acp: a client on standard input and output, with a work for each of its sessions.
func acpServe(ctx context.Context, sh shell, o *options) error {
	sh.signals = nil // they reach a session through its context
	server := acp.Server{Version: version(), Open: func(ctx context.Context, id, dir string, servers []sdk.McpServer, t *acp.Talk) (acp.Session, error) {
		own := *o
		own.dir, own.resume, own.id = dir, id != "", id
		w, err := prepare(ctx, sh, &own, face{sink: event.Serial(t.Event), approver: t, asker: t})
		if err != nil {
			return acp.Session{}, err
		}
		if err = w.open(ctx); err == nil && own.resume && w.log == nil {
			err = usagef("no sessions are saved")
		}
		if err == nil {
			return w.session(ctx, servers, t), nil
		}
		w.close()
		if own.resume && code(err) == exitUsage {
			err = acp.NoSession(err)
		}
		return acp.Session{}, err
	}}
	return server.Run(ctx, sh.in, sh.out)
}

// session is the work as the client has it. The context ends with the server.
func (w *work) session(ctx context.Context, servers []sdk.McpServer, t *acp.Talk) acp.Session {
	found, _ := w.find(ctx) // open has told what is wrong
	set := skill.Set{Gate: w.gate, Skills: found.Skills}
	s := acp.Session{ID: w.id(), Dir: w.dir, Mask: w.gate.Mask, Close: w.close,
		Commands: []acp.Command{{Name: "compact", Description: "summarize older turns now", Hint: "what to keep in mind"}},
		Turn: func(turn context.Context, in msg.User) event.TurnEnd {
			if w.lent == nil && len(servers) > 0 && !w.o.noMCP { // asked now, since a client that waits for its new session may not answer
				w.lend(turn, ctx, servers, t)
			}
			name, rest, _ := strings.Cut(in.Text, " ")
			if name == "/compact" {
				if err := w.agent.Compact(turn, strings.TrimSpace(rest)); err != nil {
					w.face.sink(event.Notice{Message: "Not compacted: " + err.Error()})
				}
				return event.TurnEnd{Reason: event.Completed}
			}
			if name, ok := strings.CutPrefix(name, "/"); ok {
				if text, err := set.Use(turn, name, strings.TrimSpace(rest)); err == nil {
					in.Text = text
				}
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
	return s
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
			case ctx.Err() != nil: // cancelled, which is no answer: the next turn asks again
				return
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
