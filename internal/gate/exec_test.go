//go:build unix

package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"anchor/internal/policy"
)

// run runs a command as the user's own.
func (w *world) run(text string, set ...func(*Command)) Output {
	w.t.Helper()
	c := Command{Text: text, ByUser: true}
	for _, f := range set {
		f(&c)
	}
	out, err := w.Exec(w.t.Context(), c)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return out
}

func TestExec(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"})
	for _, c := range []struct {
		text, want string
		exit       int
	}{
		{"echo out; echo err >&2; echo more; exit 3", "out\nerr\nmore\n", 3},
		{"pwd", w.Dir() + "\n", 0},
		{"cat; echo done", "done\n", 0},
		{`printf 'a\0b'`, "a␀b", 0},
		{`printf 'a\r\nb\r\n'`, "a\nb\n", 0},
		{`printf '10%%\r50%%\r100%%\nend'`, "100%\nend", 0},
		{`printf '\033[?1049h\033[2Jred \033[31mtext\033[0m \033]0;title\007ok \033]8;;http://x\033\\link'`, "red text ok link", 0},
		{`printf '\377\376 \xc3'`, "\uFFFD \uFFFD", 0},
		{"[ -t 0 ] || [ -t 1 ] || echo none; (exec </dev/tty) 2>/dev/null || echo no tty", "none\nno tty\n", 0},
		{"head -c 1000000 /dev/zero | tr '\\0' e >/dev/null; echo x", "x\n", 0},
		{"no-such-program", "bash: line 1: no-such-program: command not found\n", 127},
	} {
		out := w.run(c.text)
		if out.Text != c.want || out.Exit != c.exit || out.Saved != "" || out.Background != "" {
			t.Errorf("%s: %+v", c.text, out)
		}
	}
	if out := w.run("kill -9 $$"); out.Exit != -1 || out.Signal != "killed" {
		t.Errorf("killed: %+v", out)
	}
	if out := w.run("head -c 4096 /dev/urandom"); !utf8.ValidString(out.Text) || strings.ContainsAny(out.Text, "\x00\x1b\r") {
		t.Errorf("random bytes: %q", out.Text)
	}
}

func TestExecEnvironment(t *testing.T) {
	w := newWorld(t, nil, env("ANTHROPIC_API_KEY=test-key-anthropic-1", "GH_TOKEN=zq8-long-and-quite-random-71", "BASH_ENV=/none/x", "BASH_FUNC_ls%%=() { echo planted; }",
		"GIT_DIR=/none", "PAGER=less", "GH_PAGER=less", "PLAIN=kept"), func(o *Options) { o.PassEnv = []string{"GH_TOKEN"} })
	out := w.run(`env | cut -d= -f1 | tr '\n' ' '; ls; echo ${#GH_TOKEN} $GH_TOKEN $AGENT $TERM $PAGER $EDITOR`).Text
	for _, bad := range []string{"ANTHROPIC_API_KEY", "BASH_ENV", "GIT_DIR", "BASH_FUNC", "GH_PAGER", "planted", "zq8-long"} {
		if strings.Contains(out, bad) {
			t.Errorf("%s in %s", bad, out)
		}
	}
	if !strings.Contains(out, " PLAIN ") || !strings.Contains(out, "28 ") || !strings.Contains(out, "anchor dumb cat false") {
		t.Errorf("got %s", out)
	}
}

func TestExecLongOutput(t *testing.T) {
	w := newWorld(t, nil, env("MY_TOKEN=zq8-long-and-quite-random-71"))
	out := w.run(`echo zq8-long-and-quite-random-71; for i in $(seq 20000); do echo "zeile $i é"; done; echo zq8-long-and-quite-random-71`, func(c *Command) { c.Limit = 1000 })
	if n := utf8.RuneCountInString(out.Text); n < 1000 || n > 1400 {
		t.Errorf("%d characters", n)
	}
	if !strings.HasPrefix(out.Text, "[masked") || !strings.Contains(out.Text, "zeile 1 é\n") || !strings.Contains(out.Text, "zeile 20000 é\n") || !strings.Contains(out.Text, "characters left out") {
		t.Errorf("%s", out.Text)
	}
	f, err := w.Read(t.Context(), out.Saved, 0) // unasked
	if err != nil || strings.Count(string(f.Data), "\n") != 20002 || strings.Contains(string(f.Data), "zq8") || f.Mode.Perm() != 0o600 {
		t.Errorf("saved: %v %v, %d bytes", err, f.Mode, len(f.Data))
	}
	if out := w.run("head -c 3000000 /dev/zero | tr '\\0' x"); len(out.Text) > 31_000 || len(out.Text) < 30_000 {
		t.Errorf("one line: %d", len(out.Text))
	}
}

// sleepers counts the processes that sleep for exactly so many seconds.
func sleepers(t *testing.T, seconds string) int {
	t.Helper()
	out, _ := exec.Command("pgrep", "-f", "^sleep "+seconds+"$").Output()
	return strings.Count(string(out), "\n")
}

func TestBackgroundChildren(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	start := time.Now()
	for _, c := range []string{
		"sleep 7301 & echo started",
		"nohup sleep 7301 >/dev/null & echo started",
		"setsid sleep 7301 & echo started",
		"(setsid sleep 7301 >/dev/null 2>&1 &) ; echo started",
	} {
		if out := w.run(c); out.Text != "started\n" || out.Exit != 0 {
			t.Errorf("%s: %+v", c, out)
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	out := w.run("printf now; (until [ -e go ]; do sleep 0.05; done; for i in 1 2 3; do echo later $i; done) & ")
	if out.Text != "now" || out.Background == "" {
		t.Errorf("%+v", out)
	}
	w.put("go", "")
	for range 100 {
		if data, _ := os.ReadFile(out.Background); string(data) == "later 1\nlater 2\nlater 3\n" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if data, _ := os.ReadFile(out.Background); string(data) != "later 1\nlater 2\nlater 3\n" {
		t.Errorf("background file: %q", data)
	}
	if n := sleepers(t, "7301"); n != 4 {
		t.Errorf("%d of 4 live on", n)
	}
	w.Close()
	if n := sleepers(t, "7301"); n != 0 {
		t.Errorf("%d live after Close", n)
	}
	if _, err := w.Exec(t.Context(), Command{Text: "true", ByUser: true}); err == nil {
		t.Error("ran after Close")
	}
}

// TestKill ends what ignores every other signal, and starts nothing any more.
func TestKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	start := time.Now()
	time.AfterFunc(300*time.Millisecond, w.Kill)
	if out := w.run(`trap "" TERM INT HUP; sleep 7303 & while :; do sleep 7303; done`); out.Signal != "killed" || time.Since(start) > 3*time.Second {
		t.Errorf("%+v after %v", out, time.Since(start))
	}
	if n := sleepers(t, "7303"); n != 0 {
		t.Errorf("%d live on", n)
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	start := time.Now()
	out := w.run(`echo first; bash -c 'trap "" TERM; sleep 7302 & while :; do sleep 1; done'`, func(c *Command) { c.Timeout = time.Second })
	if !out.TimedOut || out.Text != "first\n" || time.Since(start) > 8*time.Second {
		t.Errorf("%+v after %v", out, time.Since(start))
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(500*time.Millisecond, cancel)
	start = time.Now()
	out, err := w.Exec(ctx, Command{Text: `echo first; setsid sleep 7302 & bash -c "sleep 7302 | cat"`, ByUser: true})
	if !errors.Is(err, context.Canceled) || !out.Cancelled || out.Text != "first\n" || time.Since(start) > 3*time.Second {
		t.Errorf("%+v %v after %v", out, err, time.Since(start))
	}
	if n := sleepers(t, "7302"); n != 0 {
		t.Errorf("%d live on", n)
	}
}

func TestEditorsAndPagersDoNotWait(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "1\n"}, env("GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@e", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@e"))
	w.run("git init -q && git add -A && git commit -qm one && git commit -q --allow-empty -m two && git config core.pager less && git config core.editor true")
	before := w.run("git rev-parse HEAD").Text
	for _, c := range []string{"git commit --allow-empty", "git rebase -i HEAD~1"} {
		if out := w.run(c); out.Exit == 0 {
			t.Errorf("%s: %+v", c, out)
		}
	}
	if out := w.run("git log --oneline | cat; git log -1 --format=%s"); !strings.Contains(out.Text, "one") || w.run("git rev-parse HEAD").Text != before {
		t.Errorf("%+v", out)
	}
}

func TestVanishedDirectory(t *testing.T) {
	w := newWorld(t, nil)
	if out := w.run("mkdir t && cd t && rm -r ../t"); out.Exit != 0 {
		t.Errorf("%+v", out)
	}
	if err := os.RemoveAll(w.Dir()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Exec(t.Context(), Command{Text: "echo alive", ByUser: true}); err == nil || !strings.Contains(err.Error(), "make it again") {
		t.Errorf("got %v", err)
	}
	w.put("a.txt", "a")
	if out := w.run("echo alive"); out.Text != "alive\n" {
		t.Errorf("%+v", out)
	}
	if _, err := w.Read(t.Context(), "a.txt", 0); err != nil {
		t.Error(err)
	}
}

func TestConcurrentCommands(t *testing.T) {
	w := newWorld(t, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if out, err := w.Exec(t.Context(), Command{Text: "echo x; sleep 0.05; echo y", ByUser: true}); err != nil || out.Text != "x\ny\n" {
				t.Errorf("%+v %v", out, err)
			}
		})
	}
	all.Wait()
	if n := len(w.jobs.live); n != 0 {
		t.Errorf("%d jobs are kept", n)
	}
}

func TestCleanerPieceByPiece(t *testing.T) {
	text := "a\x1b[31mb\x1b[0m\r\nc\x1b]0;t\x1b\\d\xe2\x82\xace\b\n\x1b]open\nf\rg\x9b1mh\xff"
	var whole, pieces cleaner
	want := string(whole.next([]byte(text), false))
	want += string(whole.next(nil, true))
	var got []byte
	for i := range len(text) {
		got = append(got, pieces.next([]byte{text[i]}, false)...)
	}
	if got = append(got, pieces.next(nil, true)...); string(got) != want || want != "ab\ncd€\n\ng\uFFFD1mh\uFFFD" {
		t.Errorf("%q, in pieces %q", want, got)
	}
}

func TestServer(t *testing.T) {
	w := newWorld(t, nil, env("ANTHROPIC_API_KEY=test-key-anthropic-1", "HTTPS_PROXY=http://p:1", "OTHER=x"))
	s, err := w.StartServer(t.Context(), "bash", []string{"-c", "echo noise >&2; sleep 7303 & env; while read l; do echo got $l; done"}, []string{"DSN=y"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	buf := make([]byte, 1000)
	for !strings.Contains(got.String(), "got hello") {
		n, err := s.Read(buf)
		if err != nil {
			t.Fatal(err, got.String())
		}
		got.Write(buf[:n])
	}
	if e := got.String(); strings.Contains(e, "API_KEY") || strings.Contains(e, "OTHER=") || !strings.Contains(e, "DSN=y") || !strings.Contains(e, "HTTPS_PROXY=") {
		t.Errorf("environment: %s", e)
	}
	if err := s.Close(); err != nil || sleepers(t, "7303") != 0 || strings.TrimSpace(s.Stderr()) != "noise" {
		t.Errorf("%v, stderr %q", err, s.Stderr())
	}
	select {
	case <-s.Done():
	default:
		t.Error("not done after Close")
	}
	if _, err := s.Read(buf); err == nil {
		t.Error("read after Close")
	}
	if _, err := w.StartServer(t.Context(), "no-such-server", nil, nil, ""); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("got %v", err)
	}
	dead, err := w.StartServer(t.Context(), "bash", []string{"-c", "exit 1"}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	<-dead.Done()
	if _, err := io.ReadAll(dead); err != nil {
		t.Errorf("the end of a dead server's output: %v", err)
	}
}

func TestSavedOutputIsBounded(t *testing.T) {
	c := effects{looks: looks{newWorld(t, nil).Gate}}.capture(10)
	f := c.save("x-*")
	defer f.Close()
	chunk := make([]byte, 1<<20)
	for range 70 {
		c.put(f, chunk)
	}
	if info, err := f.Stat(); err != nil || info.Size() > maxSaved+100 {
		t.Errorf("%v %v", info, err)
	}
}

// TestDeletionThroughLinks judges what would destroy a home or system directory that stands behind a link, or behind a
// variable that is not set, under rules that allow everything.
func TestDeletionThroughLinks(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "", "sub/b.txt": "", "../home/.profile": ""}, func(o *Options) {
		o.Rules.Yolo = true
		o.Env = append(o.Env, "BUILD=out", "MINE="+o.Home)
	})
	for link, to := range map[string]string{"homelink": w.o.Home, "rootlink": "/", "etclink": "/etc", "sub/up": w.o.Home, "safe": filepath.Join(w.dir, "sub")} {
		if err := os.Symlink(to, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for want, commands := range map[policy.Verdict][]string{
		policy.Deny: {
			"rm -rf homelink/*", "rm -rf homelink/", "rm -rf homelink/.", "rm -rf ./homelink/.*", "rm homelink/*", "rm -rf home*/*", "rm -rf */*", "rm -rf etclink/*", "rm -rf rootlink/etc", "rm -rf rootlink/e*", "rm -rf sub/up/*",
			"find -L homelink -mindepth 1 -delete", "find homelink/ -delete", "find -H homelink -delete", "find homelink -follow -delete", "find -L . -delete", "find homelink/ -exec rm -rf {} +", "cd homelink && rm -rf *", "cd homelink; find . -delete", "cd sub; rm -rf up/*", "mv homelink/* /tmp", "chmod -R 000 homelink",
			"rsync -a --delete sub/ homelink/", "rsync -a --delete sub/ homelink", "rm -rf homelink/../" + filepath.Base(w.o.Home), "d=homelink; rm -rf $d/*", "find homelink/ | xargs rm -rf", "bash -c 'rm -rf homelink/*'",
			"rm -rf $UNSET/*", `rm -rf "$UNSET"/`, `rm -rf "${UNSET}/"*`, `rm -rf "$UNSET/$OTHER"`, `cd sub && rm -rf $UNSET/*`, "rm -rf $MINE", `rm -rf "$MINE"/*`,
		},
		policy.Allow: {
			"rm homelink", "rm -rf homelink", "unlink homelink", "rm -rf safe/*", "rm -rf *", "rm -rf ./*", "rm -rf sub", "find homelink -delete", "find -L homelink -name '*.log' -delete", "rm -f homelink/x.log", "rm -rf homelink/build", "ls homelink/*", "mv homelink old", "rm -rf $BUILD/*", `rm -rf "$UNSET"`, `rm -rf "$UNSET/x"`,
			`rm -rf "${UNSET:?}"/*`, `x=$(mktemp -d); rm -rf "$x"/*`, ". ./vars.sh; rm -rf $OUT/*", "rm -rf .env", "find . -name '*.o' -delete", "rm -rf -- homelink",
		},
	} {
		for _, c := range commands {
			if d := w.Judge(c, "", "", ""); d.Verdict != want {
				t.Errorf("%q: %v, want %v: %s", c, d.Verdict, want, d.Reason)
			}
		}
	}
	home := newWorld(t, nil, func(o *Options) { o.Dir, o.Rules.Yolo = o.Home, true })
	for _, c := range []string{"rm -rf *", "rm -rf ./*", "rm -rf .", "rm -rf .*", "find . -delete", "rm -rf $PWD/*", "ls | xargs rm -rf"} {
		if d := home.Judge(c, "", "", ""); d.Verdict != policy.Deny {
			t.Errorf("in the home directory: %q: %v", c, d.Verdict)
		}
	}
	if d := home.Judge("rm -rf build/*", "", "", ""); d.Verdict != policy.Allow {
		t.Errorf("in the home directory: %v %s", d.Verdict, d.Reason)
	}
}

func BenchmarkCapture(b *testing.B) {
	g, err := New(Options{Dir: b.TempDir(), Home: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	var count, logs strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&count, "%d\n", i)
		fmt.Fprintf(&logs, "2026-01-02T03:04:05Z INFO  [worker-%d] compiled package internal/server in %d ms (cached=%v)\n", i%8, i%997, i%2 == 0)
	}
	for name, text := range map[string]string{"y": strings.Repeat("y\n", 1<<20), "numbers": count.String(), "log": logs.String()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				effects{looks: looks{g}}.capture(30_000).drain(strings.NewReader(text))
			}
		})
	}
}

// Git writes files for a program that shows diffs, so one in the user's own settings would break each unasked git diff.
func TestUsersOwnDiffProgram(t *testing.T) {
	unasked := func(c *Command) { c.ByUser = false }
	for _, config := range []string{"[diff]\n\texternal = false\n", "[diff \"x\"]\n\ttextconv = false\n[core]\n\tattributesFile = ~/a\n"} {
		w := newWorld(t, map[string]string{"a": "1\n", "skipped": "1\n", "../home/a": "* diff=x\n", "../home/ignored": "skipped\n",
			"../home/.gitconfig": "[core]\n\texcludesFile = ~/ignored\n[diff]\n\tmnemonicPrefix = true\n" + config})
		git(t, w.Dir(), "init", "-q")
		git(t, w.Dir(), "add", "a")
		w.put("a", "2\n")
		if out := w.run("git diff", unasked).Text; !strings.Contains(out, "--- i/a") || !strings.Contains(out, "-1\n+2\n") {
			t.Errorf("%q: git diff gave %s", config, out)
		}
		if out := w.run("git status --short", unasked).Text; strings.Contains(out, "skipped") {
			t.Errorf("%q: the user's other settings are gone: %s", config, out)
		}
	}
}

// Whoever puts a link in the place of the directory leads neither a file tool nor an unasked command elsewhere.
func TestDirectorySwappedForALink(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "inside\n", "../elsewhere/f": "outside\n"})
	if err := errors.Join(os.Rename(w.Dir(), w.Dir()+".old"), os.Symlink(w.path("../elsewhere"), w.Dir())); err != nil {
		t.Fatal(err)
	}
	if d := w.Judge("cat f", "", "", ""); d.Verdict == policy.Allow {
		t.Errorf("a command is allowed: %+v", d)
	}
	if f, err := w.Read(t.Context(), "f", 0); err == nil {
		t.Errorf("read %q", f.Data)
	}
}
