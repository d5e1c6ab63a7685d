package denial

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// call judges a command by its folded words, behind whatever wrapper it stands, and returns what it puts out.
func (s *scan) call(argv []string, in flow) flow {
	for len(argv) > 0 && argv[0] == "" {
		argv = argv[1:]
	}
	if len(argv) == 0 || !s.step() {
		return flow{}
	}
	defer func(n int) { s.nested = n }(s.nested)
	if s.nested++; s.nested > maxNested {
		s.deny("privilege escalation", fmt.Sprintf("What is run is hidden behind more than %d programs that run another one, so it can't be judged", maxNested)+byHand)
		return flow{}
	}
	s.Calls = append(s.Calls, argv)
	name := path.Base(argv[0])
	s.privilege(name, argv)
	if strings.HasPrefix(argv[0], network) || strings.Contains(argv[0], "/") && s.stored(argv[0]).net != "" { // the name, or the file
		s.denyDownload("The command " + show(argv[0]))
	}
	if body := s.funcs[argv[0]]; body != nil && s.depth < maxDepth/3 {
		f := s.fork()
		f.depth++
		f.arguments(argv)
		return f.stmt(body, in)
	}
	if inner, ok := s.peel(name, argv, in); ok {
		return s.call(inner, in)
	}
	s.disk(name, argv[1:])
	if out, ok := s.runsText(name, argv[1:], in); ok {
		return out
	}
	s.deletion(name, argv)
	s.operands(name, argv[1:])
	if name == "cd" || name == "pushd" { // in a branch the old place stays possible
		to := s.env.Home
		if dirs := pastOptions(argv[1:], ""); len(dirs) > 0 {
			to = dirs[0]
		}
		s.set("PWD", text(cmp.Or(resolve(s.cwd(), to), unknown)))
	}
	return s.output(name, argv[1:], in)
}

// peel takes a wrapper off. inner is nil if what it runs was judged here.
func (s *scan) peel(name string, argv []string, in flow) (inner []string, ok bool) {
	args := argv[1:]
	if !is("wrap", name) {
		for i := 1; i+1 < len(argv) && i < 3; i++ {
			if is("wrap", argv[i-1]+"+"+argv[i]) {
				return pastOptions(argv[i+1:], ""), true
			}
		}
		return nil, false
	}
	before, values, _ := strings.Cut(fact("wrap", name), " ")
	skip, _ := strconv.Atoi(before)
	operands := pastOptions(args, values)
	for _, a := range args[:len(args)-len(operands)] {
		if name == "command" && strings.HasPrefix(a, "-") && strings.ContainsAny(a, "vV") {
			return nil, false
		}
		if !strings.HasPrefix(a, "-") {
			s.secretPath(a)
		}
	}
	for len(operands) > 0 && (operands[0] == "-" || assignment.MatchString(operands[0])) { // env may have options and these in turn
		if k, v, ok := strings.Cut(operands[0], "="); ok {
			s.set(k, text(v))
		}
		operands = pastOptions(operands[1:], values)
	}
	if code := fact("code", name); code != "" {
		if text, found := optionText(args, strings.Fields(code)...); found {
			s.code(text, in)
			return nil, true
		}
	}
	operands = operands[min(skip, len(operands)):]
	switch name {
	case "env":
		text, _ := optionText(args[:len(args)-len(operands)], "-S", "--split-string")
		return append(strings.Fields(text), operands...), true
	case "watch":
		s.code(strings.Join(operands, " "), in)
		return nil, true
	case "xargs", "parallel":
		if file, found := optionText(args[:len(args)-len(operands)], "-a", "--arg-file"); found {
			in = s.stored(file)
		}
		return s.fromInput(name, args, operands, in), true
	}
	return operands, true
}

var assignment = regexp.MustCompile(`^[^=/\-. ]+=`)

// fromInput is what xargs and parallel run: the words that they read stand at the end or in place of {}.
func (s *scan) fromInput(name string, args, operands []string, in flow) []string {
	items := strings.Fields(in.value())
	if i := slices.Index(operands, ":::"); i >= 0 {
		operands, items = operands[:i], operands[i+1:]
	}
	mark, _ := optionText(args, "-I", "-J")
	mark = cmp.Or(mark, "{}")
	if !strings.Contains(strings.Join(operands, " "), mark) {
		return slices.Concat(operands, items)
	}
	out := make([]string, len(operands))
	for i, a := range operands {
		out[i] = strings.ReplaceAll(a, mark, strings.Join(items, " "))
	}
	return out
}

// pastOptions returns what stands after the options; values lists those whose value is the next word.
func pastOptions(args []string, values string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		a := args[0]
		args = args[1:]
		if a == "--" {
			break
		}
		if listed(values, a) && len(args) > 0 {
			args = args[1:]
		}
	}
	return args
}

// operandsOf returns the words that are no options.
func operandsOf(args []string) (out []string) {
	for i, a := range args {
		if a == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			out = append(out, a)
		}
	}
	return out
}

// optionText returns the value of an option; of one that is given more than once, the first.
func optionText(args []string, names ...string) (string, bool) {
	texts := append(optionTexts(args, names...), "")
	return texts[0], len(texts) > 1
}

// optionTexts returns the values of options: attached, after =, or the next word. Short ones may be bundled (-lc).
func optionTexts(args []string, names ...string) (out []string) {
	for i, a := range args {
		for _, n := range names {
			long := strings.HasPrefix(n, "--")
			v, is := strings.CutPrefix(a, n)
			bundled := !long && len(a) > 2 && a[0] == '-' && a[1] != '-' && a[len(a)-1] == n[1]
			switch {
			case is && long && strings.HasPrefix(v, "="):
				out = append(out, v[1:])
			case (is && v == "" || bundled) && i+1 < len(args):
				out = append(out, args[i+1])
			case is && !long && v != "":
				out = append(out, v)
			}
		}
	}
	return out
}
