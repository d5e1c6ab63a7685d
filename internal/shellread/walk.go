package shellread

import (
	"path"
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
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// reader collects a Reading.
type reader struct {
	out   Reading
	plain bool // Parts is to be kept
	calls int
	seen  map[string]bool // programs
}

// refuse says that the command is not read-only. The first reason stays.
func (r *reader) refuse(reason string) {
	if r.out.Reason == "" {
		r.out.Reason = reason
	}
}

// strange refuses for something that also takes the Parts away.
func (r *reader) strange(reason string) {
	r.plain = false
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
	inputs := r.redirects(s.Redirs)
	yes, no = r.command(s.Cmd, in, inputs)
	if len(s.Redirs) > 0 { // a redirect that fails keeps the command from running
		no = union(no, in)
	}
	if s.Negated {
		return no, yes
	}
	return yes, no
}

func (r *reader) command(c syntax.Command, in dirs, inputs []word) (yes, no dirs) {
	for _, w := range inputs {
		r.out.Paths = append(r.out.Paths, located(w, in)...)
	}
	switch c := c.(type) {
	case *syntax.CallExpr:
		return r.call(c, in, inputs)
	case *syntax.BinaryCmd:
		return r.binary(c, in)
	case *syntax.Block:
		r.plain = false
		return r.list(c.Stmts, in)
	case *syntax.Subshell:
		r.plain = false
		r.list(c.Stmts, in)
		return in, in
	case *syntax.IfClause:
		r.plain = false
		all := r.branch(c, in)
		return all, all
	case *syntax.TestClause:
		r.plain = false
		r.calls++
		r.condition(c.X, in)
	case nil:
		r.strange("is a redirect without a command")
	default:
		r.strange("holds a construct that is not judged")
	}
	return in, in
}

func (r *reader) binary(c *syntax.BinaryCmd, in dirs) (yes, no dirs) {
	switch c.Op {
	case syntax.AndStmt:
		xYes, xNo := r.stmt(c.X, in)
		yes, no = r.stmt(c.Y, xYes)
		return yes, union(xNo, no)
	case syntax.OrStmt:
		xYes, xNo := r.stmt(c.X, in)
		yes, no = r.stmt(c.Y, xNo)
		return union(xYes, yes), no
	case syntax.Pipe, syntax.PipeAll: // each side is a subshell
		r.stmt(c.X, in)
		r.stmt(c.Y, in)
	default:
		r.strange("holds an operator that is not judged")
	}
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

// condition reads what stands in [[ ]]: tests of files and strings, no arithmetic and no -v, which run subscripts.
func (r *reader) condition(x syntax.TestExpr, in dirs) {
	_, _, options, _ := line("test")
	syntax.Walk(x, func(n syntax.Node) bool {
		op, words := "", false
		switch n := n.(type) {
		case *syntax.UnaryTest:
			op = n.Op.String()
			_, words = option(options+" !", op, true)
		case *syntax.BinaryTest:
			op = n.Op.String()
			words = slices.Contains([]string{"&&", "||", "=", "==", "!=", "=~"}, op)
		case *syntax.Word:
			w, reason := readWord(n)
			if reason != "" {
				r.strange(reason)
			}
			r.out.Paths = append(r.out.Paths, located(w, in)...)
			return false
		}
		if op != "" && !words {
			r.strange("tests with " + op)
		}
		return true
	})
}

// redirects accepts output to /dev/null, duplicated streams and input from a path, which it returns.
func (r *reader) redirects(list []*syntax.Redirect) (inputs []word) {
	for _, d := range list {
		w, reason := readWord(d.Word)
		switch {
		case d.N != nil && !digits(d.N.Value):
			reason = "names a file descriptor by a variable"
		case reason != "":
		case d.Op == syntax.RdrIn && !w.glob():
			inputs = append(inputs, w)
		case d.Op == syntax.DplIn && digits(w.text), d.Op == syntax.DplOut && (digits(w.text) || w.text == "/dev/null"):
		case slices.Contains([]syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll}, d.Op) && w.text == "/dev/null":
		case d.Hdoc != nil || d.Op == syntax.WordHdoc:
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
func (r *reader) call(c *syntax.CallExpr, in dirs, inputs []word) (yes, no dirs) {
	r.calls++
	if len(c.Assigns) > 0 || len(c.Args) == 0 {
		r.strange("sets a variable")
		return in, in
	}
	words := make([]word, len(c.Args))
	for i, a := range c.Args {
		var reason string
		if words[i], reason = readWord(a); reason != "" {
			r.strange(reason)
			return in, in
		}
	}
	name := words[0]
	if name.glob() || name.tilde || name.status {
		r.strange("names its program by an expansion")
		return in, in
	}
	if name.text == "cd" {
		return r.cd(words, in)
	}
	u := use{name: name.text, args: words[1:], in: in}
	u.judge()
	u.inputs = inputs
	r.record(&u, words)
	return in, in
}

// record adds a judged program to the reading.
func (r *reader) record(u *use, words []word) {
	r.refuse(u.reason)
	if !r.seen[u.name] && !strings.Contains(u.name, "/") && !isBuiltin(u.name) {
		r.out.Programs = append(r.out.Programs, u.name)
		r.seen[u.name] = true
	}
	r.out.Git = r.out.Git || u.name == "git" || u.name == "go" // go asks git for the version of a package
	part := Part{Words: make([]string, len(words)), ReadOnly: u.reason == "", Paths: u.paths}
	for i, w := range words {
		part.Words[i] = w.text
		if w.glob() && !part.ReadOnly {
			r.plain = false
		}
	}
	for _, w := range u.inputs {
		part.Paths = append(part.Paths, located(w, u.in)...)
	}
	if part.ReadOnly {
		r.out.Paths = append(r.out.Paths, u.paths...)
	} else {
		part.Paths = append(part.Paths, mentioned(words[1:], u.in)...)
	}
	if slices.Contains([]string{"pushd", "popd"}, u.name) {
		r.plain = false
	}
	r.out.Parts = append(r.out.Parts, part)
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
		if named == ".." || strings.HasPrefix(named, "../") {
			r.strange("leaves the directory")
		}
		if named == "." {
			named = ""
		} else if named[0] == '~' && p.Text[0] != '~' { // a directory that is called ~
			named = "./" + named
		}
		yes = union(yes, dirs{named})
		if strings.Contains("/"+words[1].text+"/", "/../") {
			yes = union(yes, dirs{p.Text})
			paths = append(paths, Path{Text: path.Clean(p.Text)})
		}
	}
	r.out.Paths = append(r.out.Paths, paths...)
	r.out.Parts = append(r.out.Parts, Part{Words: []string{"cd", words[1].text}, ReadOnly: true, Paths: paths})
	return yes, in
}

// located writes a word as a path as seen from each of the directories.
func located(w word, in dirs) []Path {
	if w.text == "" {
		return nil
	}
	text := w.text
	switch {
	case w.glob():
		text = w.pattern
	case text[0] == '~' && !w.tilde:
		text = "./" + text
	}
	if w.tilde || text[0] == '/' {
		return []Path{{Text: text, Glob: w.glob()}}
	}
	out := make([]Path, len(in))
	for i, d := range in {
		if d != "" && w.glob() {
			d = wildcards.QuoteMeta(d, 0)
		}
		out[i] = Path{Text: text, Glob: w.glob()}
		if d != "" {
			out[i].Text = strings.TrimSuffix(d, "/") + "/" + text
		}
	}
	return out
}

// mentioned returns what may be a path among the words of a program that is not known: operands, and what follows a short
// option, an =, a colon, a comma or an @.
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
		for i := range text {
			if rest := text[i+1:]; strings.IndexByte("=:,@", text[i]) >= 0 && pathlike(rest, text[:i]) {
				out = append(out, located(word{text: rest, tilde: strings.HasPrefix(rest, "~")}, in)...)
			}
		}
	}
	return out
}

// pathlike reports whether what follows the given text leads out of the directory by its looks. A URL does not.
func pathlike(rest, before string) bool {
	if strings.HasPrefix(rest, "//") {
		return strings.HasSuffix(before, "file")
	}
	return rest != "" && (rest[0] == '/' || rest[0] == '~' || rest[0] == '.')
}
