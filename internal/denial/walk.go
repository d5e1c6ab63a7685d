package denial

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// flow is what runs through a pipe, a file or a substitution: net names the program that downloaded it, text is what is
// known of it, such as the output of an echo.
type flow struct{ net, text string }

func (f flow) with(g flow) flow {
	if f.net == "" {
		f.net = g.net
	}
	if len(f.text)+len(g.text) <= maxText {
		f.text += g.text
	}
	return f
}

// scan is the state of a walk over one text: what the shell would know at this place.
type scan struct {
	*findings
	env    Env
	cwds   []string // where the shell may be; the last one is the likeliest
	vars   map[string][]string
	args   []string // $0, $1, …; nil if not known
	files  map[string]flow
	funcs  map[string]*syntax.Stmt
	found  string // what the last find put out
	branch int    // over 0 in what may not be run
	depth  int    // of texts within texts and calls of functions
}

func (s *scan) cwd() string { return s.cwds[len(s.cwds)-1] }

// fork returns the state of a subshell.
func (s *scan) fork() *scan {
	s.steps += len(s.vars) / 4
	c := *s
	c.vars, c.files, c.cwds = maps.Clone(s.vars), s.files, slices.Clone(s.cwds)
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
	pending := s.outs
	s.outs = nil
	var targets []string
	for _, r := range st.Redirs {
		in, targets = s.redirect(r, in, targets)
	}
	out := s.command(st.Cmd, in)
	if st.Cmd == nil {
		out = in // $(< file)
	}
	for _, t := range targets {
		s.keep(t, out)
	}
	for _, p := range s.outs {
		s.fork().stmts(p, out.with(in))
	}
	s.outs = pending
	return out
}

// redirect judges a redirection and returns what standard input is now and the files written so far.
func (s *scan) redirect(r *syntax.Redirect, in flow, targets []string) (flow, []string) {
	texts := s.word(r.Word)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc == nil {
			return in, targets
		}
		return s.here(strings.Join(s.parts(r.Hdoc.Parts, true), "\n")), targets
	case syntax.WordHdoc:
		return s.here(strings.Join(texts, " ")), targets
	}
	for _, t := range texts {
		reads := r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut
		if strings.HasPrefix(t, "/dev/tcp/") || strings.HasPrefix(t, "/dev/udp/") {
			return flow{net: t}, targets
		}
		if r.Op == syntax.DplIn || isNumber(t) {
			continue
		}
		s.secretPath(t)
		if reads {
			in = s.stored(t).with(in)
		}
		if r.Op != syntax.RdrIn {
			s.device(t, "the redirection to "+show(t))
			s.sudoers(t)
			targets = append(targets, t)
		}
	}
	return in, targets
}

func isNumber(t string) bool { _, err := strconv.Atoi(strings.TrimSuffix(t, "-")); return err == nil }

// here is the flow of a here-document or here-string.
func (s *scan) here(text string) flow {
	f := flow{text: text + "\n"}
	if strings.Contains(text, network) {
		f.net = "a download"
	}
	return f
}

func (s *scan) command(c syntax.Command, in flow) (out flow) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			s.assign(a)
		}
		return s.simple(c.Args, in)
	case *syntax.BinaryCmd:
		return s.binary(c, in)
	case *syntax.Subshell:
		return s.fork().stmts(c.Stmts, in)
	case *syntax.Block:
		return s.stmts(c.Stmts, in)
	case *syntax.IfClause:
		return s.ifClause(c, in)
	case *syntax.WhileClause:
		out = s.stmts(c.Cond, in)
		return out.with(s.branched(c.Do, in))
	case *syntax.ForClause:
		if it, ok := c.Loop.(*syntax.WordIter); ok {
			s.set(it.Name.Value, s.words(it.Items))
		} else {
			s.inner(c.Loop)
		}
		return s.branched(c.Do, in)
	case *syntax.CaseClause:
		s.inner(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				s.inner(p)
			}
			out = out.with(s.branched(item.Stmts, in))
		}
	case *syntax.FuncDecl:
		if c.Name != nil {
			s.funcs[c.Name.Value] = c.Body
		}
		body := s.fork()
		body.args = nil
		body.stmt(c.Body, in)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			s.assign(a)
		}
	case *syntax.TimeClause:
		return s.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		return s.stmt(c.Stmt, in)
	case nil:
	default:
		s.inner(c)
	}
	return out
}

func (s *scan) branched(list []*syntax.Stmt, in flow) flow {
	s.branch++
	defer func() { s.branch-- }()
	return s.stmts(list, in)
}

func (s *scan) ifClause(c *syntax.IfClause, in flow) flow {
	out := s.stmts(c.Cond, in)
	for ; c != nil; c = c.Else {
		out = out.with(s.branched(c.Then, in))
		if c.Else != nil {
			out = out.with(s.branched(c.Else.Cond, in))
		}
	}
	return out
}

func (s *scan) binary(c *syntax.BinaryCmd, in flow) flow {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		through := s.fork().stmt(c.X, in)
		return s.fork().stmt(c.Y, through)
	case syntax.OrStmt:
		out := s.stmt(c.X, in)
		return out.with(s.branched([]*syntax.Stmt{c.Y}, in))
	}
	out := s.stmt(c.X, in)
	return out.with(s.stmt(c.Y, in))
}

func (s *scan) assign(a *syntax.Assign) {
	var values []string
	switch {
	case a.Array != nil:
		var elems []string
		for _, e := range a.Array.Elems {
			elems = append(elems, s.word(e.Value)...)
		}
		values = []string{strings.Join(elems, split)}
	case a.Value != nil:
		// Nothing is split or matched here: x=$y keeps the blanks and stars of y.
		for _, t := range s.parts(a.Value.Parts, false) {
			if strings.HasPrefix(t, "~") {
				t = s.tilde(t)
			}
			values = append(values, plain(t))
		}
	}
	if a.Index != nil {
		s.inner(a.Index)
	}
	if a.Name == nil || a.Naked {
		return
	}
	if old, ok := s.vars[a.Name.Value]; a.Append && ok {
		values = cross(old, values)
	}
	if len(values) > 0 && len(values[0]) > maxText {
		values, s.crude = []string{unknown}, true
	}
	s.set(a.Name.Value, values)
}

// inner scans the substitutions anywhere below a node whose own meaning does not matter.
func (s *scan) inner(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.fork().stmts(n.Stmts, flow{})
			return false
		case *syntax.ProcSubst:
			s.fork().stmts(n.Stmts, flow{})
			return false
		}
		return true
	})
}

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

// process returns a name for the file of <(…) or >(…).
func (s *scan) process(p *syntax.ProcSubst) string {
	if p.Op == syntax.CmdOut {
		s.outs = append(s.outs, p.Stmts)
		return "/dev/fd/" + unknown
	}
	name := "/dev/fd/" + unknown + strconv.Itoa(len(s.files))
	s.keep(name, s.fork().stmts(p.Stmts, flow{}))
	return name
}

// keep remembers what was written to a file, stored gives it back.
func (s *scan) keep(name string, f flow) {
	if p := resolve(s.cwd(), name); p != "" && f != (flow{}) {
		s.files[p] = s.files[p].with(f)
	}
}

func (s *scan) stored(name string) flow {
	if len(s.files) == 0 {
		return flow{}
	}
	return s.files[resolve(s.cwd(), name)]
}
