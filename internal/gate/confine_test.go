//go:build linux

package gate

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"anchor/internal/policy"
	"anchor/internal/shellread"
)

// asRead runs a command as one that was allowed as read-only, whatever it is: as if the reader had made a mistake.
func (w *world) asRead(text string) Output {
	w.t.Helper()
	out, err := (effects{looks{w.Gate}, policy.Decision{Verdict: policy.Allow, ReadOnly: true}}).run(w.t.Context(), Command{Text: text}, strings.Fields(text)[:1])
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return out
}

func TestConfined(t *testing.T) {
	if !strings.HasPrefix(Confinement(), "Landlock") {
		t.Skip(Confinement())
	}
	w := newWorld(t, map[string]string{"a.txt": "inside\n", "run.sh": "#!/bin/sh\necho ran\n", "../out/o.txt": "outside\n"})
	_ = os.Chmod(w.path("run.sh"), 0o755)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().String()[len("127.0.0.1:"):]
	for _, c := range []string{
		"cat a.txt | wc -l", "ls -la >/dev/null", "grep -rn inside . 2>/dev/null", "find . -name '*.txt'", "sort a.txt", "sed -n 1p a.txt",
		"awk '{print $1}' a.txt", "git --version", "cat /etc/passwd >/dev/null", "echo x >/dev/null", "cat /proc/self/status >/dev/null",
	} {
		if out := w.asRead(c); out.Exit != 0 {
			t.Errorf("%s: %+v", c, out)
		}
	}
	for _, c := range []string{
		"touch new", "echo x >> a.txt", "truncate -s 0 a.txt", "rm a.txt", "mkdir d", "mv a.txt b.txt", "ln a.txt b.txt", "ln -s a b", "chmod +x a.txt && touch new",
		"cat ../out/o.txt", "command cat ../out/o.txt", "ls ../out", "touch /tmp/anchor-confined-$$", "exec 3<>/dev/tcp/127.0.0.1/" + port, "./run.sh", "cat /proc/$PPID/environ", "kill -0 $PPID", "cat " + filepath.Join(w.root, "home", "x"),
	} {
		if out := w.asRead(c); out.Exit == 0 {
			t.Errorf("%s: %+v", c, out)
		}
	}
	if w.get("a.txt") != "inside\n" || w.get("new") != "(none)" {
		t.Error("something was written")
	}
}

// TestHidden lets a command, which is not confined, look for anchor's own environment. Root sees everything.
func TestHidden(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("as root nothing is hidden")
	}
	w := newWorld(t, nil)
	for text, ok := range map[string]bool{"cat /proc/$PPID/environ": false, "cat /proc/self/environ": true, "cat /proc/$$/environ": true} {
		out, err := (effects{looks{w.Gate}, policy.Decision{Verdict: policy.Allow}}).run(t.Context(), Command{Text: text}, nil)
		if err != nil || (out.Exit == 0) != ok {
			t.Errorf("%s: exit %d, %v", text, out.Exit, err)
		}
	}
}

func TestConfinedProgramsFromElsewhere(t *testing.T) {
	w := newWorld(t, map[string]string{"../home/tool/bin/say": "#!/bin/sh\ncat \"$(dirname \"$(readlink \"$0\")\")/../lib/text\"\n", "../home/tool/lib/text": "hello\n"}, func(o *Options) {
		o.Env = []string{"PATH=" + o.Home + "/bin:/etc/passwd/bin:" + os.Getenv("PATH"), "HOME=" + o.Home}
	})
	tool := filepath.Join(w.root, "home", "tool", "bin", "say")
	if err := errors.Join(os.Chmod(tool, 0o755), os.Mkdir(filepath.Join(w.root, "home", "bin"), 0o755), os.Symlink(tool, filepath.Join(w.root, "home", "bin", "say"))); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"home": "", "": "", "home/bin": "home/bin", "home/.cargo/bin": "home/.cargo/bin", "home/go/bin": "home/go"} {
		dir = filepath.Join(w.root, dir)
		if want == "" && !w.aboveHome(dir) || want != "" && w.toolchain(dir) != filepath.Join(w.root, want) {
			t.Errorf("%s: %s", dir, w.toolchain(dir))
		}
	}
	if out := w.asRead("say"); out.Text != "hello\n" {
		t.Errorf("%+v", out)
	}
}

func TestConfinedGit(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "1\n", "sub/b.txt": "b\n", "../home/.gitconfig": "[include]\n\tpath = ~/more\n", "../home/more": "[user]\n\tname = t\n\temail = t@e\n"})
	w.run("git init -q && git add -A && git commit -qm one && echo 2 >> a.txt")
	mark := filepath.Join(w.root, "ran")
	w.put(".git/hooks/fsmonitor", "#!/bin/sh\ntouch "+mark+"\n")
	_ = os.Chmod(w.path(".git/hooks/fsmonitor"), 0o755)
	w.run("git config core.fsmonitor .git/hooks/fsmonitor")
	w.run("git config pretty.p %G? && git config core.sshCommand 'touch " + mark + "'")
	if out := w.asRead("pwd; git config --get diff.autoRefreshIndex; git -c protocol.file.allow=always ls-remote . || echo no fetching"); out.Text != w.Dir()+"\nfalse\nfatal: transport 'file' not allowed\nno fetching\n" {
		t.Errorf("%q", out.Text)
	}
	for c, want := range map[string]string{"git status --short": " M a.txt\n", "git log --format=%s": "one\n", "git diff --stat": " a.txt | 1 +\n 1 file changed, 1 insertion(+)\n"} {
		if out := w.asRead(c); out.Text != want || out.Exit != 0 {
			t.Errorf("%s: %+v", c, out)
		}
	}
	sub, err := New(Options{Dir: w.path("sub"), Home: w.o.Home, Env: w.o.Env, Sink: w.sink})
	if err != nil {
		t.Fatal(err)
	}
	below := &world{Gate: sub, t: t}
	if out := below.asRead("git status --short"); out.Text != " M ../a.txt\n" {
		t.Errorf("from below: %+v", out)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the repository's fsmonitor ran")
	}
}

func TestConfinementFailsClosed(t *testing.T) {
	u := yes()
	w := newWorld(t, map[string]string{"a.txt": "x\n"}, approver(u))
	w.confine = func(grants, func() error) error { return errConfine }
	out, err := w.Exec(t.Context(), Command{Text: "cat a.txt"})
	if err != nil || out.Text != "x\n" || len(u.asked) != 1 {
		t.Errorf("%+v %v, asked %d times", out, err, len(u.asked))
	}
}

func TestReadOnlyCommandsDoNotAsk(t *testing.T) {
	u := &user{}
	w := newWorld(t, map[string]string{"a.txt": "x\n"}, approver(u))
	for _, c := range []string{"cat a.txt", "ls", "cat *.txt"} {
		if out, err := w.Exec(t.Context(), Command{Text: c}); err != nil || out.Exit != 0 {
			t.Errorf("%s: %+v %v", c, out, err)
		}
	}
	if len(u.asked) > 0 {
		t.Errorf("asked %v", u.asked)
	}
	if _, err := w.Exec(t.Context(), Command{Text: "touch x"}); !isRefusal(err) || len(u.asked) != 1 || u.asked[0].Title != "Run command" || u.asked[0].Detail != "touch x" {
		t.Errorf("%v, asked %+v", err, u.asked)
	}
}

func TestPlanted(t *testing.T) {
	w := newWorld(t, map[string]string{"bin/ls": "#!/bin/sh\n", "bin/rg": "x", "../out/x": ""}, func(o *Options) {
		o.Env = []string{"PATH=bin:" + filepath.Join(o.Dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + o.Home}
	})
	_ = os.Chmod(w.path("bin/ls"), 0o755)
	for name, want := range map[string]bool{"ls": true, "cat": false, "rg": false, "none": false} {
		if w.planted(name) != want {
			t.Errorf("%s: planted is not %v", name, want)
		}
	}
	for _, entry := range w.cleanPath() {
		if !filepath.IsAbs(entry) || strings.HasPrefix(entry, w.Dir()) {
			t.Errorf("PATH keeps %s", entry)
		}
	}
	if out := w.asRead("command -v ls"); strings.HasPrefix(out.Text, w.Dir()) {
		t.Errorf("got %s", out.Text)
	}
}

func TestExpandGlobAsBash(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "", "b.txt": "", ".env": "x", ".hid/c.txt": "", "sub/d.txt": "", "sub/e.go": "", "[x]": "", "dir.d/f": ""})
	for _, p := range []string{"*", "*.txt", ".*nv", "?.txt", "[a-b].txt", "[!a].txt", "*/*.txt", "sub/*", "sub/.*x", "*/", "none*", "*.d/f", "./*.txt", "[[]x]", "*/../a.txt", w.Dir() + "/s*/d.txt", `\*.txt`, "sub//*.go"} {
		cmd := exec.Command("bash", "--norc", "-c", "printf '%s\n' "+p)
		cmd.Dir = w.Dir()
		want, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, list := range w.places([]shellread.Path{{Text: p, Glob: true}}, w.resolve) {
			for _, f := range list {
				got[f.Abs] = true
			}
		}
		n := 0
		for _, name := range strings.Split(strings.TrimSpace(string(want)), "\n") {
			abs := w.resolve(name).Abs
			if n++; !got[abs] {
				t.Errorf("%s: bash has %s, we have %v", p, abs, got)
			}
		}
		if len(got) > n {
			t.Errorf("%s: bash has %q, we have %v", p, want, got)
		}
	}
}

func BenchmarkConfinedCommand(b *testing.B) {
	for _, confined := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "confined"}[confined], func(b *testing.B) {
			g, err := New(Options{Dir: b.TempDir(), Env: os.Environ()})
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			e := effects{looks{g}, policy.Decision{Verdict: policy.Allow, ReadOnly: confined}}
			for b.Loop() {
				if _, err := e.run(b.Context(), Command{Text: "true"}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
