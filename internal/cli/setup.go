package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"anchor/internal/agent"
	"anchor/internal/config"
	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/home"
	"anchor/internal/mcp"
	"anchor/internal/policy"
	"anchor/internal/provider"
	"anchor/internal/provider/script"
	"anchor/internal/session"
	"anchor/internal/skill"
	"anchor/internal/tool"
)

// maxSettings bounds a settings file, in bytes.
const maxSettings = 1 << 20

// work is what a command works with, and a session that is being put together, in this order: gate and settings, model, session
// file, what the user and the project wrote for the model, agent.
type work struct {
	sh      shell
	o       *options
	face    face
	dirs    home.Dirs // all empty without a home directory
	gate    *gate.Gate
	dir     string // the directory to work in, absolute, links resolved
	set     *config.Settings
	notices []string
	model   agent.Model
	script  *script.Script // the model, if it is one
	http    *http.Client   // of all model servers
	keys    sync.Map       // of these, by the provider's name: a keyCommand may ask its user
	store   session.Store
	log     *session.Log // nil: not saved
	past    *session.Past
	agent   *agent.Agent
	servers *mcp.Set // nil: none are run
	lent    *mcp.Set // those that an editor gave; nil: none are run
}

// face is what a front gives to a session: where events go, who is asked. Without an approver what would ask is refused.
type face struct {
	sink     event.Sink
	approver gate.Approver
	asker    tool.Asker
	person   bool // a person sits there, so that a choice may be left to them
}

// prepare makes the gate, reads the settings layer by layer through it, and gives it the rules. Nothing is written yet. Errors
// are for exit code 2.
func prepare(ctx context.Context, sh shell, o *options, f face) (*work, error) {
	w := &work{sh: sh, o: o, face: f, set: config.New(), http: provider.NewHTTP()}
	options := gate.Options{Dir: cmp.Or(o.dir, "."), Env: sh.env, Approver: f.approver, Sink: f.sink, Record: w.record}
	var err error
	if w.dirs, err = home.Find(sh.getenv); err != nil {
		w.notices = append(w.notices, err.Error()+"; settings are not read and the session is not saved")
	} else {
		options.Home, options.OutputDir = w.dirs.Home, filepath.Join(w.dirs.State, "output")
	}
	if w.gate, err = gate.New(options); err != nil {
		return nil, exit{exitUsage, err.Error()}
	}
	if kill := w.gate.Kill; sh.signals != nil {
		sh.signals.kill.Store(&kill)
	}
	w.dir = w.gate.Dir()
	rules, err := w.settings(ctx)
	if err != nil {
		w.gate.Close()
		return nil, err
	}
	w.gate.Configure(rules, w.set.PassEnv)
	w.gate.HideEnv(w.set.KeyVariables())
	if o.protect, err = w.gate.ProtectGlobs(o.protect); err != nil {
		w.gate.Close()
		return nil, usagef("--protect: %v", err)
	}
	w.gate.Protect(o.protect)
	w.notices = append(w.notices, w.set.Notices...)
	return w, nil
}

// close ends servers, processes and the session file, in this order.
func (w *work) close() {
	for _, s := range []*mcp.Set{w.servers, w.lent} {
		if s != nil {
			s.Close()
		}
	}
	w.gate.Close()
	if w.log != nil {
		_ = w.log.Close() // its lines are on disk already
	}
}

// settings lays all layers over each other, and reads the rules in them.
func (w *work) settings(ctx context.Context) (rules policy.Rules, err error) {
	if w.dirs.Config != "" {
		data, err := home.Read(w.userFile(), maxSettings)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return rules, unreadable(w.userFile(), err)
		}
		if err := w.set.User(w.userFile(), data, w.dir); err != nil {
			return rules, err
		}
	}
	project := w.gate.ProjectDirs()
	for _, dir := range project {
		file := filepath.Join(dir, ".anchor", "config.json")
		text, _, err := w.gate.ReadOwn(ctx, project[0], file, maxSettings)
		if errors.Is(err, gate.ErrNoFile) {
			continue
		}
		if err != nil {
			return rules, unreadable(file, err)
		}
		if err := w.set.Project(file, []byte(text), w.sh.getenv); err != nil {
			return rules, err
		}
	}
	if err := w.set.Environment(w.sh.getenv); err != nil {
		return rules, err
	}
	if w.o.model != "" {
		w.set.Model, w.set.From["model"] = config.Name(w.o.model), "--model"
	}
	if w.o.effort != "" {
		w.set.Effort, w.set.From["effort"] = w.o.effort, "--effort"
	}
	rules.Yolo = w.o.yolo
	if rules.Allow, err = parsed(append(w.set.Allow, config.From("--allow", w.o.allow)...)); err != nil {
		return rules, err
	}
	rules.Deny, err = parsed(append(w.set.Deny, config.From("--deny", w.o.deny)...))
	return rules, err
}

func (w *work) userFile() string { return filepath.Join(w.dirs.Config, "config.json") }

// unreadable is the error of a settings file, which its text names once.
func unreadable(file string, err error) error {
	return &config.Error{File: file, Message: "can't be read: " + reason(err)}
}

// reason is an error without the path that the message names already.
func reason(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func parsed(list []config.Sourced) (out []policy.Sourced, err error) {
	for _, r := range list {
		rule, err := policy.ParseRule(r.Text)
		if err != nil {
			return nil, &config.Error{File: r.Source, Message: err.Error()}
		}
		out = append(out, policy.Sourced{Rule: rule, Source: r.Source})
	}
	return out, nil
}

// find looks for skills, sub-agents and instructions. A path in the user's settings counts from their folder, one in a project's
// from the directory that .anchor is in.
func (w *work) find(ctx context.Context) (skill.Found, error) {
	f := skill.Finder{Gate: w.gate, Config: w.dirs.Config, Home: w.dirs.Home}
	for _, i := range w.set.Instructions {
		file := skill.File{Path: i.Text, Dir: filepath.Dir(i.Source)}
		if i.Source != w.userFile() {
			file.Dir, file.Root = filepath.Dir(file.Dir), w.gate.ProjectDirs()[0]
		}
		f.Files = append(f.Files, file)
	}
	return f.Find(ctx)
}

// userText reads a file that a flag names.
func userText(flag, path string) (string, error) {
	data, err := home.Read(path, 4<<20)
	if err != nil {
		return "", usagef("%s: %s can't be read: %s", flag, path, reason(err))
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}
