package cli_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"anchor/internal/front/jsonl/jsonltest"
)

var update = flag.Bool("update", false, "write the golden parts of the scripts anew")

// TestScripts drives the real binary. Commands beside testscript's own:
//
//	protocol FILE ARGS…  plays a conversation with anchor --json ARGS (see play)
//	acp FILE ARGS…       plays one with anchor acp ARGS; where node is (ANCHOR_NPM), the TypeScript SDK judges each message
//	exec-code N CMD…     exec that must end with exit code N
//
// Every line that anchor --json writes is held against the schema, so nothing else may run it.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "anchor"), "anchor").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	valid := jsonltest.Valid(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, ".home"))
			e.Setenv("TMPDIR", filepath.Join(e.WorkDir, ".tmp"))
			return errors.Join(os.MkdirAll(filepath.Join(e.WorkDir, ".home"), 0o755), os.MkdirAll(filepath.Join(e.WorkDir, ".tmp"), 0o755))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"protocol": func(ts *testscript.TestScript, neg bool, args []string) {
				ts.Check(play(ts, valid, filepath.Join(bin, "anchor"), args[0], append([]string{"--json"}, args[1:]...)))
			},
			"acp": func(ts *testscript.TestScript, neg bool, args []string) {
				var said strings.Builder
				listen := func(line string) error { said.WriteString(line); return rpc(line) }
				ts.Check(play(ts, listen, filepath.Join(bin, "anchor"), args[0], append([]string{"acp"}, args[1:]...)))
				ts.Check(judged(said.String()))
			},
			"exec-code": func(ts *testscript.TestScript, neg bool, args []string) {
				var exit *exec.ExitError
				code := "0"
				if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
					code = fmt.Sprint(exit.ExitCode())
				} else if err != nil {
					ts.Fatalf("%v", err)
				}
				if code != args[0] {
					ts.Fatalf("exit code %s, want %s\n%s", code, args[0], ts.ReadFile("stderr"))
				}
				if slices.ContainsFunc(args, writesJSON) {
					for line := range strings.Lines(ts.ReadFile("stdout")) {
						ts.Check(valid(line))
					}
				}
			},
		},
	})
}

func writesJSON(arg string) bool { return arg == "--json" || strings.Contains(arg, "anchor --json") }

// No script runs anchor --json past the schema.
func TestScriptsAreHeldAgainstTheSchema(t *testing.T) {
	files, _ := filepath.Glob("testdata/script/*.txtar")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(string(data), "\n-- ")
		for i, line := range strings.Split(text, "\n") {
			words := strings.Fields(line)
			if slices.ContainsFunc(words, func(w string) bool { return strings.Trim(w, `'"`) == "--json" }) && words[0] != "exec-code" && words[0] != "#" &&
				!slices.Contains(words, "--schema") && !slices.Contains(words, "policy") {
				t.Errorf("%s:%d: use exec-code: %s", file, i+1, line)
			}
		}
	}
}

// The documented flags and commands are those of the program, and both kinds of names are completed.
func TestPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	help, err := exec.Command("go", "run", "anchor", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(help), "Commands:\n")
	for _, row := range strings.Split(rows, "\n") {
		if !strings.HasPrefix(row, "  ") {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(row), "  ")
		if !strings.HasPrefix(name, "-") {
			name = "anchor " + name
		}
		if cell := "| `" + strings.ReplaceAll(name, "|", `\|`) + "` |"; !strings.Contains(page, cell) {
			t.Errorf("docs/cli.md has no row %s", cell)
		}
	}
}

// play plays a file like the session in docs/json.md: "→ OBJECT" is the next line of anchor's, where "*" stands for any
// value and fields that are left out may be anything; "← TEXT" is sent as it is; "…" skips lines until the next → fits;
// "bytes TEXT" sends a Go string without its quotes, "long N" a user_input without a text, of N MB; "close" closes standard input, "kill
// SIGNAL" sends a signal, "exit CODE" waits for the end. # begins a comment. $SESSION is the id of the last session, here and in the script.
func play(ts *testscript.TestScript, valid func(string) error, bin, file string, args []string) error {
	p := exec.Command(bin, args...)
	p.Dir = ts.MkAbs(".")
	p.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "TMPDIR=" + ts.Getenv("TMPDIR")}
	var said strings.Builder
	p.Stderr = &said
	in, err := p.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	timer := time.AfterFunc(30*time.Second, func() { _ = p.Process.Kill() })
	defer timer.Stop()
	c := conversation{session: ts.Getenv("SESSION"), end: time.Now().Add(30 * time.Second), valid: valid, dir: p.Dir, in: in, out: bufio.NewReaderSize(out, 1<<20), p: p}
	for i, line := range strings.Split(ts.ReadFile(file), "\n") {
		if err := c.step(line); err != nil {
			_ = p.Process.Kill()
			return fmt.Errorf("%s:%d: %w\nstderr: %s", file, i+1, err, said.String())
		}
	}
	ts.Setenv("SESSION", c.session)
	return nil
}

type conversation struct {
	valid   func(line string) error
	dir     string // what $WORK stands for in the lines
	session string // what $SESSION stands for: the id that came last
	in      io.WriteCloser
	out     *bufio.Reader
	p       *exec.Cmd
	skip    bool
	end     time.Time // of patience
}

// rpc says whether a line is a message of JSON-RPC.
func rpc(line string) error {
	var m struct{ JSONRPC string }
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
		return fmt.Errorf("no message of JSON-RPC: %q, %w", line, err)
	}
	return nil
}

func (c *conversation) step(line string) error {
	word, rest, _ := strings.Cut(strings.NewReplacer("$WORK", c.dir, "$SESSION", c.session).Replace(line), " ")
	switch word {
	case "←":
		_ = c.valid(rest + "\n") // it may be a bad one, on purpose
		_, err := io.WriteString(c.in, rest+"\n")
		return err
	case "bytes":
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(rest, `"`, `\"`) + `"`)
		if err == nil {
			_, err = io.WriteString(c.in, text)
		}
		return err
	case "long":
		size, _ := strconv.Atoi(rest)
		_, err := fmt.Fprintf(c.in, "{\"type\":\"user_input\",\"more\":%q}\n", strings.Repeat("x", size<<20))
		return err
	case "→":
		return c.want(rest)
	case "…":
		c.skip = true
	case "wait": // for a file that a command makes
		for _, err := os.Stat(filepath.Join(c.dir, rest)); err != nil; _, err = os.Stat(filepath.Join(c.dir, rest)) {
			if c.p.ProcessState != nil || time.Now().After(c.end) {
				return errors.New("no " + rest)
			}
			time.Sleep(10 * time.Millisecond)
		}
	case "close":
		return c.in.Close()
	case "kill":
		return exec.Command("kill", "-"+rest, fmt.Sprint(c.p.Process.Pid)).Run()
	case "exit":
		for { // what still comes must be lines of JSON too
			if _, err := c.read(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
		}
		_ = c.p.Wait()
		if got := fmt.Sprint(c.p.ProcessState.ExitCode()); got != rest {
			return fmt.Errorf("exit code %s, want %s", got, rest)
		}
	default:
		if line != "" && !strings.HasPrefix(line, "#") {
			return fmt.Errorf("no step %q", line)
		}
	}
	return nil
}

func (c *conversation) read() (string, error) {
	line, err := c.out.ReadString('\n')
	if err != nil {
		return line, err
	}
	return line, c.valid(line)
}

func (c *conversation) want(want string) error {
	var w map[string]any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		return fmt.Errorf("bad expectation: %w", err)
	}
	for {
		line, err := c.read()
		if err != nil {
			return fmt.Errorf("read %q while waiting for %s: %w", line, want, err)
		}
		var got map[string]any
		_ = json.Unmarshal([]byte(line), &got)
		if r, ok := got["result"].(map[string]any); ok && r["sessionId"] != nil {
			c.session = fmt.Sprint(r["sessionId"])
		} else if got["type"] == "ready" {
			c.session = fmt.Sprint(got["session"])
		}
		if fits(w, got) {
			c.skip = false
			return nil
		}
		if !c.skip {
			return fmt.Errorf("got  %swant %s", line, want)
		}
	}
}

// fits says whether got has what want has: all fields of an object, all elements of a list.
func fits(want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for k := range w {
			if _, has := g[k]; !has || !fits(w[k], g[k]) {
				return false
			}
		}
		return ok
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, fits)
	}
	return want == "*" || want == got
}
