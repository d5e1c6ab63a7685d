// Package repl is the session in a terminal. It draws inline: what is finished is printed above and belongs to the terminal's own
// scrollback; only the unfinished end of the model's text, an open question, the input and the status line are redrawn.
//
// Everything that happens is a message to one bubbletea program, in order: keys, events of the core, questions. Printing is a
// message too, and bubbletea runs each such message in a goroutine of its own; so that lines keep their order only one print is
// on its way at a time, and the others wait in the printer.
package repl

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	tea "charm.land/bubbletea/v2"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

// Options is what the session is made of.
type Options struct {
	In      io.Reader // a terminal
	Out     io.Writer // a terminal
	Env     []string  // "K=V": TERM and what else tells what the terminal can do
	NoColor bool
	Bell    bool   // ring when something is asked, and when a long turn ends
	Past    string // of the session so far, shown first
	// HasShell says that there is a shell to go back to. Without one nobody would ever continue what Ctrl-Z stops.
	HasShell bool
	Verbose  bool // show the model's thinking too

	// Turn does the work for a message; it returns when the turn has ended. Queue hands a message to the running turn; false if none
	// runs. Withdraw takes back what was queued and is not sent yet.
	Turn     func(ctx context.Context, m Message)
	Queue    func(m Message) bool
	Withdraw func() string
	// Shell runs a command of the user's and returns what it gave.
	Shell func(ctx context.Context, command string) (string, error)
	// Command runs what begins with a slash: text is shown, a prompt becomes a message to the model. Commands complete it.
	Command  func(ctx context.Context, line string) (text, prompt string, err error)
	Commands []Command
	// Files lists all paths that an @ may name, directories with a slash at the end.
	Files func(ctx context.Context) []string
	// Edit lets the user change a text in an editor of theirs, which has the terminal meanwhile.
	Edit func(ctx context.Context, text string) (string, error)
	// History is what was entered before, oldest first; Remember keeps an entry.
	History  []string
	Remember func(text string)
	// Status is what is known of the session, the most important first.
	Status func() []string
}

// Command is a slash command, as completion shows it.
type Command struct{ Name, Args, Help string }

// Message is one for the model, with the files that the user named in it by a typed @.
type Message struct {
	Text  string
	Files []string
}

// Terminal is the session's face: a Sink, a gate.Approver and a tool.Asker. Use New; what comes before Run is kept until then.
type Terminal struct {
	mu      sync.Mutex
	early   []tea.Msg // what came before the program ran
	program *tea.Program
	over    chan struct{} // closed when Run is about to return
}

// New returns a terminal that nothing is drawn on yet.
func New() *Terminal { return &Terminal{over: make(chan struct{})} }

// Event draws an event, in order. It may wait for the terminal.
func (t *Terminal) Event(e event.Event) { t.send(happened{e}) }

func (t *Terminal) send(m tea.Msg) {
	t.mu.Lock()
	p := t.program
	if p == nil {
		t.early = append(t.early, m)
	}
	t.mu.Unlock()
	if p != nil {
		p.Send(m) // nothing once the program has ended
	}
}

// Approve shows the action whole and waits for a key; the end of ctx takes the question away.
func (t *Terminal) Approve(ctx context.Context, r gate.Request) (gate.Answer, error) {
	a, err := t.put(ctx, newApproval(r))
	return gate.Answer{Yes: a.key == "y" || a.key == "a", Always: a.key == "a", Reason: a.text}, err
}

// Ask shows the options to choose from; the end of ctx takes the question away.
func (t *Terminal) Ask(ctx context.Context, q tool.Question) (string, bool, error) {
	a, err := t.put(ctx, newPicker(q))
	if n, _ := strconv.Atoi(a.key); n >= 1 && n <= len(q.Options) {
		a.text = q.Options[n-1]
	}
	return a.text, a.text != "", err
}

// put opens a dialog and waits for its answer, at most until nobody sees it any more.
func (t *Terminal) put(ctx context.Context, d *dialog) (reply, error) {
	t.send(asked{d})
	select {
	case a := <-d.answer:
		return a, nil
	case <-ctx.Done():
		t.send(withdrawn{d})
		return reply{}, context.Cause(ctx)
	case <-t.over:
		return reply{}, errors.New("the session has ended")
	}
}

// Run takes the first message, if there is one, and then what the user enters, until they leave (nil) or ctx ends (its cause). When
// it returns, the terminal is as it was and no turn runs any more.
func (t *Terminal) Run(ctx context.Context, o Options, first string) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(inner, o, first)
	p := tea.NewProgram(m, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Env), tea.WithContext(inner), tea.WithoutSignalHandler())
	m.program, m.ready = p, func() { t.start(p) }
	_, err := p.Run()
	stop()
	close(t.over)
	m.work.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// start hands over what came early, and lets later messages go straight to the program.
func (t *Terminal) start(p *tea.Program) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.early {
		p.Send(m)
	}
	t.early, t.program = nil, p
}

// The messages of the program, beside those of bubbletea.
type (
	happened  struct{ event event.Event }
	asked     struct{ dialog *dialog }
	withdrawn struct{ dialog *dialog }
	printed   struct{} // the print on its way is on the screen
	tick      struct{} // the spinner turns
	done      struct { // a turn or a command ended
		say    string // to be shown
		prompt string // to be sent
		beside bool   // it ran beside a turn
	}
	queued struct { // a message for the turn that runs; not taken if that is over
		Message
		taken bool
	}
	walked struct{ files []path } // what an @ may name
	edited struct {               // the user's editor ended
		text string
		err  error
	}
)
