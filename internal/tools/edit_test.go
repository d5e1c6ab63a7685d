package tools

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func plainText(s string) string { return s }

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		name, file string
		edits      []edit
		want       string // the file after, or "" for a failure
		says       string // in the notes or the error
	}{
		{"exact", "a = 1\nb = 2\n", []edit{{Old: "a = 1", New: "a = 3"}}, "a = 3\nb = 2\n", ""},
		{"one after the other", "one\n", []edit{{Old: "one", New: "two"}, {Old: "two", New: "three"}}, "three\n", ""},
		{"all or nothing", "one\ntwo\n", []edit{{Old: "one", New: "1"}, {Old: "nine", New: "9"}}, "", "edits[1]: old is not in the file"},
		{"twice", "a = 1\nb = 1\na = 1\n", []edit{{Old: "a = 1", New: "a = 2"}}, "", "2 times, at lines 1, 3"},
		{"overlapping", "aaa\n", []edit{{Old: "aa", New: "b"}}, "", "2 times"},
		{"everywhere", "a = 1\nb = 1\na = 1\n", []edit{{Old: "a = 1", New: "a = 2", All: true}}, "a = 2\nb = 1\na = 2\n", ""},
		{"empty old", "x\n", []edit{{New: "y"}}, "", "old is empty"},
		{"same", "x\n", []edit{{Old: "x", New: "x"}}, "", "are the same"},
		{"dollars", "OLD\n", []edit{{Old: "OLD", New: "pid=$$ m=$& a=$1 b=${1} c=\\1 d=$`"}}, "pid=$$ m=$& a=$1 b=${1} c=\\1 d=$`\n", ""},
		{"nearest", "def total(xs):\n    return sum(xs)\n", []edit{{Old: "    return sum(ys)", New: "    return 0"}}, "", "     2\t    return sum(xs)"},
		{"nothing near", "alpha\n", []edit{{Old: "zzzz", New: "y"}}, "", "Nothing in it is like old"},
		{"empty file", "", []edit{{Old: "zzzz", New: "y"}}, "", "Nothing in it is like old"},

		{"CRLF and BOM", "\xef\xbb\xbfone\r\ntwo\r\nthree", []edit{{Old: "one\ntwo", New: "1\n2"}}, "\xef\xbb\xbf1\r\n2\r\nthree", "with the file's line endings"},
		{"CRLF, one line made two", "one\r\ntwo\r\n", []edit{{Old: "one", New: "1\n1b"}}, "1\r\n1b\r\ntwo\r\n", ""},
		{"CRLF everywhere", "x\r\ny\r\nx\r\ny\r\n", []edit{{Old: "x\ny", New: "p\nq", All: true}}, "p\r\nq\r\np\r\nq\r\n", "line endings"},
		{"CRLF in old, LF in the file", "one\ntwo\n", []edit{{Old: "one\r\ntwo", New: "1\r\n2"}}, "1\n2\n", "line endings"},
		{"mixed", "a\nb\r\nc\nd\n", []edit{{Old: "b\nc", New: "B\nC"}}, "a\nB\r\nC\nd\n", "line ends"},
		{"mixed, unique by its lines", "a\nb\r\nc\nb\n", []edit{{Old: "b\nc\n", New: "x\n"}}, "a\nx\nb\n", "line ends"},

		{"blanks at ends", "if x:  \n    y = 1\t\n    z\n", []edit{{Old: "if x:\n    y = 1\n", New: "if x:\n    y = 2\n"}}, "if x:  \n    y = 2\n    z\n", "blanks at line ends"},
		{"blanks in old", "a\nb\n", []edit{{Old: "a  \nb", New: "c"}}, "c\n", "blanks at line ends"},
		{"no final newline", "a\nb", []edit{{Old: "b\n", New: "b\nc\n"}}, "a\nb\nc", "blanks at line ends"},

		{"indented more", "class A:\n    def f(self):\n        x = 1\n        return x\n", []edit{{Old: "x = 1\nreturn x", New: "x = 2\nreturn x"}}, "class A:\n    def f(self):\n        x = 2\n        return x\n", "indentation"},
		{"indented less", "x = 1\nif x:\n  y\n", []edit{{Old: "    if x:\n      y", New: "    if x:\n      y\n      z"}}, "x = 1\nif x:\n  y\n  z\n", "indentation"},
		{"blanks for tabs", "func f() {\n\tif x {\n\t\treturn 1\n\t}\n}\n", []edit{{Old: "    if x {\n        return 1\n    }", New: "    if x {\n        if y {\n            return 2\n        }\n    }"}},
			"func f() {\n\tif x {\n\t\tif y {\n\t\t\treturn 2\n\t\t}\n\t}\n}\n", "indentation"},
		{"blanks for a tab, one line", "a\n\treturn 1\n", []edit{{Old: "    return 1", New: "    return 2"}}, "a\n\treturn 2\n", "indentation"},
		{"no indentation, new deeper with blanks", "func f() {\n\tx := 1\n\ty()\n}\n", []edit{{Old: "x := 1\ny()\n", New: "x := 1\nif x {\n    y()\n}\n"}}, "func f() {\n\tx := 1\n\tif x {\n\t\ty()\n\t}\n}\n", "indentation"},
		{"tabs for blanks", "def f():\n    if x:\n        return 1\n", []edit{{Old: "\tif x:\n\t\treturn 1", New: "\tif x:\n\t\tif y:\n\t\t\treturn 2"}}, "def f():\n    if x:\n        if y:\n            return 2\n", "indentation"},
		{"not the same shift", "  a\n      b\n", []edit{{Old: "a\nb", New: "c\nd"}}, "", "old is not in the file"},
		{"shifted twice", "  a\n  b\n    a\n    b\n", []edit{{Old: " a\n b", New: " c"}}, "", "2 times (with another indentation"},
		{"shifted everywhere", "  a\n  b\n    a\n    b\n", []edit{{Old: " a\n b\n", New: " c\n", All: true}}, "  c\n    c\n", "indentation"},
		{"lines in common keep their blanks", "\ta  \n\n\tb\n", []edit{{Old: "a\n\nb\n", New: "a\n\nc\n"}}, "\ta  \n\n\tc\n", "indentation"},

		{"Latin-1", "caf\xe9\nt\xe9\n", []edit{{Old: "café", New: "thé"}}, "th\xe9\nt\xe9\n", ""},
		{"no such character in Latin-1", "caf\xe9\n", []edit{{Old: "caf", New: "€"}}, "", "Latin-1"},
		{"bad bytes stay", "é é é \xff x\n", []edit{{Old: "x", New: "y"}}, "é é é \xff y\n", ""},
		{"a bad byte is not what stands for it", "a\xff\r\nb é é\n", []edit{{Old: "a\ufffd\nb é é", New: "x"}}, "", "old is not in the file"},
		{"lines taken away, at the end of the file too", "a\nb\nc", []edit{{Old: "b \nc\n", New: ""}}, "a\n", "blanks at line ends"},
		{"lines joined", "a  \nb\nc\n", []edit{{Old: "a\nb\n", New: "x"}}, "xc\n", "blanks at line ends"},
		{"UTF-16", "\xff\xfeh\x00i\x00", []edit{{Old: "hi", New: "ho"}}, "", "UTF-16 LE"},
		{"NULs stay", "a\x00\x00b\x00 x", []edit{{Old: "x", New: "y"}}, "a\x00\x00b\x00 y", ""},
	} {
		out, notes, err := apply([]byte(c.file), c.edits, plainText)
		text := strings.Join(notes, "\n")
		if err != nil {
			text = err.Error()
		}
		if string(out) != c.want || !strings.Contains(text, c.says) || (c.says == "" && text != "") || (err == nil) != (c.want != "") {
			t.Errorf("%s:\n got %q, %q\nwant %q, %q", c.name, out, text, c.want, c.says)
		}
	}
}

// TestExactEditsAreReplace: where old is there as it stands, an edit is strings.Replace, whatever the bytes around it.
func TestExactEditsAreReplace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SampledFrom([]string{"a", "b", "ab", " ", "  ", "\t", "\n", "é", "$1", "{", "}\n", "x = 1"})
		body := strings.Join(rapid.SliceOfN(pieces, 1, 40).Draw(t, "body"), "")
		from := rapid.IntRange(0, len(body)-1).Draw(t, "from")
		e := edit{Old: body[from:rapid.IntRange(from+1, len(body)).Draw(t, "to")], New: strings.Join(rapid.SliceOfN(pieces, 0, 10).Draw(t, "new"), ""), All: rapid.Bool().Draw(t, "all")}
		if encodingOf([]byte(e.Old)) != utf8Text || e.Old == e.New {
			t.Skip()
		}
		out, _, err := apply([]byte(body), []edit{e}, plainText)
		n := 1
		if e.All {
			n = -1
		} else if strings.Contains(body[strings.Index(body, e.Old)+1:], e.Old) {
			if err == nil {
				t.Fatalf("%q twice in %q was replaced", e.Old, body)
			}
			return
		}
		if want := strings.Replace(body, e.Old, e.New, n); err != nil || string(out) != want {
			t.Fatalf("%q, %v; want %q", out, err, want)
		}
	})
}

// TestForgivingEditsChangeNothingElse: old is made of lines of the file with other white space; only these lines change.
func TestForgivingEditsChangeNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		words := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{3,6}\(\);`), 3, 12, rapid.ID[string]).Draw(t, "words")
		lines := make([]string, len(words))
		for i, w := range words {
			lines[i] = rapid.SampledFrom([]string{"", "\t", "\t\t"}).Draw(t, "indent") + w + rapid.SampledFrom([]string{"", " ", "\t "}).Draw(t, "blanks") + end
		}
		from := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(lines)).Draw(t, "to")
		var old strings.Builder
		for _, line := range lines[from:to] {
			indent := strings.Repeat("    ", strings.Count(leading(line), "\t"))
			old.WriteString(indent + strings.TrimSpace(line) + "\n")
		}
		body := strings.Join(lines, "")
		out, _, err := apply([]byte(body), []edit{{Old: old.String(), New: "    new;\n"}}, plainText)
		head, tail := strings.Join(lines[:from], ""), strings.Join(lines[to:], "")
		if err != nil || !strings.HasPrefix(string(out), head) || !strings.HasSuffix(string(out), tail) {
			t.Fatalf("%q -> %q, %v", body, out, err)
		}
		if got := strings.TrimSpace(string(out[len(head) : len(out)-len(tail)])); got != "new;" {
			t.Fatalf("%q in place of %q", got, old.String())
		}
	})
}

func TestReplaceKeepsTheFilesForm(t *testing.T) {
	for _, c := range []struct{ old, content, want string }{
		{"a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"},
		{"a\r\nb\r\n", "x\r\ny\n", "x\r\ny\r\n"},
		{"a\n", "x\r\ny\r\n", "x\ny\n"},
		{"a\nb\r\n", "x\n", "x\n"},
		{bom + "a\n", "x\n", bom + "x\n"},
		{bom + "a\n", bom + "x\n", bom + "x\n"},
		{"caf\xe9\n", "thé\n", "th\xe9\n"},
		{"", "x\r\n", "x\r\n"},
	} {
		if got, err := replace([]byte(c.old), true, c.content); err != nil || string(got) != c.want {
			t.Errorf("%q over %q: %q, %v; want %q", c.content, c.old, got, err, c.want)
		}
	}
	for _, old := range []string{"\xff\xfea\x00", "caf\xe9"} {
		if got, err := replace([]byte(old), true, "€"); err == nil {
			t.Errorf("over %q: %q", old, got)
		}
	}
}
