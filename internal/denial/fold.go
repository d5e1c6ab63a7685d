package denial

import (
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// A word is folded to the texts it may stand for, as bash would expand it. What is not known stands in the text as one of
// these bytes, which real words do not hold. (Not NUL, which the parser drops.)
const (
	unknown = "\x05" // any text
	star    = "\x01" // * of a pattern
	one     = "\x02" // one character of a pattern
	split   = "\x03" // a blank at which an unquoted expansion falls into words
	network = "\x04" // any text, and it came from the network
)

const wild = unknown + star + one + network

// Beyond these a fold gives up and says unknown: words can grow without end (x=$x$x).
const (
	maxTexts = 64
	maxText  = 1 << 16
)

// word returns the texts that a word may stand for; more than one for braces and for variables set in branches.
func (s *scan) word(w *syntax.Word) []string {
	if w == nil {
		return []string{""}
	}
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(l.Value, "\\*?[{~"+split) {
			return []string{l.Value}
		}
	}
	if l := w.Lit(); strings.Contains(l, "{") || len(w.Parts) > 1 {
		syntax.SplitBraces(w)
	}
	texts := s.parts(w.Parts, false)
	if l, ok := w.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(l.Value, "~") {
		for i, t := range texts {
			texts[i] = s.tilde(t)
		}
	}
	var out []string
	for _, t := range texts {
		if !strings.Contains(t, split) {
			out = append(out, t)
			continue
		}
		out = append(out, strings.FieldsFunc(t, func(r rune) bool { return r == rune(split[0]) })...)
	}
	return out
}

func (s *scan) words(ws []*syntax.Word) (out []string) {
	for _, w := range ws {
		out = append(out, s.word(w)...)
	}
	return out
}

func (s *scan) tilde(t string) string {
	user, rest, _ := strings.Cut(t[1:], "/")
	rest = "/" + rest
	switch user {
	case "":
		return s.env.Home + rest
	case "+":
		return s.cwd() + rest
	case "root":
		return "/root" + rest
	}
	return "/home/" + user + rest
}

// parts folds the parts of a word side by side.
func (s *scan) parts(ps []syntax.WordPart, quoted bool) []string {
	texts := []string{""}
	for _, p := range ps {
		more := s.part(p, quoted)
		if len(more) == 1 {
			for i := range texts {
				texts[i] += more[0]
			}
		} else {
			texts = cross(texts, more)
		}
		if len(texts) > maxTexts || len(texts) > 0 && len(texts[0]) > maxText {
			s.crude = true
			return []string{unknown}
		}
	}
	return texts
}

func cross(a, b []string) (out []string) {
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

func (s *scan) part(p syntax.WordPart, quoted bool) []string {
	switch p := p.(type) {
	case *syntax.Lit:
		return []string{literal(p.Value, quoted)}
	case *syntax.SglQuoted:
		if p.Dollar {
			return []string{ansiC(p.Value)}
		}
		return []string{p.Value}
	case *syntax.DblQuoted:
		return s.parts(p.Parts, true)
	case *syntax.ParamExp:
		return s.param(p, quoted)
	case *syntax.CmdSubst:
		return expanded([]string{s.fork().stmts(p.Stmts, flow{}).value()}, quoted)
	case *syntax.ProcSubst:
		return []string{s.process(p)}
	case *syntax.BraceExp:
		if p.Sequence {
			return []string{unknown}
		}
		var out []string
		for _, e := range p.Elems {
			out = append(out, s.parts(e.Parts, quoted)...)
		}
		return out
	}
	s.inner(p)
	return []string{unknown}
}

var blanks = strings.NewReplacer(" ", split, "\t", split, "\n", split, "*", star, "?", one)

// expanded is what word splitting and pattern matching see of a value.
func expanded(values []string, quoted bool) []string {
	if quoted {
		return values
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = blanks.Replace(v)
	}
	return out
}

// literal takes backslashes out of a literal as bash does in or outside double quotes, and marks the patterns in it.
func literal(v string, quoted bool) string {
	if !strings.ContainsAny(v, `\*?[`) {
		return v
	}
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		c := v[i]
		switch {
		case c == '\\' && i+1 < len(v) && (!quoted || strings.IndexByte("$`\"\\\n", v[i+1]) >= 0):
			if i++; v[i] != '\n' {
				b.WriteByte(v[i])
			}
		case quoted:
			b.WriteByte(c)
		case c == '*':
			b.WriteString(star)
		case c == '?':
			b.WriteString(one)
		case c == '[' && strings.IndexByte(v[i+1:], ']') > 0:
			set := v[i+1 : i+1+strings.IndexByte(v[i+1:], ']')]
			i += len(set) + 1
			if len(set) > 1 {
				set = one
			}
			b.WriteString(set)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// ansiC decodes the escapes of $'…'. Bash ends the text at a NUL.
func ansiC(v string) string {
	text, _, err := expand.Format(nil, v, nil)
	if err != nil {
		return unknown
	}
	text, _, _ = strings.Cut(text, "\x00")
	return text
}

// param folds $x and ${x…}. Of a default and a value both count; what cuts or replaces gives unknown.
func (s *scan) param(p *syntax.ParamExp, quoted bool) []string {
	if p.Param == nil || p.Length || p.Width || p.Excl || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		s.inner(p)
		return []string{unknown}
	}
	if p.Index != nil {
		s.inner(p.Index)
	}
	name := p.Param.Value
	values, known := s.value(name)
	if p.Exp == nil {
		return expanded(values, quoted)
	}
	given := s.word(p.Exp.Word)
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !known {
			s.set(name, given)
		}
		fallthrough
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if known {
			return expanded(values, quoted)
		}
		return expanded(given, quoted)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return expanded(given, quoted)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return expanded(values, quoted)
	}
	return []string{unknown}
}

// value returns what a variable may hold, and whether the text itself or the shell says so.
func (s *scan) value(name string) (values []string, known bool) {
	if v, ok := s.vars[name]; ok {
		return v, true
	}
	switch name {
	case "HOME":
		return []string{s.env.Home}, true
	case "PWD":
		return []string{s.cwd()}, true
	case "IFS":
		return []string{" "}, true
	case "@", "*":
		if s.args != nil {
			return []string{strings.Join(s.args[min(1, len(s.args)):], split)}, true
		}
	}
	if n, err := strconv.Atoi(name); err == nil && s.args != nil {
		if n < len(s.args) {
			return []string{s.args[n]}, true
		}
		return []string{""}, true
	}
	return []string{unknown}, false
}

// set gives a variable values. In a branch the ones it had stay possible.
func (s *scan) set(name string, values []string) {
	if s.branch > 0 {
		values = append(append([]string(nil), s.vars[name]...), values...)
	}
	if len(values) > maxTexts/4 {
		values = []string{unknown}
	}
	s.vars[name] = values
}

// resolve makes a folded word an absolute path as seen from the current directory; empty if that is not known.
func resolve(cwd, word string) string {
	if !strings.HasPrefix(word, "/") {
		if !strings.HasPrefix(cwd, "/") || strings.HasPrefix(word, unknown) || strings.HasPrefix(word, network) {
			return ""
		}
		word = cwd + "/" + word
	}
	return path.Clean(word)
}

// fits says whether a text that may hold unknown parts can be name.
func fits(pattern, name string) bool {
	p, n, mark, from := 0, 0, -1, 0 // mark: the last part of any length, and where in name it may go on
	for n < len(name) {
		switch {
		case p < len(pattern) && strings.IndexByte(unknown+star+network, pattern[p]) >= 0:
			mark, from = p, n
			p++
		case p < len(pattern) && (pattern[p:p+1] == one || pattern[p] == name[n]):
			p, n = p+1, n+1
		case mark >= 0:
			from++
			p, n = mark+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], unknown+star+network) == ""
}
