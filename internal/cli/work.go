package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"anchor/internal/agent"
	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/session"
	"anchor/internal/skill"
	"anchor/internal/tools"
)

// open finds the model, opens the session file, makes the agent, and tells what is worth telling.
func (w *work) open(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			w.tell() // no front shows them any more, and they may say why: a mistyped setting
		}
	}()
	if w.model, err = w.choose(ctx); err != nil {
		return err
	}
	w.measure(ctx, &w.model)
	if err := w.begin(ctx); err != nil {
		return err
	}
	w.face.sink(event.Start{Session: w.id(), Model: w.model.Name, Directory: w.dir, Version: version()})
	if !w.o.noMCP {
		w.startServers(ctx)
	}
	if w.o.verbose {
		w.notices = append(w.notices, "commands that run unasked: "+gate.Confinement())
	}
	for _, n := range w.notices {
		w.face.sink(event.Notice{Message: n})
	}
	return nil
}

// begin opens the session file and makes the agent for it.
func (w *work) begin(ctx context.Context) error {
	if err := w.openSession(); err != nil {
		return err
	}
	found, err := w.find(ctx)
	if err != nil {
		return err
	}
	w.notices = append(w.notices, found.Notices...)
	prompt, err := w.prompt(found)
	if err != nil {
		return err
	}
	w.agent = agent.New(agent.Options{
		Model: w.model, Resolve: w.resolve,
		Tools: tools.All(true, w.face.asker != nil, prompt.Skills != ""),
		More:  w.serverTools,
		Gate:  w.gate, Log: w.log, Past: w.past, Sink: w.face.sink, Asker: w.face.asker,
		System: prompt.String(), Skills: skill.Set{Gate: w.gate, Skills: found.Skills}, Definitions: prompt.Agents,
		Effort: string(w.set.Effort), MaxRounds: w.o.maxRounds, CompactAt: float64(w.set.CompactAt),
	})
	return nil
}

// prompt is the system prompt: anchor's own or the user's, and what is added to it.
func (w *work) prompt(found skill.Found) (p agent.Prompt, err error) {
	if w.o.system != "" {
		p.Base, err = userText("--system-prompt", w.o.system)
	}
	_, none := os.Lstat(filepath.Join(w.gate.ProjectDirs()[0], ".git"))
	p.Dir, p.Git, p.Platform, p.Date = w.dir, none == nil, runtime.GOOS+"/"+runtime.GOARCH, time.Now().Format(time.DateOnly)
	p.Instructions, p.Skills, p.Extra = found.Instructions, skill.Listing(found.Skills), w.o.appendSystem
	for _, a := range found.Agents {
		p.Agents = append(p.Agents, agent.Definition{Name: a.Name, Description: a.Description, Prompt: a.Prompt, Model: a.Model, Tools: a.Tools})
	}
	return p, err
}

// openSession makes the session file, or takes up an old one. A new one that can't be written is no reason to stop.
func (w *work) openSession() error {
	if w.o.noSession && (w.o.goOn || w.o.resume) {
		return usagef("--no-session keeps no session, so there is none to go on with: leave it out, or -c and -r")
	}
	if w.o.noSession || w.dirs.State == "" {
		return nil
	}
	w.store = session.NewStore(w.dirs.State, w.gate.Mask)
	id, err := w.oldSession()
	if err != nil {
		return sessionError(id, err)
	}
	if id == "" {
		if w.log, err = w.store.Create(w.dir, w.model.Name, version()); err != nil {
			w.log = nil
			w.notices = append(w.notices, fmt.Sprintf("the session is not saved: %v", err))
		}
		return nil
	}
	if w.log, w.past, err = w.store.Open(id, w.dir); err != nil {
		return sessionError(id, err)
	}
	w.notices = append(w.notices, w.past.Notices...)
	var seen []gate.Seen
	for _, e := range w.past.Entries {
		if s, ok := e.(session.Seen); ok {
			seen = append(seen, gate.Seen(s))
		}
	}
	w.gate.Restore(seen)
	return nil
}

// oldSession returns the id of the session to go on with, "" for a new one.
func (w *work) oldSession() (id string, err error) {
	if !w.o.goOn && !w.o.resume {
		return "", nil
	}
	if id = w.o.id; id == "" && w.o.resume && w.atTerminal() {
		if id, err = w.pick(); id == "" {
			return "", err
		}
	} else if id == "" {
		id, err = w.store.Newest(w.dir)
		if errors.Is(err, session.ErrNoSession) && w.face.person {
			return "", nil
		}
	}
	if err == nil && !session.ValidID(id) {
		return "", usagef("%q is no session id; anchor sessions lists them", id)
	}
	if err != nil || !w.o.fork {
		return id, err
	}
	copied, err := w.store.Fork(id, w.dir)
	return cmp.Or(copied, id), err
}

// sessionError adds to an error of the store what the user can do.
func sessionError(id string, err error) error {
	switch {
	case errors.Is(err, session.ErrNoSession) && id == "":
		return usagef("no session of this directory to go on with; start one without -c and -r")
	case errors.Is(err, session.ErrNoSession):
		return usagef("no session %s; anchor sessions lists them", id)
	case errors.Is(err, session.ErrLocked):
		return fmt.Errorf("the session %s is open in another process; end that one, or add --fork to go on in a copy", id)
	}
	return err
}

// record keeps what the gate tells in the session. A failure does not stop the work: the agent tells of a session that can't be
// written, once.
func (w *work) record(r gate.Record) error {
	if w.log == nil {
		return nil
	}
	switch r := r.(type) {
	case gate.Change:
		_ = w.log.Append(session.Change(r))
	case gate.Seen:
		_ = w.log.Append(session.Seen(r))
	}
	return nil
}

// turn does the whole work for one input: a turn, or with --until turns and checks.
func (w *work) turn(ctx context.Context, text string) {
	w.input(ctx, agent.Input{Text: text})
}

func (w *work) input(ctx context.Context, in agent.Input) {
	w.agent.Work(ctx, in, agent.Until{Command: w.o.until, Rounds: w.o.untilRounds, Protect: w.o.protect})
}

// id is the session's id, empty if it is not saved.
func (w *work) id() string {
	if w.log == nil {
		return ""
	}
	return w.log.ID()
}
