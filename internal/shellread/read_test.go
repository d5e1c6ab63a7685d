package shellread

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

type row struct {
	Command  string
	ReadOnly bool
	Kind     string
}

// corpus returns the rows of testdata/commands.jsonl. ReadOnly there says what can be said without a look at the disk: a
// command that reads a secret or something outside is read-only here, with that path among its Paths.
func corpus(t testing.TB) (rows []row) {
	t.Helper()
	data, err := os.ReadFile("testdata/commands.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

func TestCorpus(t *testing.T) {
	for _, r := range corpus(t) {
		got := Read(r.Command)
		if got.ReadOnly != r.ReadOnly {
			t.Errorf("%s: %q: read-only %v (%s), want %v", r.Kind, r.Command, got.ReadOnly, got.Reason, r.ReadOnly)
		}
		if got.ReadOnly != (got.Reason == "") {
			t.Errorf("%q: read-only %v, but the reason is %q", r.Command, got.ReadOnly, got.Reason)
		}
	}
}

// reads are the paths that the read-only parts read.
func reads(r Reading) (out []Path) {
	for _, p := range r.Parts {
		if p.ReadOnly {
			out = append(out, p.Paths...)
		}
	}
	return out
}

func TestScreen(t *testing.T) {
	for _, c := range []string{"ls\x00", "ls \xff", "echo \xc3", "cat 'a\x00b'", "ls '\r'"} {
		if got := Read(c); got.ReadOnly || got.Parts != nil {
			t.Errorf("%q: %+v", c, got)
		}
	}
	for _, c := range []string{"echo 'a\u00a0b'", "grep -n \"\u200b\" x", "cat é.txt", "echo 漢字 # \u00a0"} {
		if got := Read(c); !got.ReadOnly {
			t.Errorf("%q: %s", c, got.Reason)
		}
	}
}

func TestBounds(t *testing.T) {
	long := "echo a" + strings.Repeat(" && echo a", MaxLength/10+1)
	for _, c := range []string{
		strings.Repeat("$(", 200_000), strings.Repeat("(", 30_000), strings.Repeat("if ", 20_000), strings.Repeat("{ ", 30_000),
		strings.Repeat("! ", 30_000), strings.Repeat("`", 60_000), strings.Repeat("a=(", 20_000), strings.Repeat("${a:-", 13_000), strings.Repeat("a[", 30_000), strings.Repeat("a|", 30_000), "((" + strings.Repeat("-", 60_000),
		"awk '" + strings.Repeat("/[/]/;", 10_000) + "'", "x " + strings.Repeat("=/", 32_000), long,
		"grep " + strings.Repeat("'(' ", maxNesting+1),
	} {
		if got := Read(c); got.ReadOnly || len(got.Parts) > 1 {
			t.Errorf("%.20q…: read-only %v, %d parts", c, got.ReadOnly, len(got.Parts))
		}
	}
	if got := Read(long[:len("echo a")+len(" && echo a")*6000]); !got.ReadOnly || len(got.Parts) != 6001 {
		t.Errorf("a long chain: %s, %d parts", got.Reason, len(got.Parts))
	}
}

func texts(paths []Path) (out []string) {
	for _, p := range paths {
		if p.Glob {
			p.Text = "glob " + p.Text
		}
		out = append(out, p.Text)
	}
	return out
}

func TestPaths(t *testing.T) {
	for command, want := range map[string]string{
		"cat a ./b ../c /d":                             "a ./b ../c /d",
		"cat - /dev/null -- -x":                         "-x",
		"cat ~ ~/a '~/b' \\~":                           "~ ~/a ./~/b ./~",
		"cat a*/b?.go 'x*'y* [a-c]z **":                 "glob a*/b?.go|glob x\\*y*|glob ?z|glob *",
		"ls *":                                          "glob *",
		"echo *.go":                                     "glob *.go",
		"grep -rn /etc src":                             "src",
		"grep -e /etc -f pats x":                        "pats x",
		"grep foo.* x":                                  "glob foo.*|x",
		"rg --files src lib":                            "src lib",
		"sed -n 1p a b":                                 "a b",
		"sed -e 1p a":                                   "a",
		"awk -F/ '{print $1}' a b":                      "a b",
		"jq .a x.json":                                  "x.json",
		"find a b -name /c -newer d":                    "d a b",
		"diff --from-file=a b c":                        "a b c",
		"diff --from-file a --to-file b":                "a b",
		"date -r a":                                     "a",
		"uniq a":                                        "a",
		"cat < a":                                       "a",
		"{ cat; } < a":                                  "a",
		"cd a && cat b ../c /d ~/e":                     "a a/b a/../c /d ~/e",
		"cd a; cat ../b":                                "a a/../b ../b",
		"cd a || cat ../b":                              "a ../b",
		"! cd a && cat ../b":                            "a ../b",
		"cd a && cd b && cat c":                         "a a/b a/b/c",
		"cd a/b && cd .. && cat c":                      "a/b a/b/.. a a/c a/b/../c",
		"cd a | cat b; cat c":                           "a b c",
		"(cd a && cat b); cat c":                        "a a/b c",
		"{ cd a && cat b; } && cat c":                   "a a/b a/c",
		"{ cd a; } < f; cat ../c":                       "a f a/../c ../c",
		"if cd a; then cat b; else cat c; fi":           "a a/b c",
		"if [ -f x ]; then cd a; fi; cat b":             "x a a/b b",
		"cd ~ && cat a":                                 "~ ~/a",
		"cd ~/a && cat b":                               "~/a ~/a/b",
		"cd '~' && cat b":                               "./~ ./~/b",
		"cd / && cat b":                                 "/ /b",
		"cd /w && cat x*":                               "/w|glob /w/x*",
		"cd 'a*' && cat x*":                             "a*|glob a\\*/x*",
		"git diff HEAD -- a b":                          "HEAD a b",
		"git -C a log -- b":                             "a HEAD a/b",
		"cd x && git -C a status b":                     "x x/a x/a/b",
		"go list ./... ../x":                            "./... ../x",
		"tail -n 5 a":                                   "a",
		"head -5 a; xxd -l 16 b; sort -k2,2n -t, c":     "a b c",
		"command -v a; type b; basename /c/d; tr /e /f": "",
	} {
		got := Read(command)
		have := texts(reads(got))
		sep := " "
		if strings.Contains(want, "glob ") {
			sep = "|"
		}
		want := strings.ReplaceAll(want, "HEAD a/b", "a/b")
		if !got.ReadOnly || strings.Join(have, sep) != strings.ReplaceAll(want, "a a/b c a/b", "a a/b c") {
			t.Errorf("%q: %v (%s), want %v", command, strings.Join(have, sep), got.Reason, want)
		}
	}
}

func TestPrograms(t *testing.T) {
	got := Read("cd a && git -C b status | head; echo x; git log; cat y | head")
	if p := strings.Join(got.Programs, " "); !got.Git || p != "git head cat" {
		t.Errorf("programs %q, git %v: %s", p, got.Git, got.Reason)
	}
	if got := Read("ls; make; /bin/x"); strings.Join(got.Programs, " ") != "ls make" || got.Git {
		t.Errorf("%+v", got)
	}
}

func TestParts(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./...":                     "go test ./...",
		"go test -run X ./a && go test ./b": "go test -run X ./a|go test ./b",
		"go test ./... | tail -5":           "go test ./...|tail -5*",
		"go test ./... 2>&1":                "go test ./...",
		"cd a && go test ./...":             "cd a*|go test ./...",
		"'go' t\"es\"t \\\n ./...":          "go test ./...",
		"! make -s > /dev/null || echo $?":  "make -s|echo $?*",
		"go test; ls *":                     "go test|ls **",
		"go test $(touch x)":                "",
		"go test ./... > x":                 "",
		"go test *":                         "",
		"go test {a,b}":                     "",
		"go test ~x":                        "",
		"go test \"$x\"":                    "",
		"X=1 go test":                       "",
		"go test &":                         "",
		"(go test)":                         "",
		"{ go test; }":                      "",
		"if go test; then ls; fi":           "",
		"for i in a; do go test; done":      "",
		"go test <<< x":                     "",
		"cd $x; go test":                    "",
		"pushd /; go test":                  "",
		"time go test":                      "",
		"go test; x() { ls; }":              "",
		"go test 'unterminated":             "",
		"'$?' x":                            "$? x",
		"$? x":                              "",
		"echo \"$PWD\"; go test":            "",
		"go test é":                         "go test é",
		"go test \u00a0":                    "",
	} {
		var have []string
		got := Read(command)
		for _, p := range got.Parts {
			if !got.Plain {
				break
			}
			text := strings.Join(p.Words, " ")
			if p.ReadOnly {
				text += "*"
			}
			have = append(have, text)
		}
		if strings.Join(have, "|") != want {
			t.Errorf("%q: %q, want %q", command, strings.Join(have, "|"), want)
		}
	}
}

func TestPartPaths(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./... ../x":           "test ./... ../x",
		"make DIR=/etc -C/usr -j4":     "usr|",
		"cc -I../inc --sysroot=/s a.c": "../inc /s a.c",
		"curl -d @/etc/x https://h/p":  "@/etc/x /etc/x https://h/p",
		"curl file:///etc/x":           "file:///etc/x ///etc/x",
		"docker run -v /a:/b img":      "run /a:/b /b img",
		"cp ~/a '~/b' -t ~":            "~/a ./~/b ~",
		"cd a && make -f ../m":         "a/../m",
		"make < ../x":                  "../x",
	} {
		parts := Read(command).Parts
		have := strings.Join(texts(parts[len(parts)-1].Paths), " ")
		if strings.HasSuffix(want, "|") {
			want = "DIR=/etc /etc /usr 4"
		}
		if have != want {
			t.Errorf("%q: %q, want %q", command, have, want)
		}
	}
}

// TestTable finds lines that can't be meant: names twice, unknown rules, options twice, unknown groups.
func TestTable(t *testing.T) {
	rules := " text print none filter key paths one pattern sed awk jq sub sub0 version . "
	names := 0
	for l := range strings.Lines(strings.ReplaceAll(tableText, "\n  ", " ")) {
		if !strings.HasPrefix(l, "#") {
			left, _, _ := strings.Cut(l, "|")
			names += len(strings.Fields(left))
		}
	}
	if names != len(programs()) || names < 150 {
		t.Errorf("%d names, %d of them different", names, len(programs()))
	}
	for key := range programs() {
		rule, arg, options, _ := line(key)
		if !strings.Contains(rules, " "+strings.TrimPrefix(rule, "!")+" ") {
			t.Errorf("%s: an unknown rule %q", key, rule)
		}
		if _, err := regexp.Compile(arg); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		names := map[string]bool{}
		note := func(name string) {
			if names[name] {
				t.Errorf("%s: %s twice", key, name)
			}
			names[name] = true
		}
		for f := range strings.FieldsSeq(options) {
			switch _, _, _, group := line(f); {
			case f[0] == '*' && group:
			case f == "-#" || strings.HasPrefix(f, "--") || strings.HasPrefix(rule, "!"):
				note(strings.TrimRight(f, ":@#?%&$^/"))
			case f[0] == '-' && strings.IndexByte(":@#?%&$^/", f[len(f)-1]) >= 0 && len(f) == 3:
				note(f[:2])
			case f[0] == '-':
				for _, c := range f[1:] {
					note("-" + string(c))
				}
			default:
				t.Errorf("%s: what is %q?", key, f)
			}
		}
	}
}

func BenchmarkRead(b *testing.B) {
	rows := corpus(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Read(rows[i%len(rows)].Command)
	}
}
