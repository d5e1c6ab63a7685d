package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"anchor/internal/event"
	"anchor/internal/front/print"
	"anchor/internal/front/repl"
	"anchor/internal/gate"
	"anchor/internal/home"
	"anchor/internal/msg"
)

// maxHistory bounds what is read of what was entered, in bytes.
const maxHistory = 1 << 20

// sitting is a session of a person's: the work, and what the person's commands keep beside it.
type sitting struct {
	*work
	lines   bool       // it goes by plain lines
	busy    sync.Mutex // held by a turn, and by commands that can't run beside one
	stuck   int        // of /undo: how many turns had changes when nothing of the newest could be taken back
	mu      sync.Mutex // guards what is below, and work.model
	pending string     // what the user's own commands gave, for the next message
	until   string     // the check of the messages to come
	usage   event.Usage
	cost    float64 // in dollars, of what has a price
	turns   int
}

// interactive is a session of a person's: in a terminal, or by lines where there is none that can move its cursor.
func interactive(ctx context.Context, sh shell, o *options) error {
	s := &sitting{until: o.until}
	if !term.IsTerminal(sh.in.Fd()) || !term.IsTerminal(sh.out.Fd()) || sh.getenv("TERM") == "dumb" {
		return s.byLines(ctx, sh, o)
	}
	front := repl.New()
	sink := event.Serial(func(e event.Event) { s.count(e); front.Event(e) })
	return converse(ctx, sh, o, face{sink: sink, approver: front, asker: front, person: true}, func(w *work) error {
		s.work = w
		return front.Run(ctx, repl.Options{
			Past: s.recap(),
			In:   sh.in, Out: sh.out, Env: sh.env, NoColor: sh.getenv("NO_COLOR") != "", Verbose: o.verbose, Bell: w.set.Bell, HasShell: hasShell(),
			Turn: s.turn, Queue: s.queue, Withdraw: func() string { return s.agent.Withdraw() }, Shell: s.shell, Commands: s.commands(), Command: s.command, Files: s.files, Edit: s.edit,
			History: s.history(), Remember: s.remember, Status: s.status,
		}, strings.Join(o.args, " "))
	})
}

// byLines is an interactive session by plain lines. What is typed may be a command; what comes through a pipe is text.
func (s *sitting) byLines(ctx context.Context, sh shell, o *options) error {
	typed := term.IsTerminal(sh.in.Fd())
	s.lines = true
	m := print.NewLineMode(sh.in, sh.out, o.verbose, typed)
	sink := func(e event.Event) { s.count(e); m.Event(e) }
	return converse(ctx, sh, o, face{sink: sink, approver: m, asker: m, person: true}, func(w *work) error {
		s.work = w
		fmt.Fprintf(sh.out, "anchor in %s with %s; /exit or the end of input leaves\n%s", s.shown(w.dir), w.model.Name, event.Visible(s.recap()))
		return m.Run(ctx, strings.Join(o.args, " "), func(ctx context.Context, text string) {
			sh.signals.during(ctx, func(ctx context.Context) {
				if typed && strings.HasPrefix(text, "/") {
					out, prompt, err := s.command(ctx, text)
					if err != nil {
						out = strings.TrimPrefix(out+"\n"+err.Error(), "\n")
					}
					if text = prompt; out != "" {
						fmt.Fprintln(sh.out, event.Visible(out))
					}
				}
				if text != "" {
					s.turn(ctx, repl.Message{Text: text})
				}
			})
		})
	})
}

// atTerminal says whether a person sits at a terminal, which no front has taken yet.
func (w *work) atTerminal() bool {
	return w.face.person && term.IsTerminal(w.sh.in.Fd()) && term.IsTerminal(w.sh.out.Fd())
}

// offer asks a person who has no model set whether to use one that a local server has, and keeps it.
func (w *work) offer(name string) bool {
	if !w.atTerminal() {
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

// pick asks a person which session to go on with; empty stands for a new one.
func (w *work) pick() (string, error) {
	list, err := w.store.List(w.dir)
	if list = list[:min(len(list), maxListed)]; err != nil || len(list) == 0 {
		return "", err
	}
	for i, s := range list {
		fmt.Fprintf(w.sh.out, "%3d  %s  %s  %s\n", i+1, s.ID, age(time.Since(s.Time)), event.Visible(s.Prompt))
	}
	fmt.Fprint(w.sh.out, "Go on with which? [1] ")
	n, answer := 1, ""
	_, _ = fmt.Fscanln(w.sh.in, &answer) // nothing is the first, the end of input too
	if answer != "" {
		n, err = strconv.Atoi(answer)
	}
	if err != nil || n < 1 || n > len(list) {
		return "", usagef("%q is no number of the list", answer)
	}
	return list[n-1].ID, nil
}

// noModel tells the ways to a model: a script in a line, a person with the commands to type.
func (w *work) noModel() error {
	if !w.atTerminal() {
		return usagef("no model to use: %s", gettingStarted)
	}
	return usagef(`no model is set up yet. One of these is enough:

  export ANTHROPIC_API_KEY=…
      a key of yours; or OPENAI_API_KEY, OPENROUTER_API_KEY, GEMINI_API_KEY, …
  ollama serve &
      a server on this machine, LM Studio, llama.cpp or vLLM too;
      the next start offers what it has
  anchor demo
      first a look at how it works, without a key

Then type anchor again. anchor doctor says what is missing.`)
}

func (s *sitting) count(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) {
	case event.Usage:
		s.usage = s.usage.Add(e)
		p := s.model.Info
		s.cost += (float64(e.Input-e.Cached)*p.InPrice + float64(e.Cached)*p.CachedIn + float64(e.Output)*p.OutPrice) / 1e6
	case event.TurnEnd:
		s.turns++
	}
}

// status is what the last line shows of the session.
func (s *sitting) status() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []string{s.model.Name}
	if s.usage.Input+s.usage.Output > 0 {
		out = append(out, short(s.usage.Input)+" in, "+short(s.usage.Output)+" out")
	}
	if s.cost > 0 {
		out = append(out, fmt.Sprintf("$%.2f", s.cost))
	}
	return append(out, s.shown(s.dir))
}

// short writes a count of tokens.
func short(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// turn does the work for a message and what came before it.
func (s *sitting) turn(ctx context.Context, m repl.Message) {
	s.busy.Lock()
	defer s.busy.Unlock()
	in := s.attached(ctx, m)
	s.mu.Lock()
	in.Text, s.pending = s.pending+in.Text, ""
	s.o.until = s.until
	s.mu.Unlock()
	s.input(ctx, in)
}

func (s *sitting) queue(m repl.Message) bool {
	return s.agent.Queue(s.attached(context.Background(), m))
}

// attached is a message with the images among its files. Other files stay names: the model reads what it needs.
func (s *sitting) attached(ctx context.Context, m repl.Message) msg.User {
	kinds := map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
	in := msg.User{Text: m.Text}
	for _, name := range m.Files {
		kind := kinds[strings.ToLower(filepath.Ext(name))]
		if kind == "" {
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

// files lists the paths below the directory; what can't be read is left out. A directory ends with a slash.
func (s *sitting) files(ctx context.Context) (out []string) {
	_, _ = s.gate.Walk(ctx, ".", gate.WalkOptions{}, func(e gate.Entry) error {
		out = append(out, e.Name+strings.Repeat("/", int(e.Type&fs.ModeDir/fs.ModeDir)))
		return nil
	})
	return out
}

// edit lets the user change a text in their own editor. Meanwhile Ctrl-C is the editor's.
func (s *sitting) edit(ctx context.Context, text string) (string, error) {
	s.sh.signals.deaf.Store(math.MaxInt64)
	defer func() { s.sh.signals.deaf.Store(time.Now().Add(time.Second).UnixNano()) }() // the signal that ended the editor may be heard late
	editor := cmp.Or(s.sh.getenv("VISUAL"), s.sh.getenv("EDITOR"), "vi")
	return home.Edit(ctx, editor, text, s.sh.env, s.sh.in, s.sh.out)
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
