package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/policy"
	"anchor/internal/tool"
)

// bench is a directory with a gate that asks nothing.
type bench struct {
	t   testing.TB
	env tool.Env
	dir string
}

// lay makes files: "name/" is a directory, "-> x" as content a link.
func lay(t testing.TB, files map[string]string) bench {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		target, isLink := strings.CutPrefix(content, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(full, 0o755)
		case isLink:
			err = os.Symlink(target, full)
		case err == nil:
			err = os.WriteFile(full, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := gate.New(gate.Options{Dir: dir, Home: t.TempDir(), Env: append(os.Environ(), "GH_TOKEN=ghp_0123456789abcdefghij0123456789abcdef"), Rules: policy.Rules{Yolo: true}, Sink: func(event.Event) {}, OutputDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return bench{t, tool.Env{CallID: "1", Gate: g}, dir}
}

// call runs a tool with arguments given as key, value, key, value.
func (b bench) call(name string, args ...any) tool.Result {
	b.t.Helper()
	in := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		in[args[i].(string)] = args[i+1]
	}
	data, _ := json.Marshal(in)
	for _, t := range All(true, true, true) {
		if t.Spec().Name == name {
			r, err := t.Run(b.t.Context(), b.env, data)
			if err != nil {
				b.t.Fatal(err)
			}
			if !utf8.ValidString(r.Text) {
				b.t.Errorf("%s: not UTF-8", name)
			}
			return r
		}
	}
	b.t.Fatalf("no tool %s", name)
	return tool.Result{}
}

// want checks the outcome and that the text has all of some parts, and none of those that start with "!".
func (b bench) want(r tool.Result, o tool.Outcome, parts ...string) {
	b.t.Helper()
	if r.Outcome != o {
		b.t.Errorf("outcome %d, want %d: %.300s", r.Outcome, o, r.Text)
	}
	for _, p := range parts {
		if p, not := strings.CutPrefix(p, "!"); strings.Contains(r.Text, p) == not {
			b.t.Errorf("result has %q: %v\n%.600s", p, not, r.Text)
		}
	}
}

func (b bench) file(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func TestDefinitionsAreShort(t *testing.T) {
	sum, names := 0, ""
	for _, x := range All(true, true, true) {
		s := x.Spec()
		data, _ := json.Marshal(map[string]any{"name": s.Name, "description": s.Description, "input_schema": s.Schema})
		sum += len(data)
		names += s.Name + " "
		t.Log(string(data))
	}
	if sum >= 6000 {
		t.Errorf("%d characters", sum)
	}
	if names != "read_file list_dir glob grep write_file edit_file shell agent agent_status agent_stop ask_user skill " {
		t.Error(names)
	}
}

func TestReadFile(t *testing.T) {
	var big strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&big, "line %d\n", i+1)
	}
	u16 := func(s string, swap bool) string {
		var out []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
			if swap {
				u = u<<8 | u>>8
			}
			out = append(out, byte(u), byte(u>>8))
		}
		return string(out)
	}
	pem := strings.Repeat("Zm9vYmFy", 8) + "\n"
	b := lay(t, map[string]string{
		"big.txt": big.String(), "tabs.go": "a\n\tb\n", "crlf": "x\r\ny\r\n", "bom": bom + "first\n", "le": u16("héllo\r\n", false), "be": u16("héllo\n", true), "bare": u16("hello, bare text\n", false)[2:],
		"latin": "caf\xe9\n", "bad": "é é é \xff\n", "bin": "\x7fELF\x00\x01\x02", "random": "\x00\x01\x02", "pdf": "%PDF-1.4 x", "empty": "", "min.js": strings.Repeat("é", 2_500_000), "png": "\x89PNG\r\n\x1a\n1234",
		"token": "a\ntoken = ghp_0123456789abcdefghij0123456789abcdef\nb\n", "wide": strings.Repeat(strings.Repeat("w", 1000)+"\n", 100), "d/x": "", "zero": "-> /dev/zero", ".env": "A=b", "noend": "last",
		"key": "-----BEGIN RSA PRIVATE KEY-----\n" + pem + pem + "-----END RSA PRIVATE KEY-----\nend\n",
	})
	if out, err := exec.Command("mkfifo", filepath.Join(b.dir, "pipe")).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %s", out)
	}
	b.want(b.call("read_file", "path", "big.txt", "offset", 100, "limit", 5), tool.OK, "   100\tline 100\n", "line 104\n", "!line 105\n", "offset 105")
	b.want(b.call("read_file", "path", "big.txt"), tool.OK, "line 2000\n", "!line 2001\n", "[lines 1 to 2000 of 5000; read on with offset 2001]")
	b.want(b.call("read_file", "path", "big.txt", "offset", 4999), tool.OK, "line 5000\n", "![lines")
	b.want(b.call("read_file", "path", "big.txt", "offset", 5001), tool.Failed, "5000 lines")
	b.want(b.call("read_file", "path", "tabs.go"), tool.OK, "     2\t\tb\n")
	b.want(b.call("read_file", "path", "crlf"), tool.OK, "     1\tx\n", "!\r")
	b.want(b.call("read_file", "path", "bom"), tool.OK, "     1\tfirst\n")
	b.want(b.call("read_file", "path", "le"), tool.OK, "\théllo\n", "UTF-16 LE")
	b.want(b.call("read_file", "path", "be"), tool.OK, "\théllo\n", "UTF-16 BE")
	b.want(b.call("read_file", "path", "bare"), tool.OK, "\thello, bare text\n", "UTF-16 LE")
	b.want(b.call("read_file", "path", "latin"), tool.OK, "\tcafé\n", "Latin-1")
	b.want(b.call("read_file", "path", "bad"), tool.OK, "\té é é \ufffd\n")
	b.want(b.call("read_file", "path", "bin"), tool.OK, "binary", "program", "7 bytes")
	b.want(b.call("read_file", "path", "random"), tool.OK, "binary")
	b.want(b.call("read_file", "path", "pdf"), tool.OK, "PDF")
	b.want(b.call("read_file", "path", "empty"), tool.OK, "is empty")
	b.want(b.call("read_file", "path", "noend"), tool.OK, "     1\tlast\n")
	b.want(b.call("read_file", "path", "token"), tool.OK, "     2\t", "[masked:", "     3\tb\n", "!ghp_0123")
	b.want(b.call("read_file", "path", "key", "offset", 3), tool.OK, "     3\t[masked:", "     5\tend\n", "!Zm9vYmFy")
	b.want(b.call("read_file", "path", "d"), tool.Failed, "directory", "list_dir")
	b.want(b.call("read_file", "path", "pipe"), tool.Failed, "named pipe")
	b.want(b.call("read_file", "path", "zero"), tool.Failed, "device")
	b.want(b.call("read_file", "path", ".env"), tool.Failed, "Refused")
	b.want(b.call("read_file", "path", "no"), tool.Failed, "does not exist")
	if r := b.call("read_file", "path", "min.js"); len(r.Text) > 5000 || !strings.Contains(r.Text, "line cut") {
		t.Errorf("%d bytes", len(r.Text))
	}
	if r := b.call("read_file", "path", "wide"); len(r.Text) > readBytes+2000 || !strings.Contains(r.Text, "read on with offset") {
		t.Errorf("%d bytes", len(r.Text))
	}
	if r := b.call("read_file", "path", "png"); len(r.Images) != 1 || r.Images[0].Type != "image/png" {
		t.Errorf("%+v", r)
	}
}

func TestListDir(t *testing.T) {
	b := lay(t, map[string]string{"a.txt": strings.Repeat("x", 2048), "src/b.go": "", "src/deep/c/d.go": "", ".hidden": "", ".gitignore": "build/\n", "build/x": "", ".env": "A=b", "dead": "-> /no/such", "loop": "-> ."})
	b.want(b.call("list_dir"), tool.OK, "a.txt  2.0 KB\n", "src/\n  b.go", "  deep/\n", "!  c/", ".hidden", "dead (link)", "loop (link)", "!build", "!.env", "1 ignored", "1 secret")
	b.want(b.call("list_dir", "path", "src", "depth", 9), tool.OK, "deep/\n  c/\n    d.go", "[2 files, 2 directories]")
	b.want(b.call("list_dir", "ignored", true), tool.OK, "build/\n  x")
	b.want(b.call("list_dir", "path", "a.txt"), tool.Failed, "not a directory")
	b.want(b.call("list_dir", "path", "nope"), tool.Failed, "does not exist")
}

func TestListDirOfVeryMany(t *testing.T) {
	b := lay(t, map[string]string{"many/": "", "other/x": ""})
	for i := range 3000 {
		if err := os.WriteFile(filepath.Join(b.dir, "many", fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := b.call("list_dir")
	b.want(r, tool.OK, "other/\n  x", "more entries", "[3001 files, 2 directories]")
	if n := strings.Count(r.Text, "\n"); n > listMax {
		t.Errorf("%d lines", n)
	}
}

func TestGlob(t *testing.T) {
	b := lay(t, map[string]string{"a.txt": "", "src/b.go": "", "src/deep/c.go": "", ".gitignore": "gen*\n", "src/gen.go": "", "dead": "-> /no/such", "x{y}.txt": ""})
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(b.dir, "src/b.go"), old, old); err != nil {
		t.Fatal(err)
	}
	b.want(b.call("glob", "pattern", "*"), tool.OK, "a.txt\n", "dead\n", "src/deep/c.go\n", "!gen.go")
	b.want(b.call("glob", "pattern", "**/*.go"), tool.OK, "src/deep/c.go\nsrc/b.go\n", "1 ignored")
	b.want(b.call("glob", "pattern", "./src/*.{go,ts}"), tool.OK, "src/b.go\n", "!c.go")
	b.want(b.call("glob", "pattern", "*.go", "path", "src/deep"), tool.OK, "src/deep/c.go\n", "!b.go")
	b.want(b.call("glob", "pattern", "s*/"), tool.OK, "src\n", "!b.go")
	b.want(b.call("glob", "pattern", "*.go", "ignored", true), tool.OK, "src/gen.go\n")
	b.want(b.call("glob", "pattern", `x\{y\}.txt`), tool.OK, "x{y}.txt\n")
	b.want(b.call("glob", "pattern", "*.none"), tool.OK, "No files match")
	for _, broken := range []string{"[", "{a", "a[", `\`, "", "a/[z-"} {
		b.want(b.call("glob", "pattern", broken), tool.Failed, "pattern")
	}
}

func TestGrep(t *testing.T) {
	b := lay(t, map[string]string{
		"a.go": "one\nneedle here\nthree\nfour\nNeedle\n", "src/b.txt": "x\nneedle\r\n", "bin": "needle\x00", ".gitignore": "*.log\n", "x.log": "needle\n", "src/loop": "-> ..", "dead": "-> /no/such", "zero": "-> /dev/zero",
		"u16": "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\n\x00", "min.js": strings.Repeat("é", 100_000) + "MATCH" + strings.Repeat("é", 100_000), "token.txt": "key ghp_0123456789abcdefghij0123456789abcdef", ".env": "needle=1",
		"key.txt": strings.Repeat("x\n", 6) + "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("Zm9vYmFy", 8)+"\n", 30) + "-----END RSA PRIVATE KEY-----\n",
	})
	b.want(b.call("grep", "pattern", "needle"), tool.OK, "a.go:2:needle here\n", "src/b.txt:2:needle\n", "u16:1:needle\n", "!x.log", "!bin:", "!.env", "1 secret", "1 binary", "1 ignored")
	b.want(b.call("grep", "pattern", "needle", "ignore_case", true, "path", "a.go"), tool.OK, "a.go:2:", "a.go:5:Needle")
	b.want(b.call("grep", "pattern", "needle$", "glob", "*.txt"), tool.OK, "src/b.txt:2:needle\n", "!a.go")
	b.want(b.call("grep", "pattern", "needle", "glob", "src/*", "ignored", true), tool.OK, "src/b.txt", "!x.log")
	b.want(b.call("grep", "pattern", "(?i)needle", "path", "a.go", "context", 1), tool.OK, "a.go-1-one\na.go:2:needle here\na.go-3-three\na.go-4-four\na.go:5:Needle\n")
	b.want(b.call("grep", "pattern", "e", "path", "a.go", "limit", 2), tool.OK, "a.go:1:", "a.go:2:", "!a.go:3:", "[2 more matches, in 1 files in all")
	b.want(b.call("grep", "pattern", "needle", "mode", "files"), tool.OK, "a.go\nsrc/b.txt\nu16\n")
	b.want(b.call("grep", "pattern", "(?i)needle", "mode", "count"), tool.OK, "a.go:2\nsrc/b.txt:1\n")
	b.want(b.call("grep", "pattern", "absent"), tool.OK, "No matches")
	b.want(b.call("grep", "pattern", "^Zm9v", "path", "key.txt"), tool.OK, "key.txt:8:[masked:", "!Zm9v")
	b.want(b.call("grep", "pattern", "ghp_"), tool.OK, "token.txt:1:key [masked:", "!0123456789")
	for _, broken := range []string{"foo(", "[[", "*x", "(", ""} {
		b.want(b.call("grep", "pattern", broken), tool.Failed, "pattern")
	}
	b.want(b.call("grep", "pattern", "x", "mode", "all"), tool.Failed, "content, files or count")
	b.want(b.call("grep", "pattern", "x", "path", "nope"), tool.Failed, "does not exist")
	if r := b.call("grep", "pattern", "MATCH"); len(r.Text) > 1000 || !strings.Contains(r.Text, "éMATCHé") {
		t.Errorf("%d bytes: %.200s", len(r.Text), r.Text)
	}
}

func TestGrepIsBoundedAndSorted(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("f%03d", i)] = strings.Repeat("x\n", 100)
	}
	b := lay(t, files)
	r := b.call("grep", "pattern", "x")
	b.want(r, tool.OK, "f000:1:x\n", "f001:100:x\n", "!f002:1:", "[29800 more matches, in 300 files in all")
	b.want(b.call("grep", "pattern", "x", "limit", 102, "context", 1), tool.OK, "--\nf001:1:x\nf001:2:x\n[29898 more")
	b.want(b.call("grep", "pattern", "x", "mode", "files", "limit", 3), tool.OK, "f000\nf001\nf002\n[297 more files")
}

// TestLinesAsRegexp: what is skipped without matching would not have matched.
func TestLinesAsRegexp(t *testing.T) {
	text := "func Open(name string)\nDEADLOCK\ndeadloc\u212a\r\n\u017ftatus: ok\nTODO(me): x\n\nab\nab cd\nfooError(1)\nx\u00e9y\na\x00b\nlast k"
	for _, p := range []string{"func Open", "(?i)deadlock", "(?i)STATUS", "TODO\\(\\w+\\)", "[a-z]+Error\\(", "foo|cd|x", "^$", "^a", "b$", "(?i)foo|DEAD|k$", "a.b", "(ab)+ c", "x{1,3}", "é", "(?i)É", "a\nb", "(?i)k", "s*", "[^a]b", "\\bok\\b", "(foo|bar)?x", "(?i:todo)|ab"} {
		m, err := newLineMatcher(p, false)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []int
		m.lines([]byte(text), func(n int) bool { got = append(got, n); return true })
		for i, line := range strings.Split(text, "\n") {
			if m.re.MatchString(strings.TrimSuffix(line, "\r")) {
				want = append(want, i+1)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v (texts %q)", p, got, want, m.texts)
		}
	}
}

func TestWriteFile(t *testing.T) {
	b := lay(t, map[string]string{"a.txt": "mine\n", "crlf": bom + "a\r\nb\r\n", "real.txt": "one\n", "link.txt": "-> real.txt", "long": strings.Repeat("z", 5000) + "\n"})
	if err := os.Chmod(filepath.Join(b.dir, "crlf"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.want(b.call("write_file", "path", "new/dir/x.txt", "content", "hi\nho\n"), tool.OK, "Created new/dir/x.txt (2 lines)")
	b.want(b.call("write_file", "path", "new/dir/x.txt", "content", "own writes count\n"), tool.OK, "Wrote")
	b.want(b.call("write_file", "path", "a.txt", "content", "yours\n"), tool.Failed, "read it first")
	b.call("read_file", "path", "a.txt")
	if err := os.WriteFile(filepath.Join(b.dir, "a.txt"), []byte("user\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.want(b.call("write_file", "path", "a.txt", "content", "yours\n"), tool.Failed, "changed since")
	b.call("read_file", "path", "crlf")
	b.want(b.call("write_file", "path", "crlf", "content", "x\ny\n"), tool.OK)
	if info, _ := os.Stat(filepath.Join(b.dir, "crlf")); b.file("crlf") != bom+"x\r\ny\r\n" || info.Mode().Perm() != 0o755 || b.file("a.txt") != "user\n" {
		t.Errorf("%q, %q", b.file("crlf"), b.file("a.txt"))
	}
	b.call("read_file", "path", "link.txt")
	b.want(b.call("write_file", "path", "link.txt", "content", "two\n"), tool.OK)
	if target, _ := os.Readlink(filepath.Join(b.dir, "link.txt")); target != "real.txt" || b.file("real.txt") != "two\n" {
		t.Error("the link was replaced")
	}
	b.call("read_file", "path", "long")
	b.want(b.call("write_file", "path", "long", "content", "x"), tool.Failed, "not read whole")
	b.want(b.call("write_file", "path", "real.txt", "content", "two\n"), tool.OK, "nothing was written")
	b.want(b.call("write_file", "path", "x"), tool.Failed, "content is missing")
}

func TestEditFile(t *testing.T) {
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintln(&lines, i+1)
	}
	b := lay(t, map[string]string{"n.txt": lines.String(), "u.txt": "\xff\xfeh\x00", "real/conf": "v=1", "link": "-> real/conf", "secret.txt": "a\npassword: ghp_0123456789abcdefghij0123456789abcdef\n"})
	b.want(b.call("edit_file", "path", "n.txt", "edits", []edit{{Old: "\n50\n", New: "\nFIFTY\n"}, {Old: "\n75\n", New: "\nSEVENTY\nFIVE\n"}}), tool.OK, "Wrote n.txt (+3 -2 lines)", "@@ -47,7 +47,7 @@\n", "+FIFTY\n", "+FIVE\n", "! 60\n")
	b.want(b.call("edit_file", "path", "n.txt", "edits", []edit{{Old: "  51\n  52", New: "  x\n  y"}}), tool.OK, "edits[0]: matched with another indentation", "-51\n-52\n+x\n+y\n")
	b.want(b.call("edit_file", "path", "n.txt", "edits", []edit{{Old: "none", New: "x"}}), tool.Failed, "old is not in the file", "Nothing was written")
	b.want(b.call("edit_file", "path", "n.txt", "edits", []edit{}), tool.Failed, "edits is empty")
	b.want(b.call("edit_file", "path", "nope", "edits", []edit{{Old: "a", New: "b"}}), tool.Failed, "does not exist")
	b.want(b.call("edit_file", "path", "u.txt", "edits", []edit{{Old: "h", New: "b"}}), tool.Failed, "UTF-16")
	b.want(b.call("edit_file", "path", "secret.txt", "edits", []edit{{Old: "password: [masked: github token]", New: "y"}}), tool.Failed, "is not shown")
	b.want(b.call("edit_file", "path", "link", "edits", []edit{{Old: "v=1", New: "v=2"}}), tool.OK, "Wrote real/conf")
	b.want(b.call("edit_file", "path", "secret.txt", "edits", []edit{{Old: "passwort: ghp_0123456789abcdefghij0123456789", New: "y"}}), tool.Failed, "[masked:", "!ghp_")
	if b.file("real/conf") != "v=2" || !strings.Contains(b.file("n.txt"), "\nx\ny\n53\n") {
		t.Error(b.file("n.txt"))
	}
}

func TestShell(t *testing.T) {
	b := lay(t, map[string]string{"f": ""})
	b.want(b.call("shell", "command", "echo a; echo b >&2; exit 3"), tool.Exited, "a\nb\nexit code 3")
	b.want(b.call("shell", "command", "true"), tool.OK, "(no output)\nexit code 0")
	b.want(b.call("shell", "command", "sleep 40", "timeout", 1), tool.Failed, "timed out after 1s", "may have had effects")
	b.want(b.call("shell", "command", "seq 1 200000"), tool.OK, "1\n2\n", "200000\n", "the whole output is in")
	b.want(b.call("shell", "command", "sleep 30 & echo started"), tool.OK, "started", "background", "exit code 0")
	b.want(b.call("shell", "command", "kill -9 $$"), tool.Exited, "signal")
	b.want(b.call("shell", "command", "  "), tool.Failed, "empty")
	b.want(b.call("shell", "command", "true", "timeout", 5000), tool.Failed, "3600")
	b.want(b.call("shell", "command", "sudo true"), tool.Failed, "Refused")

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(b.dir, "begun")); err == nil {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	r, err := shell().Run(ctx, b.env, json.RawMessage(`{"command":"echo begun; sleep 0.1; touch begun; sleep 30"}`))
	if err == nil {
		t.Error("the cancel was not told")
	}
	b.want(r, tool.Failed, "begun", "cancelled", "may have had effects")
	if r, err = shell().Run(ctx, b.env, json.RawMessage(`{"command":"true"}`)); err == nil || r.Text != "" {
		t.Errorf("a command that was not begun: %+v, %v", r, err)
	}
}
