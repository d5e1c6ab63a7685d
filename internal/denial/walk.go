package denial

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// flow is what runs through a pipe, a file or a substitution: net names the program that downloaded it, text is what is
// known of it, such as the output of an echo.
type flow struct{ net, text string }

func (f flow) with(g flow) flow {
	if f.net == "" {
		f.net = g.net
	}
	if len(f.text)+len(g.text) <= maxFlow {
		f.text += g.text
	}
	return f
}

const maxFlow = 1 << 16

// value is the text that a variable gets from a flow.
func (f flow) value() string {
	switch {
	case f.net != "":
		return network
	case f.text != "":
		return strings.TrimRight(f.text, "\n")
	}
	return unknown
}

// scan is the state of a walk over one text: what the shell would know at this place.
type scan struct {
	*findings
	env    Env
	vars   map[string][]expand.Variable // each with all that it may hold; also 0, @ and PWD
	files  map[string]flow
	pipes  map[string][]*syntax.Stmt // what stands in >(…), by the name of its file
	funcs  map[string]*syntax.Stmt
	input  flow // of the command whose words are expanded
	branch int  // over 0 in what may not be run
	depth  int  // of texts within texts and calls of functions
	nested int  // programs that run the one at hand

	pick, most int // of the expansion at hand: which of the values, and how many the variables in it have
}

// cwds are where the shell may be; cwd is the likeliest. What is no absolute path is not known.
func (s *scan) cwds() []expand.Variable { return s.vars["PWD"] }

func (s *scan) cwd() string { return s.cwds()[len(s.cwds())-1].Str }

// fork returns the state of a subshell.
func (s *scan) fork() *scan {
	s.steps += len(s.vars) / 16
	c := *s
	c.vars = maps.Clone(s.vars)
	return &c
}

func (s *scan) stmts(list []*syntax.Stmt, in flow) (out flow) {
	for _, st := range list {
		out = out.with(s.stmt(st, in))
	}
	return out
}

// stmt walks a statement with what comes in on its standard input, and returns what it puts out.
func (s *scan) stmt(st *syntax.Stmt, in flow) flow {
	if st == nil || !s.step() {
		return flow{}
	}
	var targets []string
	for _, r := range st.Redirs {
		in, targets = s.redirect(r, in, targets)
	}
	out := in // $(< file)
	if st.Cmd != nil {
		defer func(was flow) { s.input = was }(s.input)
		s.input = in
		out = s.command(st.Cmd, in)
	}
	for _, t := range targets {
		s.keep(t, out)
	}
	return out
}

// redirect judges a redirection and returns what standard input is now and the files written so far.
func (s *scan) redirect(r *syntax.Redirect, in flow, targets []string) (flow, []string) {
	if r.Hdoc != nil || r.Op == syntax.WordHdoc {
		return s.here(r), targets
	}
	for _, t := range s.word(r.Word) {
		switch _, err := strconv.Atoi(strings.TrimSuffix(t, "-")); {
		case strings.HasPrefix(t, "/dev/tcp/"), strings.HasPrefix(t, "/dev/udp/"):
			return s.opened(r, flow{net: t}, in), targets
		case r.Op == syntax.DplIn:
			in = s.opened(r, s.stored("/dev/fd/"+t), in)
			continue
		case err == nil:
			continue
		case r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut:
			in = s.opened(r, s.stored(t), in)
		}
		if s.secretPath(t); r.Op != syntax.RdrIn {
			s.overwrites(t, "the redirection to "+t)
			s.note(&s.Written, t)
			targets = append(targets, t)
		}
	}
	return in, targets
}

// opened says what standard input is once a redirection has opened a flow; under another number it is kept for <&3.
func (s *scan) opened(r *syntax.Redirect, f, in flow) flow {
	if r.N == nil || r.N.Value == "0" {
		return f.with(in)
	}
	fd := strings.Trim(r.N.Value, "{}")
	if fd != r.N.Value {
		s.set(fd, text(fd))
	}
	s.keep("/dev/fd/"+fd, f)
	return in
}

// here is the flow of a here-document or here-string.
func (s *scan) here(r *syntax.Redirect) flow {
	body := strings.Join(s.word(r.Word), " ")
	if r.Hdoc != nil {
		s.guard(r.Hdoc, func() (err error) { body, err = expand.Document(s.config(), r.Hdoc); return err })
	}
	f := flow{text: body + "\n"}
	if strings.Contains(body, network) {
		f.net = "a download"
	}
	return f
}

func (s *scan) command(c syntax.Command, in flow) (out flow) {
	n := syntax.Node(c)
	switch c := c.(type) {
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			s.assign(a)
		}
		if len(c.Args) == 0 {
			return flow{}
		}
		first, rest := s.word(c.Args[0]), s.words(c.Args[1:])
		for i := range max(1, len(first)) { // it may stand for several
			out = out.with(s.call(slices.Concat(first[min(i, len(first)):], rest), in))
		}
		return out
	case *syntax.BinaryCmd:
		return s.binary(c, in)
	case *syntax.Subshell:
		return s.fork().stmts(c.Stmts, in)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			s.assign(a)
		}
		return flow{}
	case *syntax.FuncDecl:
		if c.Name != nil {
			s.funcs[c.Name.Value] = c.Body
		}
		body := s.fork()
		body.arguments(slices.Repeat([]string{unknown}, 10))
		body.stmt(c.Body, in)
		return flow{}
	case *syntax.CoprocClause:
		name := "COPROC"
		if c.Name != nil {
			name = c.Name.Lit()
		}
		s.set(name, list(name, name))
		s.keep("/dev/fd/"+name, s.fork().stmt(c.Stmt, flow{}))
		return flow{}
	case *syntax.ForClause:
		if it, ok := c.Loop.(*syntax.WordIter); ok {
			var may []expand.Variable
			for _, w := range s.words(it.Items) {
				may = append(may, text(w))
			}
			s.set(it.Name.Value, may...)
			n = &syntax.Block{Stmts: c.Do}
		}
	}
	s.branch++
	defer func() { s.branch-- }()
	return s.inner(n, in)
}

// inner walks the statements anywhere below a node whose own meaning does not matter.
func (s *scan) inner(n syntax.Node, in flow) (out flow) {
	syntax.Walk(n, func(n syntax.Node) bool {
		st, ok := n.(*syntax.Stmt)
		if ok {
			out = out.with(s.stmt(st, in))
		}
		return !ok
	})
	return out
}

func (s *scan) binary(c *syntax.BinaryCmd, in flow) flow {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		return s.fork().stmt(c.Y, s.fork().stmt(c.X, in))
	}
	out := s.stmt(c.X, in)
	if c.Op == syntax.OrStmt { // what may not be run
		s.branch++
		defer func() { s.branch-- }()
	}
	return out.with(s.stmt(c.Y, in))
}

func (s *scan) assign(a *syntax.Assign) {
	if a.Index != nil {
		s.fork().inner(a.Index, flow{})
	}
	var may []expand.Variable
	switch {
	case a.Array != nil:
		var elems []string
		for _, e := range a.Array.Elems {
			elems = append(elems, s.word(e.Value)...)
		}
		may = append(may, list(elems...))
	case a.Value != nil:
		split := s.vars["IFS"]
		s.vars["IFS"] = []expand.Variable{text("")} // nothing is split here
		s.each(a.Value, func(fields []string) {
			v := text(strings.Join(fields, " "))
			if a.Append && a.Name != nil && len(s.vars[a.Name.Value]) > 0 {
				v.Str = s.Get(a.Name.Value).Str + v.Str
			}
			may = append(may, v)
		})
		s.vars["IFS"] = split
	default:
		may = append(may, text(""))
	}
	if a.Name != nil && !a.Naked {
		s.set(a.Name.Value, may...)
	}
}

// process returns a name for the file of <(…) or >(…).
func (s *scan) process(p *syntax.ProcSubst) string {
	name := "/dev/fd/" + unknown + strconv.Itoa(len(s.files)+len(s.pipes))
	out := s.fork().stmts(p.Stmts, flow{})
	if p.Op == syntax.CmdOut {
		s.pipes[name] = p.Stmts
	} else {
		s.keep(name, out)
	}
	return name
}

// keep remembers what was written to a file, stored gives it back. The file of a >(…) hands it on.
func (s *scan) keep(name string, f flow) {
	if p := s.file(name); p != "" && f != (flow{}) {
		s.files[p] = s.files[p].with(f)
		s.fork().stmts(s.pipes[p], f)
	}
}

// file is a file's path, or its name if there is more in it than what is not known.
func (s *scan) file(name string) string {
	if p := resolve(s.cwd(), name); p != "" || strings.Trim(name, wild+"/.") == "" {
		return p
	}
	return name
}

func (s *scan) stored(name string) flow {
	if len(s.files) == 0 {
		return flow{}
	}
	return s.files[s.file(name)]
}
