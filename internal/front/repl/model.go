package repl

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"anchor/internal/event"
)

// twice is how soon a second Ctrl-C must come to leave.
const twice = 1500 * time.Millisecond

// model is the state of the program. Only the program's loop touches it, but for work, which counts the goroutines it started.
type model struct {
	ctx     context.Context
	o       Options
	program *tea.Program
	ready   func() // hands over what came before; called once the size is known
	work    sync.WaitGroup

	width, height int
	printer       printer
	printing      bool // a print is on its way
	leaving       bool
	away          bool // another program has the terminal

	input   input
	dialogs []*dialog
	since   time.Time // when a key came last, or the dialog changed
	awake   bool      // a key came calmly since the dialog opened: it is meant

	cancel    context.CancelFunc // of what runs, or nil
	began     time.Time
	frame     int
	interrupt time.Time // the last Ctrl-C
	hint      string
	waiting   []message // for when what runs has ended
	used      event.Context
}

// message is one that waits. One that is quiet was shown in another form.
type message struct {
	Message
	quiet bool
}

func newModel(ctx context.Context, o Options, first string) *model {
	m := &model{ctx: ctx, o: o, input: input{history: slices.Clone(o.History)}}
	m.printer = printer{style: style{o.NoColor}, verbose: o.Verbose, agents: map[string]string{}, began: map[string]time.Time{}}
	if strings.TrimSpace(first) != "" {
		m.waiting = []message{{Message: Message{Text: first}}}
	}
	return m
}

func (m *model) Init() tea.Cmd { return nil }

// Update takes a message. All that it printed goes out behind it.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg)
	if m.leaving && !m.printing && len(m.printer.out) == 0 {
		return m, tea.Quit
	}
	return m, tea.Batch(m.print(), cmd)
}

func (m *model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m.resize(msg)
	case happened:
		m.event(msg.event)
	case asked:
		return m.ask(msg.dialog)
	case withdrawn:
		m.drop(msg.dialog)
	case printed:
		m.printing = false
	case tick:
		return m.spin()
	case done:
		return m.ended(msg)
	case queued:
		return m.handed(msg)
	case walked:
		m.input.files, m.input.walking = msg.files, false
		m.complete()
	case edited:
		m.edited(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return nil
}

func (m *model) resize(size tea.WindowSizeMsg) tea.Cmd {
	start := m.width == 0
	m.width, m.height = max(size.Width-1, 10), max(size.Height, 4) // in the last column, some terminals lose a letter to what erases the rest of a line
	m.printer.width = m.width
	if !start {
		return nil
	}
	m.work.Go(m.ready)
	m.printing = true // what is printed before the first view is drawn would be lost
	if m.o.Past != "" {
		m.printer.say(hang(clean(m.o.Past), m.width, "", ""))
	}
	return tea.Batch(m.next(), tea.Tick(100*time.Millisecond, func(time.Time) tea.Msg { return printed{} }))
}

func (m *model) event(e event.Event) {
	if c, ok := e.(event.Context); ok {
		m.used = c
	}
	m.printer.event(e)
}

// ask opens a dialog; one that comes while another is open waits behind it.
func (m *model) ask(d *dialog) tea.Cmd {
	m.dialogs = append(m.dialogs, d)
	if len(m.dialogs) == 1 {
		m.show()
	}
	return m.bell()
}

func (m *model) bell() tea.Cmd {
	if !m.o.Bell {
		return nil
	}
	return tea.Raw("\a")
}

// show prints what the first dialog is about.
func (m *model) show() {
	m.printer.flush()
	m.printer.say(m.dialogs[0].shown(m.printer.style, m.width))
	m.printer.asked = m.dialogs[0].diff
	m.since, m.awake = time.Now(), false
}

// drop closes a dialog.
func (m *model) drop(d *dialog) {
	i := slices.Index(m.dialogs, d)
	if i < 0 {
		return
	}
	if m.dialogs = slices.Delete(m.dialogs, i, i+1); i == 0 && len(m.dialogs) > 0 {
		m.show()
	}
}

// batch is how many lines are printed at once, and tallest how high the view may be. What is printed is moved in above the view: both
// must have room on the screen, or lines are lost.
func (m *model) batch() int { return max(1, m.height/3) }

func (m *model) tallest() int { return max(2, m.height-m.batch()-1) }

// print sends the next lines on their way.
func (m *model) print() tea.Cmd {
	if m.printing || len(m.printer.out) == 0 {
		return nil
	}
	n := min(len(m.printer.out), m.batch())
	text := strings.Join(m.printer.out[:n], "\n")
	m.printer.out, m.printing = m.printer.out[n:], true
	if text == "" {
		text = " " // nothing would be printed at all
	}
	return tea.Sequence(tea.Println(text), func() tea.Msg { return printed{} })
}

// begin runs f beside the program; what it returns comes back as a message. One thing runs at a time.
func (m *model) begin(f func(ctx context.Context) done) tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	m.cancel, m.began = cancel, time.Now()
	m.beside(func() tea.Msg { defer cancel(); return f(ctx) })
	return m.spin()
}

// beside runs f in a goroutine that Run waits for. A panic gives the terminal back before it ends the process.
func (m *model) beside(f func() tea.Msg) {
	m.work.Go(func() {
		defer func() {
			if fault := recover(); fault != nil {
				_ = m.program.ReleaseTerminal()
				panic(fault)
			}
		}()
		m.program.Send(f())
	})
}

// handed tells of a message that was handed to the turn; one that came too late is the next turn's.
func (m *model) handed(q queued) tea.Cmd {
	if q.taken {
		m.echo(q.Text)
		return nil
	}
	m.waiting = append(m.waiting, message{Message: q.Message})
	return m.next()
}

// ended goes on after a turn or a command.
func (m *model) ended(d done) tea.Cmd {
	if !d.beside {
		m.cancel = nil
		m.printer.flush()
		clear(m.printer.agents)
	}
	if d.say != "" {
		m.printer.say(d.say)
	}
	if d.prompt != "" {
		m.waiting = slices.Insert(m.waiting, 0, message{Message{Text: d.prompt}, true})
	}
	if next := m.next(); next != nil {
		return next
	}
	if time.Since(m.began) > 10*time.Second {
		return m.bell()
	}
	return nil
}

// next starts a turn with the message that waits.
func (m *model) next() tea.Cmd {
	if len(m.waiting) == 0 || m.cancel != nil {
		return nil
	}
	first := m.waiting[0]
	if m.waiting = m.waiting[1:]; !first.quiet {
		m.echo(first.Text)
	}
	return m.begin(func(ctx context.Context) done { m.o.Turn(ctx, first.Message); return done{} })
}

// echo prints what the user said.
func (m *model) echo(text string) {
	m.printer.flush()
	m.printer.say("\n" + wrap(m.printer.style.bold(clean(text)), m.width, "> ", "  "))
}

// spin turns the spinner as long as something runs.
func (m *model) spin() tea.Cmd {
	if m.cancel == nil {
		return nil
	}
	m.frame++
	return tea.Tick(120*time.Millisecond, func(time.Time) tea.Msg { return tick{} })
}
