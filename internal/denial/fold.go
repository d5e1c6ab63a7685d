package denial

import (
	"io"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// A word is expanded as bash would do it, in an environment that holds what the text itself says. What is not known stands
// in the text as one of these bytes, which real words do not hold. Patterns stay as they are.
const (
	unknown = "\x05"            // any text
	network = "\x04"            // any text, and it came from the network
	unset   = unknown + unknown // of a variable that nothing sets: any text, or none
	wild    = unknown + network + "*?["
)

// Beyond these an expansion gives up and says unknown: words can grow without end (x=$x$x).
const (
	maxText   = 4096
	maxFields = 256
	maxValues = 16 // of one variable
)

func text(s string) expand.Variable { return expand.Variable{Set: true, Kind: expand.String, Str: s} }

func list(words ...string) expand.Variable {
	return expand.Variable{Set: true, Kind: expand.Indexed, List: words}
}

// Get is what a variable holds: in an expansion, one of its possible values after the other.
func (s *scan) Get(name string) expand.Variable {
	user, isHome := strings.CutPrefix(name, "HOME ") // of ~user
	may := s.may(name)
	switch {
	case isHome && user == "root":
		return text("/root")
	case isHome:
		return text("/home/" + user)
	case len(may) == 0 && listed("SHELL BASH", name):
		return text("bash")
	case len(may) == 0 && len(name) == 1 && name >= "0" && name <= "9":
		return text("")
	case len(may) == 0 && (s.env.Vars == nil || !syntax.ValidName(name)):
		return text(unknown)
	case len(may) == 0:
		return text(unset)
	}
	s.most = max(s.most, len(may))
	return may[s.pick%len(may)]
}

// may are the values that a variable may have, from the text or from the start; none if they are not known.
func (s *scan) may(name string) []expand.Variable {
	if name == "*" {
		name = "@"
	}
	if value, ok := s.env.Vars[name]; ok && len(s.vars[name]) == 0 {
		return []expand.Variable{text(value)}
	}
	return s.vars[name]
}

// Each and Set belong to the environment of an expansion; Set is called for ${x:=…} and $((x=…)).
func (s *scan) Each(func(string, expand.Variable) bool) {}

// Set sets a variable.
func (s *scan) Set(name string, v expand.Variable) error { s.set(name, v); return nil }

// set gives a variable values. In a branch the ones it had stay possible.
func (s *scan) set(name string, may ...expand.Variable) {
	if s.branch > 0 {
		may = slices.Concat(s.vars[name], may)
	}
	if len(may) > maxValues {
		may = []expand.Variable{text(unknown)}
	}
	s.vars[name] = may
}

// word returns the fields that a word may become.
func (s *scan) word(w *syntax.Word) (out []string) {
	if w == nil {
		return nil
	}
	if lit := w.Lit(); lit != "" && !strings.ContainsAny(lit, `\{~`) {
		return []string{lit}
	}
	s.each(w, func(fields []string) { out = append(out, fields...) })
	return out
}

func (s *scan) words(ws []*syntax.Word) (out []string) {
	for _, w := range ws {
		out = append(out, s.word(w)...)
	}
	return out
}

// each expands a word once for every choice among what its variables may hold.
func (s *scan) each(w *syntax.Word, yield func(fields []string)) {
	defer s.prepare(w)()
	for s.pick, s.most = 0, 1; s.pick < s.most; s.pick++ {
		yield(s.fields(w))
	}
	s.pick = 0
}

// fields expands a word.
func (s *scan) fields(w *syntax.Word) (out []string) {
	size, most, limit := 0, s.most, maxFields
	if s.cutting {
		limit /= 16
	}
	ok := s.guard(w, func() error {
		words := expand.FieldsSeq(s.config(), w)
		s.most = most // it looked at PWD
		for field, err := range words {
			size += len(field) + 1
			if out = append(out, field); err != nil || size > maxText || len(out) > limit {
				return err
			}
		}
		return nil
	})
	if s.steps += size/256 + 2*max(0, len(out)-1) + s.pick; !ok || size > maxText || len(out) > limit {
		s.crude = s.crude || ok
		return []string{unknown}
	}
	return out
}

// guard runs an expansion. Of a word that the library refuses or did not expect, the substitutions are scanned all the same.
func (s *scan) guard(w *syntax.Word, expansion func() error) (ok bool) {
	defer func() {
		if ok = ok && recover() == nil; !ok {
			s.fork().inner(w, flow{})
		}
	}()
	return expansion() == nil
}

func (s *scan) config() *expand.Config {
	return &expand.Config{
		Env: s,
		CmdSubst: func(out io.Writer, c *syntax.CmdSubst) error {
			_, err := io.WriteString(out, s.fork().stmts(c.Stmts, s.input).value())
			return err
		},
		ProcSubst: func(p *syntax.ProcSubst) (string, error) { return s.process(p), nil },
	}
}

// prepare changes what the library would take for known or empty, and returns what undoes it.
func (s *scan) prepare(w *syntax.Word) (undo func()) {
	undo = func() {}
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.Word:
			for i, p := range n.Parts {
				if _, ok := p.(*syntax.ExtGlob); ok {
					n.Parts[i] = &syntax.Lit{Value: "*"}
				}
			}
		case *syntax.ParamExp:
			before, saved := undo, *n
			undo = func() { *n = saved; before() }
			s.simplify(n)
		}
		return true
	})
	return undo
}

// simplify takes the default or alternative of a variable that is not known for its value, and nothing for a part of it.
// What may grow without bounds is not known either.
func (s *scan) simplify(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	may := s.may(p.Param.Value)
	_, plain := p.Index.(*syntax.Word)
	if len(may) > 0 { // work, more of it for a pattern
		s.steps += len(may[0].Str) / 64
		if p.Repl != nil || p.Exp != nil {
			s.steps += len(may[0].Str) / 4
		}
	}
	grows := s.steps > maxSteps || p.Repl != nil && p.Repl.With != nil && len(p.Repl.With.Parts) > 0 && (p.Repl.With.Lit() == "" || len(p.Repl.With.Lit()) > 99)
	switch {
	case len(may) == 0 && p.Exp != nil && listed("+ :+ - :- = :=", p.Exp.Op.String()):
		if strings.HasSuffix(p.Exp.Op.String(), "=") {
			s.set(p.Param.Value, text(strings.Join(s.word(p.Exp.Word), " ")))
		}
		*p = syntax.ParamExp{Param: p.Param, Exp: &syntax.Expansion{Op: syntax.AlternateUnset, Word: p.Exp.Word}}
	case len(may) == 0 && !p.Excl && !p.Length && p.Names == 0 && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil:
	case len(may) == 0 || grows:
		s.crude = s.crude || grows
		s.fork().inner(p, flow{})
		*p = syntax.ParamExp{Param: &syntax.Lit{Value: "?"}}
	case p.Index != nil && (may[0].Kind != expand.Indexed || !plain):
		s.fork().inner(p.Index, flow{})
		p.Index = nil
	}
}

// resolve makes a folded word an absolute path as seen from the current directory; empty if that is not known.
func resolve(cwd, word string) string {
	if !strings.HasPrefix(word, "/") {
		if !strings.HasPrefix(cwd, "/") || strings.HasPrefix(word, unknown) || strings.HasPrefix(word, network) {
			return ""
		}
		word = cwd + "/" + word
	}
	if len(word) > maxText { // no system has such a path
		return ""
	}
	return path.Clean(word)
}

var anything = strings.NewReplacer(unknown, "*", network, "*")

// fits says whether a text that may hold unknown parts and wildcards can be name.
func fits(pattern, name string) bool {
	ok, err := path.Match(anything.Replace(pattern), name)
	return ok && err == nil
}
