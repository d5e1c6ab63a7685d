package shellread

import (
	"path"
	"regexp"
	"slices"
	"strings"

	wildcards "mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// The walk accepts named nodes only. It follows cd: every command is run in a set of possible directories, and leaves one
// set for success and one for failure, so that "cd a; cat ../b" is judged both ways and "cd a && cat ../b" only after a.

// dirs are the possible working directories, written like Path.Text; "" is the directory itself.
type dirs []string

// maxDirs bounds the possible directories.
const maxDirs = 8

func union(a, b dirs) dirs {
	return append(slices.Clone(a), slices.DeleteFunc(slices.Clone(b), func(d string) bool { return slices.Contains(a, d) })...)
}

// reader collects a Reading.
type reader struct {
	out   Reading
	calls int
}

// refuse says that the command is not read-only. The first reason stays.
func (r *reader) refuse(reason string) {
	if r.out.Reason == "" {
		r.out.Reason = reason
	}
}

// strange refuses for something that the Parts do not show.
func (r *reader) strange(reason string) {
	r.out.Plain = false
	r.refuse(reason)
}

// list reads statements that run one after the other and returns where they may end.
func (r *reader) list(stmts []*syntax.Stmt, in dirs) (yes, no dirs) {
	yes, no = in, in
	for i, s := range stmts {
		if i > 0 {
			in = union(yes, no)
		}
		yes, no = r.stmt(s, in)
	}
	return yes, no
}

func (r *reader) stmt(s *syntax.Stmt, in dirs) (yes, no dirs) {
	if s.Background || s.Coprocess || s.Disown {
		r.strange("runs in the background")
	}
	if len(in) > maxDirs {
		r.strange("changes directory too often")
		in = in[:1]
	}
	inputs := r.redirects(s.Redirs, in)
	yes, no = in, in
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		yes, no = r.call(c, in, inputs)
	case *syntax.BinaryCmd:
		yes, no = r.binary(c, in)
	case *syntax.Block:
		r.out.Plain = false
		yes, no = r.list(c.Stmts, in)
	case *syntax.Subshell:
		r.out.Plain = false
		r.list(c.Stmts, in)
	case *syntax.IfClause:
		r.out.Plain = false
		yes = r.branch(c, in)
		no = yes
	case nil:
		r.strange("is a redirect without a command")
	default:
		r.strange("holds a construct that is not judged")
	}
	if _, ok := s.Cmd.(*syntax.CallExpr); !ok && len(inputs) > 0 {
		r.out.Parts = append(r.out.Parts, Part{ReadOnly: true, Paths: inputs})
	}
	if len(s.Redirs) > 0 { // a redirect that fails keeps the command from running
		no = union(no, in)
	}
	if s.Negated {
		return no, yes
	}
	return yes, no
}

func (r *reader) binary(c *syntax.BinaryCmd, in dirs) (yes, no dirs) {
	yes, no = r.stmt(c.X, in)
	switch c.Op {
	case syntax.AndStmt:
		var last dirs
		yes, last = r.stmt(c.Y, yes)
		return yes, union(no, last)
	case syntax.OrStmt:
		var first dirs
		first, no = r.stmt(c.Y, no)
		return union(yes, first), no
	}
	r.stmt(c.Y, in) // each side of a pipe is a subshell
	return in, in
}

// branch reads an if, elif or else and returns where it may end.
func (r *reader) branch(c *syntax.IfClause, in dirs) dirs {
	yes, no := in, in
	if len(c.Cond) > 0 { // none: an else
		yes, no = r.list(c.Cond, in)
	}
	out := union(r.list(c.Then, yes))
	if c.Else != nil {
		return union(out, r.branch(c.Else, no))
	}
	return union(out, no)
}

// redirects accepts output to /dev/null, duplicated streams and input from a path. It returns the paths.
func (r *reader) redirects(list []*syntax.Redirect, in dirs) (inputs []Path) {
	for _, d := range list {
		w, reason := readWord(d.Word)
		op := d.Op.String()
		switch {
		case d.N != nil && !digits(d.N.Value):
			reason = "names a file descriptor by a variable"
		case reason != "":
		case op == "<" && !w.glob():
			inputs = append(inputs, located(w, in)...)
		case (op == "<&" || op == ">&") && digits(w.text), Listed("> >> >& &> &>>", op) && w.text == "/dev/null":
		case d.Hdoc != nil || op == "<<<":
			reason = "holds a here-document"
		default:
			reason = "writes " + w.text
		}
		if reason != "" {
			r.strange(reason)
		}
	}
	return inputs
}

// call reads a simple command.
func (r *reader) call(c *syntax.CallExpr, in dirs, inputs []Path) (yes, no dirs) {
	r.calls++
	if len(c.Assigns) > 0 || len(c.Args) == 0 {
		r.strange("sets a variable")
		return in, in
	}
	part, words := Part{}, make([]word, len(c.Args))
	for i, a := range c.Args {
		w, reason := readWord(a)
		if reason == "" && i == 0 && (w.glob() || w.tilde || w.status) {
			reason = "names its program by an expansion"
		}
		if reason != "" {
			r.strange(reason)
			return in, in
		}
		words[i], part.Words = w, append(part.Words, w.text)
	}
	name := part.Words[0]
	if name == "cd" {
		return r.cd(words, in)
	}
	u := use{name: name, args: words[1:], in: in}
	if strings.HasPrefix(name, "*") || strings.Contains(name, "/") {
		u.refuse("runs " + name)
	} else {
		u.apply(name)
	}
	r.refuse(u.reason)
	part.ReadOnly, part.Paths = u.reason == "", append(u.paths, inputs...)
	if !part.ReadOnly {
		part.Paths = append(part.Paths, mentioned(words[1:], in)...)
		r.out.Plain = r.out.Plain && !Listed("pushd popd", name) && !slices.ContainsFunc(words, word.glob)
	}
	r.out.Parts = append(r.out.Parts, part)
	if !slices.Contains(r.out.Programs, name) && !strings.Contains(name, "/") && !Listed(": [ command echo exit false printf pwd test true type", name) {
		r.out.Programs = append(r.out.Programs, name)
	}
	r.out.Git = r.out.Git || name == "git" || name == "go" // go asks git for the version of a package
	return in, in
}

// cd follows a change of directory to one literal place. bash resolves .. by name first and through links if that
// fails, so both are followed.
func (r *reader) cd(words []word, in dirs) (yes, no dirs) {
	if len(words) == 3 && words[1].text == "--" {
		words = []word{words[0], words[2]}
	}
	if len(words) != 2 || words[1].glob() || words[1].text == "" || words[1].text[0] == '-' {
		r.strange("changes directory to where is not known")
		return in, in
	}
	paths := located(words[1], in)
	for _, p := range paths {
		named := path.Clean(p.Text)
		switch {
		case named == "..", strings.HasPrefix(named, "../"):
			r.strange("leaves the directory")
		case named == ".":
			named = ""
		case named[0] == '~' && p.Text[0] != '~': // a directory that is called ~
			named = "./" + named
		}
		yes = union(yes, dirs{named})
		if strings.Contains("/"+words[1].text+"/", "/../") {
			yes = union(yes, dirs{p.Text})
			paths = append(paths, Path{Text: path.Clean(p.Text)})
		}
	}
	r.out.Parts = append(r.out.Parts, Part{Words: []string{"cd", words[1].text}, ReadOnly: true, Paths: paths})
	return yes, in
}

// located writes a word as a path as seen from each of the directories.
func located(w word, in dirs) (out []Path) {
	text := w.text
	switch {
	case text == "":
		return nil
	case w.glob():
		text = w.pattern
	case text[0] == '~' && !w.tilde:
		text = "./" + text
	}
	if w.tilde || text[0] == '/' {
		return []Path{{text, w.glob()}}
	}
	for _, d := range in {
		if w.glob() {
			d = wildcards.QuoteMeta(d, 0)
		}
		if d != "" {
			d = strings.TrimSuffix(d, "/") + "/"
		}
		out = append(out, Path{d + text, w.glob()})
	}
	return out
}

// outward finds what may begin a path that leads out of the directory, within a word.
var outward = regexp.MustCompile(`[=:,@][/~.]`)

// mentioned returns what may be a path among the words of a program that is not known: operands, and what follows a short
// option, an =, a colon, a comma or an @. A URL is none, except of a file.
func mentioned(words []word, in dirs) (out []Path) {
	for _, w := range words {
		text := w.text
		if len(text) > 4096 { // too long to take apart: may name anything
			out = append(out, Path{Text: "/"})
			continue
		}
		if len(text) > 2 && text[0] == '-' && text[1] != '-' {
			out = append(out, located(word{text: text[2:]}, in)...)
		}
		if !strings.HasPrefix(text, "-") {
			out = append(out, located(w, in)...)
		}
		for _, at := range outward.FindAllStringIndex(text, -1) {
			if rest := text[at[0]+1:]; !strings.HasPrefix(rest, "//") || strings.HasSuffix(text[:at[0]], "file") {
				out = append(out, located(word{text: rest, tilde: rest[0] == '~'}, in)...)
			}
		}
	}
	return out
}
