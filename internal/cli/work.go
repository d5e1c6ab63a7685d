package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"anchor/internal/agent"
	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/session"
	"anchor/internal/tool"
	"anchor/internal/tools"
)

// face is what a front gives to a session: where events go, who is asked. Without an approver what would ask is refused.
type face struct {
	sink     event.Sink
	approver gate.Approver
	asker    tool.Asker
	person   bool // a person sits there, so that a choice may be left to them
}

// work is a session that is being put together, in this order: settings, gate, model, session file, agent.
type work struct {
	*setup
	face  face
	gate  *gate.Gate
	model agent.Model
	store session.Store
	log   *session.Log // nil: not saved
	past  *session.Past
	agent *agent.Agent

	closed sync.Once
}

// begin reads the settings and makes the gate: what is needed to look at the prompt. Nothing is written yet.
func begin(ctx context.Context, sh shell, o *options, f face) (*work, error) {
	b, err := prepare(ctx, sh, o)
	if err != nil {
		return nil, err
	}
	w := &work{setup: b, face: f}
	w.gate, err = b.newGate(gate.Options{Approver: f.approver, Sink: f.sink, Record: w.record})
	if err != nil {
		return nil, err
	}
	w.gate.Protect(o.protect)
	return w, nil
}

// prompt returns the prompt of a headless run.
func (w *work) prompt(ctx context.Context) (string, error) {
	text, notice, err := prompt(ctx, w.o.prompt, w.sh.in, w.gate.Mask)
	if notice != "" {
		w.notices = append(w.notices, notice)
	}
	return text, err
}

// open finds the model, opens the session file, makes the agent, and tells what is worth telling.
func (w *work) open(ctx context.Context) error {
	var err error
	if w.model, err = w.choose(ctx, w.keys(w.gate)); err != nil {
		return err
	}
	if err := w.openSession(); err != nil {
		return err
	}
	system, err := w.system()
	if err != nil {
		return err
	}
	w.agent = agent.New(agent.Options{
		Model:   w.model,
		Resolve: func(name string) (agent.Model, error) { return w.resolve(name, w.keys(w.gate)) },
		// Skills and servers plug in here: more tools, definitions and a longer system prompt.
		Tools:     tools.All(true, w.face.asker != nil, false),
		Gate:      w.gate,
		Log:       w.log,
		Past:      w.past,
		Sink:      w.face.sink,
		System:    system,
		Effort:    string(w.set.Effort),
		MaxRounds: w.o.maxRounds,
		CompactAt: float64(w.set.CompactAt),
		Asker:     w.face.asker,
	})
	w.tell()
	return nil
}

// openSession makes the session file, or takes up an old one. A new one that can't be written is no reason to stop.
func (w *work) openSession() error {
	if w.o.noSession || w.dirs.State == "" {
		return nil
	}
	w.store = session.NewStore(w.dirs.State, w.gate.Mask)
	id, err := w.oldSession()
	if err != nil {
		return err
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
			seen = append(seen, gate.Seen{Path: s.Path, Sum: s.Sum})
		}
	}
	w.gate.Restore(seen)
	return nil
}

// oldSession returns the id of the session to go on with, "" for a new one.
func (w *work) oldSession() (string, error) {
	if !w.o.goOn && !w.o.resume {
		return "", nil
	}
	id := w.o.id
	if id == "" {
		var err error
		id, err = w.store.Newest(w.dir, false)
		if errors.Is(err, session.ErrNoSession) && w.face.person {
			return "", nil
		}
		if err != nil {
			return "", sessionError("", err)
		}
	}
	if !session.ValidID(id) {
		return "", usagef("%q is no session id; anchor sessions lists them", id)
	}
	if w.o.fork {
		copied, err := w.store.Fork(id)
		if err != nil {
			return "", sessionError(id, err)
		}
		id = copied
	}
	return id, nil
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

// record keeps what the gate tells in the session. A failure does not stop the work.
func (w *work) record(r gate.Record) error {
	if w.log == nil {
		return nil
	}
	var err error
	switch r := r.(type) {
	case gate.Change:
		err = w.log.Append(session.Change{Path: r.Path, Created: r.Created, Deleted: r.Deleted, Mode: uint32(r.Mode), Reverse: r.Reverse, After: r.After, Lossy: r.Lossy})
	case gate.Seen:
		err = w.log.Append(session.Seen{Path: r.Path, Sum: r.Sum})
	}
	_ = err // the agent tells of a session that can't be written, once; it does not stop the work
	return nil
}

// system is the system prompt: anchor's own or the user's, and what is added to it.
func (w *work) system() (string, error) {
	p := agent.Prompt{Extra: w.o.appendSystem, Dir: w.dir, Platform: runtime.GOOS + "/" + runtime.GOARCH, Date: time.Now().Format(time.DateOnly), Git: w.git}
	if w.o.system != "" {
		var err error
		if p.Base, err = userText("--system-prompt", w.o.system); err != nil {
			return "", err
		}
	}
	return p.String(), nil
}

// tell emits what was found on the way.
func (w *work) tell() {
	w.face.sink(event.Start{Session: w.id(), Model: w.model.Name, Directory: w.dir, Version: version()})
	if w.o.verbose {
		w.notices = append(w.notices, "commands that run unasked: "+gate.Confinement())
	}
	for _, n := range w.notices {
		w.face.sink(event.Notice{Message: n})
	}
}

// turn does the whole work for one input: a turn, or with --until turns and checks.
func (w *work) turn(ctx context.Context, text string) {
	in := agent.Input{Text: text}
	if w.o.until != "" {
		w.agent.Work(ctx, in, agent.Until{Command: w.o.until, Rounds: w.o.untilRounds, Protect: w.o.protect})
		return
	}
	w.agent.Turn(ctx, in)
}

// id is the session's id, empty if it is not saved.
func (w *work) id() string {
	if w.log == nil {
		return ""
	}
	return w.log.ID()
}

// close ends processes and the session file, in this order. It may be called twice.
func (w *work) close() {
	w.closed.Do(func() {
		w.gate.Close()
		if w.log != nil {
			_ = w.log.Close() // its lines are on disk already
		}
	})
}
