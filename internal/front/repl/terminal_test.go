package repl

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

var update = flag.Bool("update", false, "write the golden files anew")

// screen is a terminal that anchor is drawn on: a real pty with an emulator behind it.
type screen struct {
	t *testing.T
	*Terminal
	master *os.File
	mu     sync.Mutex
	vt     *vt.Emulator
	raw    strings.Builder // all that was written
	stop   context.CancelFunc
	ended  chan error
}

// open starts a session of width columns and 60 rows. o.Turn gets what the user sends.
func open(t *testing.T, width int, o Options, first string) *screen {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pty: ", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 60, Cols: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, Terminal: New(), master: master, vt: vt.NewEmulator(width, 60), ended: make(chan error, 1)}
	go func() { _, _ = io.Copy(master, s.vt) }() // what the terminal answers to questions about it
	go func() {
		p := make([]byte, 8192)
		for {
			n, err := master.Read(p)
			s.mu.Lock()
			_, _ = s.vt.Write(p[:n])
			s.raw.Write(p[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	// Its name is hidden: the library's reader of named files races with its own end.
	o.In, o.Out, o.Env = struct{ term.File }{slave}, slave, append([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}, o.Env...)
	if o.Status == nil {
		o.Status = func() []string { return []string{"model-1", "~/project"} }
	}
	if o.Remember == nil {
		o.Remember = func(string) {}
	}
	if o.Withdraw == nil {
		o.Withdraw = func() string { return "" }
	}
	if o.Files == nil {
		o.Files = func(context.Context) []string { return nil }
	}
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	var run sync.WaitGroup
	run.Go(func() { s.ended <- s.Run(ctx, o, first) })
	t.Cleanup(func() {
		stop()
		run.Wait()                           // it has the terminal until then
		master.Close()                       // the library may still read the other end, and leaves it then; the collector closes that
		s.vt.InputPipe().(io.Closer).Close() // Close itself races with Read
	})
	s.see("model-1")
	return s
}

// text is what the screen shows, without colours and blank ends.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for l := range strings.SplitSeq(ansi.Strip(s.vt.Render()), "\n") {
		out = append(out, strings.TrimRight(l, " \r"))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

func (s *screen) until(what string, ok func(text string) bool) {
	s.t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(s.text()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("not %s:\n%s", what, s.text())
		}
	}
}

func (s *screen) see(want string) {
	s.t.Helper()
	s.until("seen: "+want, func(text string) bool { return strings.Contains(text, want) })
}

func (s *screen) gone(what string) {
	s.t.Helper()
	s.until("gone: "+what, func(text string) bool { return !strings.Contains(text, what) })
}

func (s *screen) keys(text string) {
	if _, err := io.WriteString(s.master, text); err != nil {
		s.t.Fatal(err)
	}
}

// calmly waits until a dialog that was just seen takes keys.
func (s *screen) calmly(keys string) { time.Sleep(calm + 50*time.Millisecond); s.keys(keys) }

func (s *screen) end() error {
	s.t.Helper()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(10 * time.Second):
		s.t.Fatalf("the session does not end:\n%s", s.text())
		return nil
	}
}

// golden compares the screen, once it stands still, with a file of testdata.
func (s *screen) golden(name string) {
	s.t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		time.Sleep(500 * time.Millisecond)
		if err := os.WriteFile(file, []byte(s.text()), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	s.until("as "+file+":\n"+string(want)+"but", func(text string) bool { return text == string(want) })
}

const answer = "# Result\n\nThe **sum** was wrong: `a - b` subtracts. See [the docs](https://example.org/sum) for how it is meant to be, at length.\n\n" +
	"1. read it\n2. mend it, with a line that is long enough to be wrapped in a narrow terminal\n   - inner 日本語\n\n> quoted\n\n" +
	"```go\nfunc sum(a, b int) int { return a + b }\n```\n\n| file | lines |\n|---|---:|\n| sum.go | 1 |\n| a-long-name-of-a-file_test.go | 200 |\n\nEsc: \x1b[31mred\u202e.\n"

// turn is a turn that shows everything once.
func (s *screen) turn(ctx context.Context) {
	for _, r := range answer { // in the smallest pieces
		s.Event(event.Text{Text: string(r)})
	}
	s.Event(event.ToolStart{ID: "1", Name: "edit_file", Summary: "sum.go"})
	d := "@@ -1,2 +1,2 @@\n func sum(a, b int) int {\n-\treturn a - b\n+\treturn a + b\n"
	yes, err := s.Approve(ctx, gate.Request{Title: "Edit sum.go", Detail: d, Always: "all file writes in the workspace"})
	s.Event(event.Notice{Message: fmt.Sprintf("answer %+v %v", yes, err)})
	s.Event(event.Diff{ID: "1", Path: "sum.go", Diff: d})
	s.Event(event.ToolEnd{ID: "1", Name: "edit_file", OK: true, Result: "Edited sum.go"})
	s.Event(event.ToolStart{ID: "2", Name: "run_command", Summary: "go test ./...\x1b[2J"})
	s.Event(event.ToolEnd{ID: "2", Name: "run_command", Result: "exit code 1\nFAIL"})
	s.Event(event.SubAgent{Agent: "worker-1", Event: event.ToolStart{ID: "3", Name: "grep", Summary: "sum"}})
	s.Event(event.Check{Command: "go test", Round: 1, Output: "FAIL\n"})
	said, ok, err := s.Ask(ctx, tool.Question{Text: "Which one?", Options: []string{"first", "second"}, AllowOther: true})
	s.Event(event.Text{Text: fmt.Sprint("You said ", said, ", ", ok, ", ", err)})
	s.Event(event.Usage{Input: 12345, Output: 678})
	s.Event(event.Context{Used: 50, Window: 100})
	s.Event(event.TurnEnd{Reason: event.Completed})
}

func TestEverythingIsDrawnAtEachWidth(t *testing.T) {
	for _, width := range []int{40, 80, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			var s *screen
			started := make(chan struct{})
			s = open(t, width, Options{Turn: func(ctx context.Context, _ Message) { <-started; s.turn(ctx) }}, "")
			close(started)
			s.keys("mend sum.go, please\r")
			s.see("[y]es")
			s.calmly("a")
			s.see("another answer")
			s.calmly("3")
			s.see("answer: ")
			s.keys("neither 好\r")
			s.see("You said neither 好, true")
			s.see("50% context")
			s.gone(" 0s")
			s.golden(fmt.Sprint("turn-", width))
		})
	}
}

// asking is a session whose turns ask for leave once and tell the answer.
func asking(t *testing.T) *screen {
	var s *screen
	started := make(chan struct{})
	s = open(t, 80, Options{Turn: func(ctx context.Context, _ Message) {
		<-started
		a, err := s.Approve(ctx, gate.Request{Title: "Run command", Detail: "rm -rf x\x1b[1A\u202e"})
		s.Event(event.Notice{Message: fmt.Sprintf("answer %+v %v", a, err)})
	}}, "go")
	close(started)
	s.see("[y]es")
	return s
}

func TestAnApprovalIsAnsweredOnPurpose(t *testing.T) {
	for name, c := range map[string]struct{ keys, want string }{
		"yes":                  {"y", "answer {Yes:true Always:false Reason:} <nil>"},
		"no":                   {"n", "answer {Yes:false Always:false Reason:} <nil>"},
		"no, because":          {"buse mv\r", "answer {Yes:false Always:false Reason:use mv} <nil>"},
		"the reason is pasted": {"b\x1b[200~use\rmv\x1b[201~ now\r", "answer {Yes:false Always:false Reason:use mv now} <nil>"},
		"always was not offered, nor is a paste an answer": {"a\x1b[200~y\ry\x1b[201~\rn", "answer {Yes:false Always:false Reason:} <nil>"},
		"Esc ends the turn": {"\x1b", "answer {Yes:false Always:false Reason:} context canceled"},
		"Ctrl-C does":       {"\x03", "answer {Yes:false Always:false Reason:} context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			s := asking(t)
			s.see(`rm -rf x\x1b[1A\u202e`)
			s.calmly(c.keys)
			s.see(c.want)
			s.gone("[y]es")
		})
	}
}

func TestWhatIsTypedBlindlyAnswersNothing(t *testing.T) {
	s := open(t, 80, Options{}, "")
	for range 20 { // a person in the middle of a word
		s.keys("y")
		time.Sleep(20 * time.Millisecond)
	}
	got := make(chan gate.Answer, 1)
	go func() { a, _ := s.Approve(t.Context(), gate.Request{Title: "Run command", Detail: "x"}); got <- a }()
	s.see("[y]es")
	s.keys("y")
	s.calmly("n")
	if a := <-got; a.Yes {
		t.Error("a key of a word that was being typed said yes")
	}
}

func TestLeaving(t *testing.T) {
	for name, c := range map[string]struct{ before, keys string }{
		"Ctrl-D":       {"", "\x04"},
		"Ctrl-C twice": {"some text", "\x03\x03"},
		"/exit":        {"", "/exit\r"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, 80, Options{}, "")
			s.keys(c.before)
			s.see(strings.TrimSpace("> " + c.before))
			s.keys(c.keys)
			if err := s.end(); err != nil {
				t.Error(err)
			}
			s.gone("model-1")
		})
	}
}

func TestTheTerminalIsGivenBack(t *testing.T) {
	s := open(t, 80, Options{Turn: func(ctx context.Context, _ Message) { <-ctx.Done() }}, "go")
	s.stop()
	if err := s.end(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for on, off := range map[string]string{"\x1b[?2004h": "\x1b[?2004l", "\x1b[?25l": "\x1b[?25h"} {
		s.until(fmt.Sprintf("taken back: %q", on), func(string) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			raw := s.raw.String()
			return strings.LastIndex(raw, off) >= strings.LastIndex(raw, on)
		})
	}
}

// What runs is shown with its step, and goes with it.
func TestRunningAgents(t *testing.T) {
	var s *screen
	step, started := make(chan event.Event), make(chan struct{})
	s = open(t, 40, Options{Turn: func(context.Context, Message) {
		<-started
		for e := range step {
			s.Event(event.SubAgent{Agent: "worker-1", Event: e})
		}
	}}, "go")
	close(started)
	defer close(step)
	step <- event.Text{Text: "hm"}
	s.see("  worker-1: thinking\n>")
	step <- event.ToolStart{ID: "1", Name: "read_file", Summary: "a-file-with-a-rather-long-name.txt"}
	s.see("  worker-1: read file a-file-with-a-ra…\n>")
	step <- event.TurnEnd{Reason: event.Completed}
	s.gone("worker-1: ")
}

func TestColours(t *testing.T) {
	for name, c := range map[string]struct {
		env   []string
		plain bool
		want  string
	}{
		"16 colours":  {[]string{"TERM=xterm", "COLORTERM="}, false, "\x1b[1m"},
		"256 colours": {[]string{"TERM=xterm-256color", "COLORTERM="}, false, "\x1b[1m"},
		"none":        {nil, true, "Bold"},
	} {
		t.Run(name, func(t *testing.T) {
			var s *screen
			started := make(chan struct{})
			s = open(t, 40, Options{Env: c.env, NoColor: c.plain, Turn: func(context.Context, Message) {
				<-started
				s.Event(event.Text{Text: "**Bold** `code`\n"})
			}}, "go")
			close(started)
			s.see("Bold code")
			s.mu.Lock()
			defer s.mu.Unlock()
			raw := s.raw.String()
			if !strings.Contains(raw, c.want) || c.plain && regexp.MustCompile(`\x1b\[[1-9][0-9;]*m`).MatchString(raw) || strings.Contains(raw, "[38;") {
				t.Errorf("written: %q", raw)
			}
		})
	}
}

func TestTheBellCanBeTurnedOff(t *testing.T) {
	for _, on := range []bool{true, false} {
		s := open(t, 80, Options{Bell: on}, "")
		go func() { _, _ = s.Approve(t.Context(), gate.Request{Title: "Run command", Detail: "x"}) }()
		s.see("Run command")
		s.calmly("n")
		s.gone("always")
		s.mu.Lock()
		if raw := ansi.Strip(s.raw.String()); strings.Contains(raw, "\a") != on {
			t.Errorf("with Bell %v the terminal was sent %q", on, raw)
		}
		s.mu.Unlock()
	}
}
