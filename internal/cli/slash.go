package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anchor/internal/config"
	"anchor/internal/diff"
	"anchor/internal/event"
	"anchor/internal/front/repl"
	"anchor/internal/gate"
	"anchor/internal/home"
	"anchor/internal/model"
	"anchor/internal/msg"
	"anchor/internal/policy"
	"anchor/internal/session"
	"anchor/internal/skill"
)

// slash is a command that a person may enter behind a slash.
type slash struct {
	repl.Command
	run func(ctx context.Context, args string) (string, error)
}

func (s *sitting) slashes() []slash {
	of := func(name, args, help string, run func(context.Context, string) (string, error)) slash {
		return slash{repl.Command{Name: name, Args: args, Help: help}, run}
	}
	return []slash{
		of("help", "", "this list", s.help),
		of("model", "[NAME]", "go on with another model; without a NAME, list", s.chooseModel),
		of("until", "[CMD|off]", "from the next message on, work until CMD exits 0", s.setUntil),
		of("compact", "[FOCUS]", "summarize what was said so far", s.alone(s.compact)),
		of("clear", "", "begin a new session", s.alone(s.clear)),
		of("resume", "[ID]", "go on with an older session; without an ID, list", s.alone(s.resume)),
		of("undo", "", "take back the last turn's file changes", s.alone(s.undo)),
		of("diff", "", "what the session changed in files", s.diff),
		of("allow", "[RULE [--save]]", "allow what RULE covers; with --save from now on", s.allow),
		of("mcp", "", "the MCP servers and how they are", s.mcpStates),
		of("skills", "", "the skills; /NAME uses one", s.skills),
		of("agents", "", "the sub-agents that are defined", s.agents),
		of("usage", "", "tokens used so far", s.showUsage),
		of("export", "[FILE]", "write the session as a web page", s.export),
		of("exit", "", "leave", func(context.Context, string) (string, error) { return "", nil }), // the front does it
	}
}

func (s *sitting) commands() (out []repl.Command) {
	for _, c := range s.slashes() {
		out = append(out, c.Command)
	}
	return out
}

// command runs what a person entered behind a slash: a command, or a skill, which gives a prompt for the model.
func (s *sitting) command(ctx context.Context, line string) (text, prompt string, err error) {
	name, args, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	all := s.slashes()
	if i := slices.IndexFunc(all, func(c slash) bool { return c.Name == name }); i >= 0 {
		text, err = all[i].run(ctx, strings.TrimSpace(args))
		return text, "", err
	}
	found, err := s.find(ctx)
	if err == nil && slices.ContainsFunc(found.Skills, func(k skill.Skill) bool { return k.Name == name }) {
		prompt, err = skill.Set{Gate: s.gate, Skills: found.Skills}.Use(ctx, name, args)
		return "", prompt, err
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	near := cmp.Or(model.Nearest(name, names, 0), "help")
	return "", "", cmp.Or(err, fmt.Errorf("no command /%s; did you mean /%s? /help lists them", name, near))
}

// help lists the commands, and the keys where there are any.
func (s *sitting) help(context.Context, string) (string, error) {
	var rows [][]string
	for _, c := range s.slashes() {
		rows = append(rows, []string{strings.TrimSpace("/" + c.Name + " " + c.Args), c.Help})
	}
	if !s.lines {
		rows = append(rows, []string{"!COMMAND, @FILE", "run a command of yours, name a file"}, []string{"Alt-Enter, Ctrl-J", "a new line; a backslash at the end too"},
			[]string{"Ctrl-R, Ctrl-G", "look for an earlier entry; write in your editor"}, []string{"Esc, Ctrl-C", "cancel what runs"}, []string{"Ctrl-D", "leave"})
	}
	return listed(rows, "")
}

// alone makes a command wait for no turn: beside one it is refused.
func (s *sitting) alone(run func(context.Context, string) (string, error)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, args string) (string, error) {
		if !s.busy.TryLock() {
			return "", errors.New("a turn is running; wait for its end, or cancel it with Esc")
		}
		defer s.busy.Unlock()
		return run(ctx, args)
	}
}

// listed is a table as text.
func listed(rows [][]string, none string) (string, error) {
	if len(rows) == 0 {
		return none, nil
	}
	var b bytes.Buffer
	err := table(&b, rows)
	return strings.TrimRight(b.String(), "\n"), err
}

func (s *sitting) modelName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model.Name
}

func (s *sitting) chooseModel(ctx context.Context, name string) (string, error) {
	if name == "" {
		out := "now: " + s.modelName()
		for _, l := range s.listAll(ctx, func(p config.Provider) bool { return p.Usable(s.sh.getenv) }) {
			for _, m := range l.models[:min(len(l.models), 20)] {
				out += "\n" + l.Name + "/" + m.ID
			}
		}
		return out, nil
	}
	m, err := s.work.resolve(name)
	if err != nil {
		return "", err
	}
	s.notices = nil
	s.measure(ctx, &m)
	s.agent.SetModel(m)
	s.mu.Lock()
	s.model = m
	s.mu.Unlock()
	return strings.Join(append(s.notices, "going on with "+m.Name), "\n"), nil
}

func (s *sitting) setUntil(_ context.Context, command string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch command {
	case "":
		return cmp.Or(s.until, "no check is set"), nil
	case "off":
		s.until = ""
		return "no check any more", nil
	}
	s.until = command
	return "from the next message on: until " + command, nil
}

func (s *sitting) compact(ctx context.Context, focus string) (string, error) {
	return "", s.agent.Compact(ctx, focus)
}

func (s *sitting) clear(ctx context.Context, _ string) (string, error) {
	return "a new session has begun", s.restart(ctx, "")
}

// maxListed is how many sessions a person is shown to choose from.
const maxListed = 15

func (s *sitting) resume(ctx context.Context, id string) (string, error) {
	if s.dirs.State == "" {
		return "", errors.New("there are no sessions without a home directory")
	}
	if id == "" {
		list, err := session.NewStore(s.dirs.State, s.gate.Mask).List(s.dir)
		var rows [][]string
		for _, i := range list[:min(len(list), maxListed)] {
			rows = append(rows, []string{i.ID, age(time.Since(i.Time)), i.Prompt})
		}
		text, bad := listed(rows, "no sessions of this directory yet")
		return text, cmp.Or(err, bad)
	}
	if err := s.restart(ctx, id); err != nil {
		return "", err
	}
	return strings.TrimSuffix(s.recap(), "\n"), nil
}

// recap takes over what is known of the session's past, and returns its last words.
func (s *sitting) recap() string {
	if s.past == nil {
		return ""
	}
	var said, answer string
	for _, v := range s.past.View {
		switch m := v.Message.(type) {
		case *msg.User:
			said, answer = m.Text, ""
		case *msg.Assistant:
			answer = cmp.Or(m.Text(), answer)
		}
	}
	s.mu.Lock()
	s.usage = s.past.Usage
	s.mu.Unlock()
	return fmt.Sprintf("going on with %s; anchor sessions show %[1]s shows the whole\n> %s\n%s\n", s.log.ID(), start(said, 5), start(answer, 20))
}

// start returns the first lines of a text.
func start(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	if len(all) > lines {
		all = append(all[:lines], "…")
	}
	return strings.Join(all, "\n")
}

// restart goes on in another session: an old one, or with an empty id a new one. If it can't, all stays as it was.
func (s *sitting) restart(ctx context.Context, id string) error {
	w := s.work
	log, past, agent := w.log, w.past, w.agent
	w.log, w.past, w.notices = nil, nil, nil
	w.o.goOn, w.o.fork, w.o.resume, w.o.id = false, false, id != "", id
	if err := w.begin(ctx); err != nil {
		w.log, w.past, w.agent = log, past, agent
		return err
	}
	if log != nil {
		_ = log.Close() // its lines are on disk already
	}
	for _, n := range w.notices {
		w.face.sink(event.Notice{Message: n})
	}
	s.mu.Lock()
	s.usage, s.cost, s.turns, s.pending, s.stuck = event.Usage{}, 0, 0, "", 0
	s.mu.Unlock()
	return nil
}

// changes are the session's file changes, turn by turn, without those that were taken back.
func (s *sitting) changes() (turns [][]gate.Change, err error) {
	if s.log == nil {
		return nil, errors.New("the session is not saved, so its changes are not known; git diff may tell them")
	}
	past, err := s.store.Load(s.log.ID())
	if err != nil {
		return nil, err
	}
	var turn []gate.Change
	for _, e := range append(past.Entries, session.Turn{}) {
		switch e := e.(type) {
		case session.Change:
			turn = append(turn, gate.Change(e))
		case session.Turn:
			if len(turn) > 0 {
				turns, turn = append(turns, turn), nil
			}
		case session.Undone:
			turns = turns[:max(0, len(turns)-1)]
		}
	}
	return turns, nil
}

// undo takes the newest turn's changes back. A turn of which none can be taken back is told; if it still can't be the next time, it is
// passed over, so that it doesn't hold back the older ones.
func (s *sitting) undo(ctx context.Context, _ string) (string, error) {
	turns, err := s.changes()
	if err != nil || len(turns) == 0 {
		return "no file changes to take back", err
	}
	undone, refused := s.gate.Undo(ctx, turns[len(turns)-1])
	if len(undone) == 0 && s.stuck != len(turns) {
		s.stuck = len(turns)
		return "", errors.Join(append(refused, errors.New("mend that by hand, or /undo again goes on to the turn before"))...)
	}
	err = s.log.Append(session.Undone{Paths: undone})
	if len(undone) == 0 {
		if err != nil {
			return "", err
		}
		return s.undo(ctx, "")
	}
	s.mu.Lock()
	s.pending += "The user took back your last changes to: " + strings.Join(undone, ", ") + "\n\n"
	s.mu.Unlock()
	return "taken back: " + strings.Join(undone, "\ntaken back: "), errors.Join(refused...)
}

// diff shows each changed file against what it was before the session, as far as its changes can be followed back.
func (s *sitting) diff(ctx context.Context, _ string) (string, error) {
	turns, err := s.changes()
	if err != nil || len(turns) == 0 {
		return "no file was changed", err
	}
	var out []string
	all := slices.Concat(turns...)
	for i, c := range all {
		if !slices.ContainsFunc(all[:i], func(o gate.Change) bool { return o.Path == c.Path }) {
			out = append(out, s.since(ctx, c.Path, all[i:]))
		}
	}
	return strings.Join(out, "\n"), nil
}

func (s *sitting) since(ctx context.Context, path string, changes []gate.Change) string {
	f, err := s.gate.Read(ctx, path, 0)
	now := []byte(s.gate.Mask(string(f.Data)))
	if errors.Is(err, fs.ErrNotExist) {
		now, err = nil, nil
	}
	old := now
	for _, c := range slices.Backward(changes) {
		if c.Path != path || err != nil {
			continue
		}
		if c.Lossy {
			err = errors.New("a change held a secret or was no text")
		} else {
			old, err = diff.Apply(old, c.Reverse)
		}
	}
	if err != nil {
		return path + ": changed, but not shown (" + err.Error() + ")"
	}
	return "--- " + path + "\n+++ " + path + "\n" + strings.TrimRight(diff.Unified(old, now), "\n")
}

// allow adds a rule for the session, and with --save to the user's settings for this directory.
func (s *sitting) allow(_ context.Context, args string) (string, error) {
	text, save := strings.CutSuffix(" "+args, " --save")
	if text = strings.TrimSpace(text); text == "" {
		var out []string
		for _, r := range s.set.Allow {
			out = append(out, r.Text+"  ("+r.Source+")")
		}
		return cmp.Or(strings.Join(out, "\n"), "no rules; /allow shell:go test allows go test …"), nil
	}
	rule, err := policy.ParseRule(text)
	if err != nil {
		return "", err
	}
	s.gate.Allow(rule)
	if !save {
		return "allowed until the session ends: " + rule.String(), nil
	}
	rules := append(slices.Clone(s.set.Directories[s.dir].Allow), rule.String())
	if err := s.keep([]string{"directories", s.dir, "allow"}, rules); err != nil {
		return "", err
	}
	if s.set.Directories == nil {
		s.set.Directories = map[string]config.Directory{}
	}
	s.set.Directories[s.dir] = config.Directory{Allow: rules}
	return "allowed in this directory from now on: " + rule.String() + ", kept in " + s.shown(s.userFile()), nil
}

// keep changes one value of the user's settings.
func (w *work) keep(path []string, value any) error {
	if w.dirs.Config == "" {
		return errors.New("there are no settings without a home directory")
	}
	data, err := home.Read(w.userFile(), maxSettings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(w.userFile(), err)
	}
	if data, err = config.Edit(w.userFile(), data, path, value); err != nil {
		return err
	}
	return home.Write(w.userFile(), data)
}

func (s *sitting) mcpStates(context.Context, string) (string, error) {
	var rows [][]string
	if s.servers != nil {
		for _, st := range s.servers.States() {
			rows = append(rows, []string{st.Name, st.Status, fmt.Sprint(len(st.Tools), " tools"), st.Error})
		}
	}
	return listed(rows, "no MCP servers; anchor mcp add adds one")
}

func (s *sitting) skills(ctx context.Context, _ string) (string, error) {
	found, err := s.find(ctx)
	var rows [][]string
	for _, k := range found.Skills {
		rows = append(rows, []string{"/" + k.Name, k.Description, s.shown(k.File)})
	}
	return s.withFaults(rows, "no skills; docs/skills.md says where they are looked for", found.Notices, "/SKILL.md", err)
}

func (s *sitting) agents(ctx context.Context, _ string) (string, error) {
	found, err := s.find(ctx)
	var rows [][]string
	for _, a := range found.Agents {
		rows = append(rows, []string{a.Name, a.Description, s.shown(a.File)})
	}
	return s.withFaults(rows, "no sub-agents are defined; the model may still start plain ones", found.Notices, "/agents/", err)
}

// withFaults lists rows, and what is wrong with the files that have where in their path.
func (s *sitting) withFaults(rows [][]string, none string, notices []string, where string, err error) (string, error) {
	text, bad := listed(rows, none)
	for _, n := range notices {
		if file, _, _ := strings.Cut(n, ": "); strings.Contains(file, where) {
			text += "\nleft out: " + s.shown(n)
		}
	}
	return text, cmp.Or(err, bad)
}

func (s *sitting) showUsage(context.Context, string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf("turns: %d; tokens: %d in (%d of them from the cache), %d out", s.turns, s.usage.Input, s.usage.Cached, s.usage.Output)
	if s.cost > 0 {
		text += fmt.Sprintf("; about $%.2f by the list price", s.cost)
	}
	return text, nil
}

func (s *sitting) export(_ context.Context, file string) (string, error) {
	if s.log == nil {
		return "", errors.New("the session is not saved, so it can't be exported")
	}
	past, err := s.store.Load(s.log.ID())
	if err != nil {
		return "", err
	}
	if file = cmp.Or(file, "anchor-"+s.log.ID()+".html"); !filepath.IsAbs(file) {
		file = filepath.Join(s.dir, file)
	}
	out, err := home.Create(file)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s exists already; name another file", s.shown(file))
	} else if err != nil {
		return "", err
	}
	return "written: " + s.shown(file), errors.Join(session.Export(out, past), out.Close())
}
