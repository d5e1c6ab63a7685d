package denial

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

func (s *scan) denyDownload(what string) {
	s.deny("download into an interpreter", what+" runs what was just downloaded, unseen; a person may save it, read it, and then run it.")
}

// runsText judges a program that runs text as code: from its options, a file, or its standard input. ok is false for any
// other program.
func (s *scan) runsText(name string, args []string, in flow) (out flow, ok bool) {
	operands := append(pastOptions(args, ""), "")
	switch bare := strings.TrimRight(name, "0123456789."); { // python3.12 is python
	case name == "eval":
		return s.shellText(name, strings.Join(args, " "), in), true
	case name == "trap":
		s.shellText(name, operands[0], in)
		return flow{}, true
	case name == "at", name == "batch": // they give what they read to sh
		return s.script(name, "-", in, true), true
	case name == "source", name == ".":
		s.secretPath(operands[0])
		s.env.Vars = nil // it may set any
		return s.script(name, operands[0], in, true), true
	case is("code", bare):
		return s.interpret(bare, args, in), true
	case is("file", name):
		for _, f := range optionTexts(args, "-f", "--file", "--makefile") {
			s.script(name, f, in, false)
		}
	}
	return flow{}, false
}

func (s *scan) shellText(name, text string, in flow) flow {
	if strings.HasPrefix(strings.TrimSpace(text), network) {
		s.denyDownload(show(name))
	}
	return s.code(text, in)
}

// script judges a file that is run: what is known to be in it is read as well if a shell runs it.
func (s *scan) script(name, file string, in flow, shell bool) flow {
	f := s.stored(file)
	if listed("- /dev/stdin /dev/fd/0 /proc/self/fd/0", file) {
		f = in
	}
	if f.net != "" || strings.HasPrefix(file, network) {
		s.denyDownload(show(name))
	}
	if shell && f.text != "" {
		return s.code(f.text, flow{})
	}
	return flow{}
}

// interpret judges sh, python and the like: code in an option, a module, a script, or standard input.
func (s *scan) interpret(name string, args []string, in flow) flow {
	c, code, values, shell := s.fork(), fact("code", name), fact("value", name), is("shell", name)
	for i := 0; i < len(args); i++ {
		a, rest := args[i], args[i+1:]
		short := len(a) > 1 && a[0] == '-' && a[1] != '-'
		switch {
		case shell && short && strings.Contains(a, "c"):
			return c.shellCode(name, pastOptions(rest, values), in)
		case !shell && (listed(code, a) || short && listed(code, "-"+a[len(a)-1:]) || a == "-m"):
			if a != "-m" && len(rest) > 0 && strings.Contains(rest[0], network) {
				s.denyDownload(show(name))
			}
			s.operands("", rest[min(1, len(rest)):])
			return flow{}
		case listed(values, a), shell && short && strings.ContainsAny(a[len(a)-1:], "oO"):
			i++
		case shell && short && strings.Contains(a, "s"):
			return c.script(name, "-", in, true)
		case a == "run" && listed("bun deno", name), shell && (a == "-" || a == "--"):
		case a == "-", !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+"):
			s.operands("", args[i:])
			c.arguments(args[i:])
			return c.script(name, a, in, shell)
		case !shell && listed("--version -V -v --help -h -l", a):
			return flow{}
		default:
			s.option(a, "")
		}
	}
	return c.script(name, "-", in, shell)
}

// shellCode judges sh -c TEXT NAME ARGUMENTS…
func (s *scan) shellCode(name string, words []string, in flow) flow {
	if s.cutting || len(words) == 0 { // its quotes are gone
		return s.call(words, in)
	}
	if s.arguments([]string{name}); len(words) > 1 {
		s.arguments(words[1:])
	}
	return s.shellText(name, words[0], in)
}

// arguments sets $0, $1, … and $@.
func (s *scan) arguments(words []string) {
	s.vars["@"] = []expand.Variable{list(words[1:]...)}
	for i := range 10 {
		if delete(s.vars, strconv.Itoa(i)); i < len(words) {
			s.vars[strconv.Itoa(i)] = []expand.Variable{text(words[i])}
		}
	}
}

// served is a program that socat connects with the network.
var served = regexp.MustCompile(`(?im)^(?:exec|system):([^,\n]+)`)

// output returns what a program puts out, and remembers the files that it writes.
func (s *scan) output(name string, args []string, in flow) flow {
	files := operandsOf(args)
	switch {
	case isWith("download", name, args), guessed(name, "curl wget"):
		for _, f := range downloaded(args) {
			s.keep(f, flow{net: name})
		}
		return flow{net: name}
	case isWith("remote", name, args):
		code := optionTexts(args, "-e", "-c", "--exec", "--sh-exec")
		for _, m := range served.FindAllStringSubmatch(strings.Join(args, "\n"), -1) {
			code = append(code, m[1])
		}
		for _, c := range code {
			s.shellText(name, c, flow{net: name})
		}
		return flow{net: name}
	case name == "echo":
		for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
			args = args[1:]
		}
		return flow{text: unescaped(strings.Join(args, " ")) + "\n"}
	case name == "printf" && len(args) > 2 && args[0] == "-v":
		s.set(args[1], text(printed(args[2:])))
		return flow{}
	case name == "printf" && len(args) > 0:
		return flow{text: printed(args)}
	case name == "mktemp": // another name each time
		return flow{text: cmp.Or(append(files, "")[0], "/tmp/tmp.") + strconv.Itoa(s.steps)}
	case name == "mkfifo", name == "mknod":
		s.fifo = true
	case name == "set" && len(args) > 0 && (slices.Contains(args, "--") || strings.Trim(args[0][:min(1, len(args[0]))], "-+") != ""):
		s.arguments(append([]string{name}, args[slices.Index(args, "--")+1:]...))
	case name == "shift":
		if all := s.may("@"); len(all) > 0 && len(all[0].List) > 0 {
			s.arguments(all[0].List)
		}
	case listed("command which type", name) && len(files) > 0:
		return flow{text: files[0]}
	case isFind(name):
		return s.find(args)
	case is("names", name):
		all := "*"
		if slices.ContainsFunc(args, func(a string) bool { return a[:min(1, len(a))] == "-" && strings.ContainsAny(a, "aA") }) {
			all = "*\n.*"
		}
		return flow{text: cmp.Or(strings.Join(files, "\n"), all)}
	case listed("read mapfile readarray", name):
		for _, v := range files {
			s.set(v, text(in.value()))
		}
		return flow{}
	}
	out := flow{net: in.net}
	if listed("tee cat head tail sort uniq tac", name) {
		out = in
	}
	for _, f := range files {
		out = out.with(flow{net: s.stored(f).net})
		if name == "cat" {
			out = out.with(s.stored(f))
		}
	}
	files = append(files, optionTexts(args, "of=")...)
	if listed("tee dd cp mv ln install", name) { // all that they name: the copies as well
		for _, f := range files {
			s.keep(f, out)
			s.keep(files[len(files)-1]+"/"+path.Base(f), out)
		}
	}
	return out
}

// printed is what printf puts out: its format with the words in place of %s, well enough to read commands in it.
func printed(args []string) string {
	text := strings.ReplaceAll(args[0], "%%", "%")
	for _, a := range args[1:] {
		if i := strings.IndexByte(text, '%'); i >= 0 && i+1 < len(text) {
			text = text[:i] + a + text[i+2:]
		} else {
			text += " " + a
		}
	}
	return unescaped(text)
}

// unescaped reads \n, \x2e, \056 and the like; a NUL ends a name as a line end does.
func unescaped(text string) string {
	out, _, _ := expand.Format(&expand.Config{}, text, nil) // only its verbs may be wrong
	return strings.ReplaceAll(out, "\x00", "\n")
}

// downloaded returns the files that a downloader may write: what its options may name, and the last parts of its addresses.
func downloaded(args []string) (files []string) {
	dir, _ := optionText(args, "-P", "--directory-prefix", "--output-dir", "--dir")
	for _, a := range args {
		if _, v, ok := strings.Cut(a, "="); ok && strings.HasPrefix(a, "--") {
			a = v
		} else if len(a) > 2 && a[0] == '-' { // -oFILE
			a = a[2:]
		}
		base, _, _ := strings.Cut(a, "?")
		files = append(files, a, path.Base(base), dir+"/"+path.Base(base))
	}
	return files
}
