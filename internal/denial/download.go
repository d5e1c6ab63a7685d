package denial

import (
	"path"
	"slices"
	"strings"
)

var downloaders = set("curl wget wget2 fetch aria2c http https xh lynx links elinks w3m nc ncat netcat socat telnet ftp tftp lwp-request lwp-download GET axel")

const (
	shells = "sh bash dash zsh ksh mksh ash fish rbash csh tcsh"
)

// Programs that print what a site holds with these words behind them.
var fetching = []string{"gh api", "gh release", "glab api", "aws s3", "gsutil cat", "gcloud storage", "az storage"}

// interpreter is a program that runs text: the options that carry code, and those that take another value.
type interpreter struct{ code, values string }

var interpreters = map[string]interpreter{
	"python": {"-c", "-W -X"}, "pypy": {"-c", "-W -X"}, "node": {"-e --eval -p --print -pe", "-r --require --import --loader"}, "nodejs": {"-e --eval -p --print", "-r --require"},
	"deno": {"eval", ""}, "bun": {"-e --eval", "-r"}, "ruby": {"-e", "-r -I"}, "perl": {"-e -E", ""}, "php": {"-r", "-d"}, "lua": {"-e", "-l"}, "luajit": {"-e", "-l"},
	"Rscript": {"-e", ""}, "R": {"-e", ""}, "pwsh": {"-c -Command", ""}, "osascript": {"-e", ""}, "tclsh": {}, "expect": {"-c", ""}, "elixir": {"-e", ""}, "julia": {"-e -E", ""}, "groovy": {"-e", ""}, "ts-node": {"-e", ""}, "tsx": {"-e", ""},
	"crontab": {}, "at": {"", "-t -q"}, "batch": {},
}

func (s *scan) denyDownload(what string) {
	s.deny("download into an interpreter", what+" runs what was just downloaded, unseen; a person may save it, read it, and then run it.")
}

// runsDownload denies a command whose name came from the network, or that is a file from there.
func (s *scan) runsDownload(word string) {
	if strings.HasPrefix(word, network) || strings.Contains(word, "/") && s.stored(word).net != "" {
		s.denyDownload("The command " + show(word))
	}
}

// runsText judges a program that runs text as code: from its options, a file, or its standard input. ok is false for any
// other program.
func (s *scan) runsText(name string, argv []string, in flow) (out flow, ok bool) {
	args := argv[1:]
	switch {
	case name == "make" && strings.Contains(strings.Join(args, " "), "-f -"):
		return s.script(name, "-", in, false), true
	case name == "eval":
		return s.shellText("eval", strings.Join(args, " "), in), true
	case name == "trap":
		if args = pastOptions(args, ""); len(args) > 0 {
			s.shellText("trap", args[0], in)
		}
		return flow{}, true
	case name == "source" || name == ".":
		if args = pastOptions(args, ""); len(args) > 0 {
			s.secretPath(args[0])
			return s.script(name, args[0], in, true), true
		}
		return flow{}, true
	case listed(shells, name):
		return s.shell(name, args, in), true
	}
	i, ok := interpreters[strings.TrimRight(name, "0123456789.")]
	if !ok {
		return flow{}, false
	}
	s.interpret(name, i, args, in)
	return flow{}, true
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
	if file == "-" || file == "/dev/stdin" || file == "/dev/fd/0" || file == "/proc/self/fd/0" {
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

// shell judges sh and its kin: -c TEXT, a script, or standard input.
func (s *scan) shell(name string, args []string, in flow) flow {
	c := s.fork()
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--" || a == "-":
			if i+1 < len(args) {
				return c.shellFile(name, args[i+1:], in)
			}
		case strings.HasPrefix(a, "--") || len(a) < 2 || a[0] != '-' && a[0] != '+':
			if listed("--rcfile --init-file", a) {
				i++
			} else if a == "" || a[0] != '-' {
				return c.shellFile(name, args[i:], in)
			}
		case a[0] == '-' && strings.Contains(a, "c"):
			rest := pastOptions(args[i+1:], "-o -O")
			if len(rest) == 0 {
				return flow{}
			}
			if s.cutting { // its quotes are gone
				return s.call(rest, in)
			}
			if c.args = rest[1:]; len(c.args) == 0 {
				c.args = []string{name}
			}
			return c.shellText(name, rest[0], in)
		case strings.HasSuffix(a, "o") || strings.HasSuffix(a, "O"):
			i++
		case strings.Contains(a, "s"):
			return c.script(name, "-", in, true)
		}
	}
	return c.script(name, "-", in, true)
}

func (s *scan) shellFile(name string, words []string, in flow) flow {
	s.secretPath(words[0])
	s.args = words
	for _, w := range words[1:] {
		s.secretPath(w)
	}
	return s.script(name, words[0], in, true)
}

// interpret judges python and the like: code in an option, a module, a script, or standard input.
func (s *scan) interpret(name string, lang interpreter, args []string, in flow) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		bundled := len(a) > 2 && a[0] == '-' && a[1] != '-' && lang.code != "" && listed(lang.code, "-"+a[len(a)-1:])
		switch {
		case listed(lang.code, a) || bundled:
			if i+1 < len(args) && strings.Contains(args[i+1], network) {
				s.denyDownload(show(name))
			}
			s.operands("", append([]string{name}, args[min(i+2, len(args)):]...))
			return
		case a == "-m":
			s.operands("", append([]string{name}, args[min(i+2, len(args)):]...))
			return
		case listed(lang.values, a):
			i++
		case a == "run" && listed("bun deno", name):
		case a == "-" || !strings.HasPrefix(a, "-"):
			if name == "at" {
				continue // a time
			}
			s.operands("", append([]string{name}, args[i:]...))
			s.script(name, a, in, false)
			return
		case listed("--version -V -v --help -h -l", a):
			return
		default:
			s.option(a, "")
		}
	}
	s.script(name, "-", in, listed("at batch", name))
}

// output returns what a program puts out, and remembers the files that it writes.
func (s *scan) output(name string, argv []string, in flow) flow {
	args := argv[1:]
	switch {
	case downloaders[name], s.guessed(name, "curl wget"), len(args) > 0 && slices.Contains(fetching, name+" "+args[0]):
		for _, f := range downloaded(name, args) {
			s.keep(f, flow{net: name})
		}
		return flow{net: name}
	case name == "echo":
		return flow{text: strings.Join(pastEchoOptions(args), " ") + "\n"}
	case name == "printf" && len(args) > 0:
		return flow{text: printed(args)}
	case name == "command" || name == "which" || name == "type":
		if operands := operandsOf(args); len(operands) > 0 {
			return flow{text: operands[0]}
		}
	case name == "find":
		if text, ok := optionText(args, "-name"); ok {
			return flow{text: text}
		}
		return flow{text: s.found}
	case name == "pwd":
		return flow{text: s.cwd()}
	case listed("read mapfile readarray", name):
		for _, v := range operandsOf(args) {
			s.set(v, []string{in.value()})
		}
		return flow{}
	case name == "tee":
		for _, f := range operandsOf(args) {
			s.keep(f, in)
		}
		return in
	}
	out := flow{net: in.net}
	if f, ok := optionText(args, "of="); ok && name == "dd" {
		s.keep(f, in)
	}
	files := operandsOf(args)
	for _, f := range files {
		out = out.with(s.stored(f))
	}
	if listed("cp mv ln install", name) && len(files) > 1 {
		to := files[len(files)-1]
		s.keep(to, out)
		s.keep(to+"/"+path.Base(files[0]), out)
	}
	if name == "cat" {
		out.text += in.text
	} else {
		out.text = ""
	}
	return out
}

func pastEchoOptions(args []string) []string {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		args = args[1:]
	}
	return args
}

// printed is what printf puts out: its format with the words in place of %s, well enough to read commands in it.
func printed(args []string) string {
	text := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `%%`, "%").Replace(args[0])
	for _, a := range args[1:] {
		if i := strings.IndexByte(text, '%'); i >= 0 && i+1 < len(text) {
			text = text[:i] + a + text[i+2:]
		} else {
			text += " " + a
		}
	}
	return text
}

// downloaded returns the files that a downloader may write: what its options name, and the last parts of its addresses.
func downloaded(name string, args []string) (files []string) {
	for i, a := range args {
		if !strings.HasPrefix(a, "-") || len(a) < 2 {
			a, _, _ = strings.Cut(a, "?")
			files = append(files, path.Base(a))
		} else if o := a[len(a)-1:]; i+1 < len(args) && (listed("--output --output-document --out", a) || a[1] != '-' && (o == "o" || o == "O" && name != "curl")) {
			files = append(files, args[i+1])
		} else if _, v, ok := strings.Cut(a, "="); ok {
			files = append(files, v)
		} else if len(a) > 2 && (a[1] == 'o' || a[1] == 'O' && name != "curl") {
			files = append(files, a[2:])
		}
	}
	if dir, ok := optionText(args, "-P", "--directory-prefix", "--output-dir", "--dir"); ok {
		for _, f := range files {
			files = append(files, dir+"/"+f)
		}
	}
	return files
}
