//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/tools/txtar"
)

// TestTerminal plays the sessions in testdata/terminal: the real binary on a pty, with a terminal emulator that keeps what is on the
// screen and in the scrollback. An archive holds the steps, the model's script, files of the project, and a picture of the whole
// terminal at the end for each width; -update draws the pictures anew. The comment holds the steps, a line each:
//
//	type TEXT   paste TEXT   key NAME…   resize WIDTH HEIGHT   signal NAME
//	wait TEXT   the screen shows it (or with "gone TEXT" does not) within some seconds
//	calm        a little more than the time for which a new question takes no key
//	exit CODE   the program ends with it, the terminal's modes as they were
//
// The file PROMPT, if there is one, is the first message, given on the command line; ENV has more of the environment. Without a model's
// script there is no model.
func TestTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the binary")
	}
	bin := filepath.Join(t.TempDir(), "anchor")
	if out, err := exec.Command("go", "build", "-o", bin, "anchor").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("going on", func(t *testing.T) { goingOn(t, bin) })
	t.Run("undo", func(t *testing.T) { undoPassesOver(t, bin) })
	files, _ := filepath.Glob("testdata/terminal/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range archive.Files {
			width, err := strconv.Atoi(f.Name)
			if err != nil {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+f.Name, func(t *testing.T) {
				got := playTerminal(t, bin, archive, width)
				if *update {
					archive.Files[i].Data = []byte(got)
				} else if got != string(f.Data) {
					t.Errorf("the terminal shows\n%s\nand not\n%s", got, f.Data)
				}
			})
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// goingOn picks the older of two sessions, and sees where it stands.
func goingOn(t *testing.T, bin string) {
	home := t.TempDir()
	model := filepath.Join(home, "model.txt")
	run := func(question, answer string) {
		if err := os.WriteFile(model, []byte("reply\ntext "+answer+"\nusage 700 20\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bin, "-C", home, "-m", "script:"+model, "-p", question)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run("why is it red?", "The lamp is.")
	run("why is it blue?", "The sky is.")
	s := startScreen(t, home, 80, nil, bin, "-C", home, "--no-mcp", "-m", "script:"+model, "-r")
	for _, step := range []string{"wait why is it red?", "wait which? [1]", "type 2", "key enter", "wait > why is it red?", "wait The lamp is.", "wait shows the whole",
		"type /usage", "key enter", "wait 700 in", "key ctrl+d", "exit 0"} {
		verb, rest, _ := strings.Cut(step, " ")
		s.step(verb, rest)
	}
	s = startScreen(t, home, 80, nil, bin, "-C", home, "--no-mcp", "-m", "script:"+model, "-r")
	for _, step := range []string{"wait which? [1]", "type 7", "key enter", "wait no number of the list", "exit 2"} {
		verb, rest, _ := strings.Cut(step, " ")
		s.step(verb, rest)
	}
}

// undoPassesOver takes back an older turn although the newest one's file was changed by the user.
func undoPassesOver(t *testing.T, bin string) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"first", "second"} {
		must(os.WriteFile(at("model"), []byte("reply\ncall write_file {\"path\":\""+name+"\",\"content\":\"x\\n\"}\nreply\ntext ok\n"), 0o644))
		cmd := exec.Command(bin, "-C", home, "-m", "script:"+at("model"), "--yolo", "-p", "go", "-c")
		if name == "first" {
			cmd.Args = cmd.Args[:len(cmd.Args)-1]
		}
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	must(os.WriteFile(at("second"), []byte("mine\n"), 0o644))
	s := startScreen(t, home, 80, nil, bin, "-C", home, "--no-mcp", "-m", "script:"+at("model"), "-c")
	for _, step := range []string{"wait > go", "type /undo", "key enter", "wait second was left as it is: it changed since", "wait goes on to the turn before",
		"type /undo", "key enter", "wait taken back: first", "type /undo", "key enter", "wait no file changes to take back", "key ctrl+d", "exit 0"} {
		verb, rest, _ := strings.Cut(step, " ")
		s.step(verb, rest)
	}
	if data, err := os.ReadFile(at("second")); string(data) != "mine\n" {
		t.Errorf("the user's file: %q, %v", data, err)
	}
	if _, err := os.Stat(at("first")); err == nil {
		t.Error("first is still there")
	}
}

// screen is a terminal with the program in it.
type screen struct {
	t    *testing.T
	pty  *os.File
	cmd  *exec.Cmd
	mu   sync.Mutex
	emu  *vt.Emulator
	raw  bytes.Buffer // all that the program wrote
	done chan struct{}
}

func playTerminal(t *testing.T, bin string, a *txtar.Archive, width int) string {
	home := t.TempDir()
	dir := filepath.Join(home, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if _, err := strconv.Atoi(f.Name); err == nil {
			continue
		}
		path := filepath.Join(dir, f.Name)
		if f.Name == "model" {
			path = filepath.Join(home, "model.txt")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := os.ReadFile(filepath.Join(dir, "PROMPT"))
	args := append([]string{"-C", dir, "--no-mcp"}, strings.Fields(string(first))...)
	if script := filepath.Join(home, "model.txt"); slices.ContainsFunc(a.Files, func(f txtar.File) bool { return f.Name == "model" }) {
		args = append(args, "-m", "script:"+script)
	}
	env, _ := os.ReadFile(filepath.Join(dir, "ENV"))
	s := startScreen(t, home, width, strings.Split(strings.TrimSpace(string(env)), "\n"), bin, args...)
	for line := range strings.Lines(string(a.Comment)) {
		if verb, rest, _ := strings.Cut(strings.TrimSpace(line), " "); verb != "" && verb[0] != '#' {
			s.step(verb, rest)
		}
	}
	return s.picture()
}

func startScreen(t *testing.T, home string, width int, env []string, name string, args ...string) *screen {
	s := &screen{t: t, emu: vt.NewEmulator(width, 24), done: make(chan struct{}), cmd: exec.Command(name, args...)}
	s.cmd.Env = append([]string{"HOME=" + home, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + home}, env...)
	var err error
	if s.pty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	var replies sync.WaitGroup
	replies.Go(func() { _, _ = io.Copy(s.pty, s.emu) })
	go func() {
		defer close(s.done)
		for p := make([]byte, 8<<10); ; {
			n, err := s.pty.Read(p)
			s.mu.Lock()
			s.raw.Write(p[:n])
			_, _ = s.emu.Write(p[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		<-s.done
		_ = s.emu.InputPipe().(io.Closer).Close() // Close itself races with Read
		_ = s.pty.Close()
		replies.Wait()
	})
	return s
}

func (s *screen) step(verb, rest string) {
	s.t.Helper()
	keys := map[string]string{"enter": "\r", "esc": "\x1b", "tab": "\t", "backspace": "\x7f", "up": "\x1b[A", "down": "\x1b[B", "left": "\x1b[D", "right": "\x1b[C", "alt+enter": "\x1b\r"}
	switch verb {
	case "type":
		s.send(rest)
	case "paste":
		s.send("\x1b[200~" + strings.ReplaceAll(rest, `\n`, "\r") + "\x1b[201~")
	case "key":
		for k := range strings.FieldsSeq(rest) {
			if c, ok := strings.CutPrefix(k, "ctrl+"); ok {
				s.send(string(c[0] & 0x1f))
			} else {
				s.send(keys[k])
			}
		}
	case "resize":
		var w, h int
		_, _ = fmt.Sscan(rest, &w, &h)
		s.mu.Lock()
		s.emu.Resize(w, h)
		s.mu.Unlock()
		_ = pty.Setsize(s.pty, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
	case "wait", "gone":
		s.until(func() bool { return strings.Contains(s.picture(), rest) == (verb == "wait") }, verb+" "+rest)
	case "signal":
		_ = s.cmd.Process.Signal(map[string]syscall.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "CONT": syscall.SIGCONT}[rest])
	case "calm":
		time.Sleep(400 * time.Millisecond)
	case "exit":
		s.exit(rest)
	default:
		s.t.Fatalf("no step %s", verb)
	}
}

func (s *screen) send(text string) {
	if _, err := s.pty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) until(ok func() bool, what string) {
	s.t.Helper()
	for end := time.Now().Add(8 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%s: in vain\n%s", what, s.picture())
		}
	}
}

// exit waits for the end, which must leave no mode on.
func (s *screen) exit(code string) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(8 * time.Second):
		s.t.Fatalf("it does not end\n%s", s.picture())
	}
	_ = s.cmd.Wait()
	if got := fmt.Sprint(s.cmd.ProcessState.ExitCode()); got != code {
		s.t.Errorf("exit code %s, want %s", got, code)
	}
	s.restored()
}

// restored checks that every mode which was switched on was switched off, and that nothing cleared the scrollback.
func (s *screen) restored() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := map[string]string{}
	for _, m := range regexp.MustCompile(`\x1b\[\?(\d+)([hl])`).FindAllStringSubmatch(s.raw.String(), -1) {
		last[m[1]] = m[2]
	}
	for mode, state := range last {
		if on := state == "h"; on != (mode == "25" || mode == "7") {
			s.t.Errorf("mode %s is left in state %s", mode, state)
		}
	}
	if strings.Contains(s.raw.String(), "\x1b[3J") || strings.Contains(s.raw.String(), "\x1b[?1049h") {
		s.t.Error("the scrollback was cleared or left")
	}
}

// picture is the scrollback and the screen as text. The spinner and the clock stand still.
func (s *screen) picture() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, line := range s.emu.Scrollback().Lines() {
		out = append(out, strings.TrimRight(line.String(), " "))
	}
	for line := range strings.SplitSeq(s.emu.String(), "\n") {
		out = append(out, strings.TrimRight(line, " "))
	}
	text := strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
	text = regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]{4}`).ReplaceAllString(text, "20261201-120000-beef")
	return regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] \d+s`).ReplaceAllString(text, "* 0s")
}
