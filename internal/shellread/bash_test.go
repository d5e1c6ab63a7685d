package shellread

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// scratch makes a directory like a small project, in a git repository, and returns it.
func scratch(t testing.TB) string {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "ws")
	for name, text := range map[string]string{
		"README.md": "# Title\nreadme\n", "CHANGELOG.md": "changes\n", "go.mod": "module example.com/ws\n\ngo 1.24\n", "main.go": "package main\n\nfunc main() {} // TODO\n",
		"src/app.ts": "export const foo = 1\n", "src/util.go": "package src\n", "internal/agent/agent.go": "package agent\n", "docs/guide.md": "BEGIN\nfoo\nEND\n", "docs/my notes.md": "notes\n",
		"data.csv": "a,1,10\nb,2,20\na,1,10\n", "sorted.csv": "a,1,10\na,1,10\nb,2,20\n", "log.txt": "INFO x\nERROR y 12\n", "config.yaml": "# c\na: 1\n", "package.json": "{\"name\":\"ws\",\"dependencies\":{}}\n",
		".gitignore": "node_modules\n", "x": "x\n", "a": "a\n", "-o": "dash\n", "list": "x\x00", "s.sed": "w out\n", "prog": "BEGIN { print > \"out\" }\n", "../out/notes.txt": "outside\n", "../home/.gitconfig": "[user]\n\tname = t\n\temail = t@example.invalid\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []string{"git init -q -b main . && git add -A && git commit -qm init && git tag v1.0.0", "echo more >>CHANGELOG.md && git commit -qam more && echo dirty >>README.md && echo s >>x && git stash -q && echo dirty >>a"} {
		if out, err := bash(dir, c); err != nil {
			t.Fatalf("%s: %v\n%s", c, err, out)
		}
	}
	return dir
}

// bash runs a command as the contract in the package's documentation says, bounded.
func bash(dir, command string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// Five seconds of a core each, also for what bash leaves behind: an endless loop of awk's reads only, too.
	c := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-c", `ulimit -t 5; exec bash --noprofile --norc -c "$1"`, "bash", command)
	c.Dir, c.WaitDelay = dir, time.Second
	home := filepath.Join(filepath.Dir(dir), "home")
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "PWD=" + dir, "LC_ALL=C.UTF-8", "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=diff.autoRefreshIndex",
		"GIT_CONFIG_VALUE_0=false", "GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOTELEMETRY=off", "GOENV=off", "GOCACHE=" + filepath.Join(os.TempDir(), "shellread-gocache"), "NO_UPDATE_NOTIFIER=1", "npm_config_cache=" + filepath.Join(os.TempDir(), "shellread-npm")}
	var out bounded
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return string(out), err
}

// bounded keeps 1 MB and then fails, which ends what prints for ever.
type bounded []byte

func (b *bounded) Write(p []byte) (int, error) {
	if *b = append(*b, p...); len(*b) > 1<<20 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// state is every file of the directory and beside it, with content, mode and time.
func state(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "home" { // the toolchains keep their counters there
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var sum [32]byte
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(data)
		}
		fmt.Fprintln(&b, path, info.Mode(), info.ModTime().UnixNano(), sum)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// covered reports whether what a read-only reading leaves open holds in the scratch tree, where a file is named -o: no
// wildcard may match that.
func covered(got Reading) bool {
	for _, p := range reads(got) {
		if p.Glob && strings.ContainsAny(p.Text[:1], "*?") {
			return false
		}
	}
	return got.ReadOnly
}

// TestReadOnlyIsReadOnly runs what the reader calls read-only and compares the tree before and after.
func TestReadOnlyIsReadOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("runs hundreds of commands")
	}
	dir := scratch(t)
	before, ran := state(t, dir), 0
	for _, r := range corpus(t) {
		if !covered(Read(r.Command)) {
			continue
		}
		ran++
		out, _ := bash(dir, r.Command)
		if after := state(t, dir); after != before {
			t.Errorf("%q changed the tree: %s", r.Command, out)
			dir = scratch(t)
			before = state(t, dir)
		}
	}
	if ran < 300 {
		t.Errorf("only %d commands were run", ran)
	}
}

// TestWordsAgreeWithBash gives bash and the reader the same words. Where the reader knows the words, bash must have the
// same; where it says nothing, that is no error, but what is marked with = must be known.
func TestWordsAgreeWithBash(t *testing.T) {
	dir := scratch(t)
	for _, c := range []string{
		"=a b  c\td", "='a b' \"c d\" e\\ f", "=a'b'\"c\"d", "=''", "=\"\" x ''", "=\\a\\\\b\\'c\\\"", "=\"a\\b\\\\c\\\"d\\$e\\`f\\\ng\"", "='a\\b'", "=a\\\nb \\\n c",
		"=$'a\\tb\\n\\x41\\101\\u00e9\\'\\\"\\\\\\a\\e'", "=\"$'x'\"", "=a#b # c", "=\\# a", "='#'", "=a=b c:d", "=--x=y", "=$ a$ \"$\" $", "=a{b}c {} x{}y", "={a} a{b}{c}", "=@{u} HEAD@{1}..HEAD@{2}",
		"={1}..{3}", "=^a !b c! %d", "=[ ] ]", "=a~ b~c", "=\"~\" '~/a' \\~", "=é 漢字 \"\u00a0\"", "=a\"b\"'c'$'d'\\e", "=1>&2 x", "=x 2>/dev/null", "=-n -e --", "=\"a\nb\"", "='a\nb'", "=\"a'b\" 'a\"b'",
		"=a\\;b\\&\\|\\<\\>\\(\\)", "='!' !", "=a!b", "=} x", "=if then else fi do done", "=a\\*b \\? \\[x]", "='*' \"?\" '['", "=$'\\?'", "=\"\\a\"", "=\"\\\n\"", "=a,b ,", "=a..b ..", "x{", "{,", "x{ y}", "~x~", "~\\a", "=\\{a,b}", "={'a,b'}",
		"{a,b}", "{1..3}", "{a,b", "a{b,c}{d", "{{a},b}", "{a,{b}", "x{a..c}", "{'a',b}", "$'\\x4'", "$'\\c'", "$'a\\0b'", "~", "~/x", "~+", "a=~", "a:~", "a=b:~/c", "*", "[a-z]", "a?", "$x", "$'\\u41'", "a\\", "{a\\,b}", "{a,b\\}", "{a}..{b,c}", "$\"x\"", "{}a,b{}", "{a}{b,c}", "\"{a,b}\"",
	} {
		known := strings.HasPrefix(c, "=")
		c = strings.TrimPrefix(c, "=")
		file, err := Parse("printf '<%s>' " + c)
		if err != nil {
			if known {
				t.Errorf("%q: %v", c, err)
			}
			continue
		}
		var have strings.Builder
		for _, w := range file.Stmts[0].Cmd.(*syntax.CallExpr).Args[2:] {
			word, reason := readWord(w)
			if reason != "" || word.glob() || word.tilde {
				if known {
					t.Errorf("%q: %s", c, reason)
				}
				have.Reset()
				have.WriteString("unknown")
				break
			}
			have.WriteString("<" + word.text + ">")
		}
		if want, _ := bash(dir, "printf '<%s>' "+c); have.String() != "unknown" && have.String() != want {
			t.Errorf("%q: read %s, bash has %s", c, have.String(), want)
		}
	}
}

// FuzzRead looks for a panic, for a reading that contradicts itself, and for a command that is called read-only and
// changes the tree when bash runs it.
func FuzzRead(f *testing.F) {
	for _, r := range corpus(f) {
		f.Add(r.Command)
	}
	dir := scratch(f)
	before := state(f, dir)
	f.Fuzz(func(t *testing.T, command string) {
		got := Read(command)
		if got.ReadOnly != (got.Reason == "") || got.ReadOnly && command == "" {
			t.Fatalf("%q: %+v", command, got)
		}
		for _, p := range got.Parts {
			if len(p.Words) == 0 && got.Plain {
				t.Fatalf("%q: an empty part", command)
			}
		}
		if !covered(got) || strings.Contains(command, "/") && strings.ContainsAny(command, "~") {
			return
		}
		for _, p := range reads(got) {
			if strings.HasPrefix(p.Text, "/") || strings.Contains(p.Text, "..") {
				return
			}
		}
		for _, slow := range []string{"sleep", "seq", "go", "gofmt", "npm", "java", "node", "python", "find", "ps", "du"} {
			if strings.Contains(command, slow) {
				return
			}
		}
		out, _ := bash(dir, command)
		if after := state(t, dir); after != before {
			before = after
			t.Fatalf("%q changed the tree: %s", command, out)
		}
	})
}
