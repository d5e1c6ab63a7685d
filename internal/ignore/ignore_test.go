package ignore_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"anchor/internal/ignore"
)

// gitIgnored asks git which of the paths are ignored in a repository with these ignore files ("" is the user's excludes).
func gitIgnored(t *testing.T, files map[string]string, paths []string) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "core.excludesFile=" + filepath.Join(dir, ".git/global")}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		exit := new(exec.ExitError)
		if ok := errors.As(err, &exit); ok && exit.ExitCode() > 1 || err != nil && !ok {
			t.Fatalf("git %v: %v %s", args, err, exit.Stderr)
		}
		return string(out)
	}
	git("", "init", "-q")
	for _, p := range paths {
		if strings.HasSuffix(p, "/") { // git takes what does not exist for a file
			if err := os.MkdirAll(filepath.Join(dir, p), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, content := range files {
		full := filepath.Join(dir, name)
		if name == "" {
			full = filepath.Join(dir, ".git/global")
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var in strings.Builder
	for _, p := range paths {
		in.WriteString(strings.TrimSuffix(p, "/") + "\x00")
	}
	got := map[string]bool{}
	list := git(in.String(), "check-ignore", "-z", "--stdin", "--no-index")
	for p := range strings.SplitSeq(list, "\x00") {
		got[p] = true
	}
	return got
}

// ourIgnored walks down to a path as a caller does: an ignored parent ends it.
func ourIgnored(files map[string]string, p string) bool {
	kinds := map[string]ignore.Kind{".gitignore": ignore.Gitignore, ".ignore": ignore.Ignore, ".git/info/exclude": ignore.Exclude, "": ignore.Global}
	isDir := strings.HasSuffix(p, "/")
	parts := strings.Split(strings.TrimSuffix(p, "/"), "/")
	var rules *ignore.Rules
	for i := range parts {
		dir := strings.Join(parts[:i], "/")
		lists := map[ignore.Kind]ignore.List{}
		for name, kind := range kinds {
			if content, ok := files[path.Join(dir, name)]; ok && (dir == "" || name != "") {
				lists[kind] = ignore.Parse([]byte(content))
			}
		}
		rules = rules.With(dir, lists)
		if rules.Match(strings.Join(parts[:i+1], "/"), isDir || i < len(parts)-1) {
			return true
		}
	}
	return false
}

func compare(t *testing.T, files map[string]string, paths []string) {
	t.Helper()
	want := gitIgnored(t, files, paths)
	t.Logf("%d of %d paths are ignored", len(want), len(paths))
	for _, p := range paths {
		if got := ourIgnored(files, p); got != want[strings.TrimSuffix(p, "/")] {
			dir, _, _ := strings.Cut(p, "/")
			t.Errorf("%q: ignored %v, git says %v; %q", p, got, !got, files[dir+"/.gitignore"])
		}
	}
}

func TestTrickyPatternsAsGit(t *testing.T) {
	paths := []string{"a", "b.log", "keep.log", "build/out", "build/keep.log", "src/build/", "src/a.go", "src/gen_x.go", "src/deep/er/x.txt", "src/deep/x.txt",
		"x.txt", "z/foo", "foo.d/x", "foobar", "foo/bar", "foo/x/bar", "foo/x/y/bar", "fooz/bar", "z/abc/", "abc/d/e", "abc/d/f", "a b", "a ", "tab\t", "#c", "!bang", "\\", "[x]", "x]", "]", "-", "a-c", "^", "é", "è/é",
		"A1", "b2", "c_", "d.e.f", "node_modules/x/y", "p/node_modules/z", "vendor/k/v", ".env", ".hidden/x", "doc/a.txt", "doc/b/a.txt", "\xff", "q?r", "q*r", "qr", "q[r", "crlf", "last"}
	cases := []string{
		"*.log\n!keep.log", "build/", "/build", "build/\n!build/keep.log", "build/*\n!build/keep.log", "src/*.go", "**/x.txt", "src/**/x.txt", "src/**", "abc/**", "**/foo", "foo/**/bar",
		"foo**/bar", "foo**bar", "**foo", "foo/*", "foo/*/bar", "*/bar", "a\\ b", "a\\ ", "a ", "a  \\  ", "tab\t", "\\#c", "#c", "\\!bang", "!bang", "\\\\", "\\", "[x]", "\\[x]", "\\[x\\]", "[]x]", "[!x]", "[^a]*", "[]]", "[]-a]",
		"[a-c]", "[c-a]", "[a-]", "[[:digit:]]", "?[[:digit:]]", "[[:upper:]]*", "[[:nope:]]", "[[:alpha:]_]?", "[[:punct:]]", "[a", "?", "??", "é", "[é]", "?[é]", "\xff", "[\x80-\xff]", "*.*.*", "node_modules", "/node_modules", "node_modules/",
		".*", "!.*\n*", "*\n!*/\n!*.txt", "/*\n!/src\n/src/*\n!/src/a.go", "doc/*.txt", "doc/**/*.txt", "q\\?r", "q?r", "q\\*r", "q*r", "q[[]r", "\ufefffoo", "foo\r\n!foo\r\n", "crlf\r\nlast", "/", "!", "//", "foo//bar", "**", "***", "**/", "/**", "a/**/", "*/", "/*/",
		"**/**/x.txt", "**/er/**/x.txt", "src/**/**/x.txt", "src/dee*/**", "s*c/**/*.txt", "d*.e*.f", "*a*b*c", "[[:digit:]", "[\\]]", "[\\^]", "[a\\-c]", "[-a]", "x]", "foo/", "foo.d/", "f[!/]o", "foo[/]bar", "foo?bar", "src\\/a.go", "**\\/x.txt",
	}
	all, allPaths := map[string]string{}, []string(nil)
	for i, c := range cases { // each in a directory of its own, so that git is asked once
		dir := fmt.Sprintf("case%d/", i)
		all[dir+".gitignore"] = c
		for _, p := range paths {
			allPaths = append(allPaths, dir+p)
		}
	}
	compare(t, all, allPaths)
	compare(t, map[string]string{".gitignore": "*.log\nbuild/", "src/.gitignore": "gen_*\n!/build/\n/deep/x.txt\nsrc/a.go\nn/\n", "foo.d/.gitignore": "*\n!.gitignore"}, paths)
	compare(t, map[string]string{"": "*.txt\n/a", ".git/info/exclude": "!x.txt\nfoo", ".gitignore": "!/doc/\n!a"}, paths)
}

func TestRandomPatternsAsGit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(pieces []string, n int) string {
		var b strings.Builder
		for range 1 + rnd.IntN(n) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		return b.String()
	}
	patternPieces := []string{"a", "b", "ab", "*", "**", "?", "/", "/", "**/", "/**", "[ab]", "[!a]", "[a-c", "]", "\\", "!", "-", ".", " ", "[[:alpha:]]"}
	namePieces := []string{"a", "b", "ab", "c", ".", "-", "a.b"}
	files, paths := map[string]string{}, []string(nil)
	for i := range 60 {
		dir := fmt.Sprintf("case%d/", i)
		seen := map[string]bool{}
		for range 60 {
			parts := make([]string, 1+rnd.IntN(4))
			for i := range parts {
				parts[i] = pick(namePieces, 3) + "_"[:rnd.IntN(2)]
			}
			p := path.Join(parts...)
			clash := seen[p] || strings.HasPrefix(p, "..")
			for q := path.Dir(p); q != "."; q = path.Dir(q) {
				clash = clash || seen[q]
			}
			for q := range seen {
				clash = clash || strings.HasPrefix(q, p+"/")
			}
			if !clash && p != "." && p != ".." {
				seen[p] = true
				paths = append(paths, dir+p)
			}
		}
		var lines bytes.Buffer
		for range 1 + rnd.IntN(4) {
			lines.WriteString(pick(patternPieces, 6) + "\n")
		}
		files[dir+".gitignore"] = lines.String()
	}
	compare(t, files, paths)
}

func TestDotIgnoreBeatsGitignore(t *testing.T) {
	files := map[string]string{".ignore": "!a.log\nb", "sub/.gitignore": "*.log"}
	for p, want := range map[string]bool{"sub/a.log": false, "sub/c.log": true, "b": true} {
		if got := ourIgnored(files, p); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}

func TestNoBlowUp(t *testing.T) {
	l := ignore.Parse([]byte("/" + strings.Repeat("*a/**/", 20) + "x\n" + strings.Repeat("*a", 40) + "b\n"))
	var r *ignore.Rules
	if r.With("", map[ignore.Kind]ignore.List{ignore.Gitignore: l}).Match(strings.Repeat("aaaaaaaaaa/", 200)+strings.Repeat("a", 5000), false) {
		t.Error("matched")
	}
}
