package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/charmbracelet/x/term"

	"anchor/internal/event"
	"anchor/internal/front/repl"
	"anchor/internal/gate"
	"anchor/internal/home"
	"anchor/internal/msg"
	"anchor/internal/skill"
)

// maxHistory bounds what is read of what was entered, in bytes.
const maxHistory = 1 << 20

// sitting is a session in a terminal: the work, and what the person's commands keep beside it.
type sitting struct {
	*work
	busy    sync.Mutex // held by a turn, and by commands that can't run beside one
	mu      sync.Mutex // guards what is below, and work.model
	pending string     // what the user's own commands gave, for the next message
	until   string     // the check of the messages to come
	usage   event.Usage
	turns   int
}

// interactive is a session of a person's: in a terminal, or by lines where there is none that can move its cursor.
func interactive(ctx context.Context, sh shell, o *options) error {
	if !term.IsTerminal(sh.in.Fd()) || !term.IsTerminal(sh.out.Fd()) || sh.getenv("TERM") == "dumb" {
		return byLines(ctx, sh, o)
	}
	front, s := repl.New(), &sitting{until: o.until}
	sink := event.Serial(func(e event.Event) { s.count(e); front.Event(e) })
	return converse(ctx, sh, o, face{sink: sink, approver: front, asker: front, person: true}, func(w *work) error {
		s.work = w
		return front.Run(ctx, repl.Options{
			In: sh.in, Out: sh.out, Env: sh.env, NoColor: sh.getenv("NO_COLOR") != "", Verbose: o.verbose,
			Turn: s.turn, Queue: s.queue, Shell: s.shell, Commands: s.commands(), Fallback: s.skill, Files: s.files,
			History: s.history(), Remember: s.remember, Dir: s.shown(w.dir), Model: s.modelName,
		}, strings.Join(o.args, " "))
	})
}

// offer asks a person who has no model set whether to use one that a local server has, and keeps it. It comes before anything is drawn.
func (w *work) offer(name string) bool {
	if !w.face.person || !term.IsTerminal(w.sh.in.Fd()) || !term.IsTerminal(w.sh.out.Fd()) {
		return false
	}
	fmt.Fprintf(w.sh.out, "No model is set up yet. A server on this machine has %s.\nUse it from now on? [Y/n] ", event.Visible(name))
	var answer string
	if _, err := fmt.Fscanln(w.sh.in, &answer); errors.Is(err, io.EOF) || !slices.Contains([]string{"", "y", "yes"}, strings.ToLower(answer)) {
		return false
	}
	if err := w.keep([]string{"model"}, name); err != nil {
		w.notices = append(w.notices, "the choice of the model is not kept: "+err.Error())
	}
	return true
}

func (s *sitting) count(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) {
	case event.Usage:
		s.usage = s.usage.Add(e)
	case event.TurnEnd:
		s.turns++
	}
}

// turn does the work for a message and what came before it.
func (s *sitting) turn(ctx context.Context, text string) {
	s.busy.Lock()
	defer s.busy.Unlock()
	in := s.attached(ctx, text)
	s.mu.Lock()
	in.Text, s.pending = s.pending+in.Text, ""
	s.o.until = s.until
	s.mu.Unlock()
	s.input(ctx, in)
}

func (s *sitting) queue(text string) bool {
	return s.agent.Queue(s.attached(context.Background(), text))
}

// attached is a message with the images that it names by @. Other files stay names: the model reads what it needs.
func (s *sitting) attached(ctx context.Context, text string) msg.User {
	kinds := map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
	in := msg.User{Text: text}
	for word := range strings.FieldsSeq(text) {
		name, named := strings.CutPrefix(word, "@")
		kind := kinds[strings.ToLower(filepath.Ext(name))]
		if !named || kind == "" {
			continue
		}
		f, err := s.gate.Read(ctx, name, 5<<20)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // no file is meant
		case err == nil && f.Size > int64(len(f.Data)):
			err = errors.New(name + " is larger than 5 MB")
		}
		if err != nil {
			s.face.sink(event.Notice{Message: "not attached: " + err.Error()})
			continue
		}
		in.Images = append(in.Images, msg.Image{Type: kind, Data: f.Data})
	}
	return in
}

// shell runs a command that the user typed, and keeps its output for the next message.
func (s *sitting) shell(ctx context.Context, command string) (string, error) {
	out, err := s.gate.Exec(ctx, gate.Command{Text: command, ByUser: true})
	if refused := (*gate.Refusal)(nil); errors.As(err, &refused) {
		return "", err
	}
	text := strings.TrimRight(out.Text, "\n")
	switch {
	case err != nil:
		text += "\n(" + err.Error() + ")"
	case out.TimedOut:
		text += "\n(it took too long and was ended)"
	case out.Exit != 0:
		text += fmt.Sprintf("\n(exit code %d)", out.Exit)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending += "I ran this command myself:\n\n" + fenced(s.gate.Mask(command)) + "\n\nIts output:\n\n" + fenced(text) + "\n\n"
	return cmp.Or(strings.TrimPrefix(text, "\n"), "(no output)"), nil
}

// skill turns /NAME into the prompt of a skill.
func (s *sitting) skill(ctx context.Context, name, args string) (string, bool, error) {
	found, err := s.find(ctx)
	if err != nil || !slices.ContainsFunc(found.Skills, func(k skill.Skill) bool { return k.Name == name }) {
		return "", false, err
	}
	text, err := skill.Set{Gate: s.gate, Skills: found.Skills}.Use(ctx, name, args)
	return text, true, err
}

// files lists the paths that hold part, at most 20: those near the top first. A directory ends with a slash.
func (s *sitting) files(ctx context.Context, part string) (out []string) {
	const most = 20
	low, walk := strings.ToLower(part), gate.WalkOptions{}
	if part == "" {
		walk.Depth = 1
	}
	walk.Want = func(e gate.Entry) bool { return strings.Contains(strings.ToLower(filepath.ToSlash(e.Rel))+"/", low) }
	_, _ = s.gate.Walk(ctx, ".", walk, func(e gate.Entry) error { // what can't be read is not offered
		name := e.Name
		if e.Type.IsDir() {
			name += "/"
		}
		out = append(out, name)
		return nil
	})
	begins := func(name string) int { // the best first: the whole path begins so, its last name does, it holds it
		switch low, whole := low, strings.ToLower(name); {
		case strings.HasPrefix(whole, low):
			return 0
		case strings.HasPrefix(filepath.Base(whole), low):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(begins(a), begins(b)), cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")))
	})
	return out[:min(len(out), most)]
}

func (s *sitting) historyFile() string { return filepath.Join(s.dirs.State, "history") }

func (s *sitting) keepsHistory() bool { return s.dirs.State != "" && !s.o.noSession }

// history is what was entered in earlier sessions, one entry a line.
func (s *sitting) history() (out []string) {
	if !s.keepsHistory() {
		return nil
	}
	data, _ := home.Read(s.historyFile(), 64*maxHistory) // none is no fault
	for line := range strings.SplitSeq(strings.TrimSpace(string(data[max(0, len(data)-maxHistory):])), "\n") {
		if line != "" {
			out = append(out, strings.NewReplacer(`\n`, "\n", `\\`, `\`).Replace(line))
		}
	}
	return out
}

// remember keeps an entry, masked. That it can't is no reason to stop.
func (s *sitting) remember(text string) {
	if !s.keepsHistory() {
		return
	}
	f, err := home.Append(s.historyFile())
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s.gate.Mask(text)))
}

// shown is a path as a person reads it.
func (s *sitting) shown(path string) string {
	rest, ok := strings.CutPrefix(path, s.dirs.Home+string(os.PathSeparator))
	if !ok || s.dirs.Home == "" {
		return path
	}
	return filepath.Join("~", rest)
}
