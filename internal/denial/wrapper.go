package denial

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrapper is a program that runs another one: the options that take a value, and how many operands come before the command.
type wrapper struct {
	values string
	skip   int
}

var wrappers = map[string]wrapper{
	"command": {}, "builtin": {}, "exec": {"-a", 0}, "nohup": {}, "setsid": {}, "nice": {"-n --adjustment", 0}, "time": {"-f -o --format --output", 0},
	"env": {"-u --unset -C --chdir", 0}, "timeout": {"-s -k --signal --kill-after", 1}, "gtimeout": {"-s -k", 1}, "stdbuf": {"-i -o -e --input --output --error", 0},
	"xargs":  {"-I -J -R -n -P -L -s -d -E -a --max-args --max-procs --max-lines --max-chars --delimiter --arg-file", 0},
	"ionice": {"-c -n --class --classdata", 0}, "chrt": {"-T -P -D", 1}, "taskset": {"", 1}, "numactl": {}, "chroot": {"", 1}, "flock": {"-w -E --timeout --wait --conflict-exit-code", 1},
	"strace": {"-e -o -p -s -u -E -a -O -S -P -I -b", 0}, "ltrace": {"-e -o -p -s -u -l -n -a", 0}, "unshare": {"-R -w -S -G --root --wd --setuid --setgid --propagation", 0},
	"busybox": {}, "toybox": {}, "systemd-inhibit": {}, "dbus-run-session": {}, "xvfb-run": {"-s -n -e -f", 0}, "valgrind": {}, "fakeroot": {}, "firejail": {}, "proot": {"-r -b -w", 0},
	"caffeinate": {"-t -w", 0}, "rlwrap": {}, "unbuffer": {}, "systemd-run": {"-p -u --unit --property -E --setenv", 0}, "prlimit": {}, "setarch": {"", 1}, "setpriv": {}, "dotenv": {"-f -e", 0},
	"script": {"-c --command -O -B -I -T -m -E", 1}, "npx": {"-p --package -c --call", 0}, "bunx": {}, "pnpx": {}, "entr": {}, "parallel": {"-j -I -S -a --jobs --colsep --delay --joblog", 0}, "watch": {"-n --interval", 0},
	"faketime": {"-f", 1}, "cpulimit": {"-l -p -e", 0}, "torsocks": {}, "proxychains": {}, "proxychains4": {},
}

// Pairs of words that run what follows.
var wrapperPairs = []string{"npm exec", "npm x", "pnpm exec", "pnpm dlx", "yarn dlx", "yarn exec", "bun x", "bundle exec", "poetry run", "uv run", "pipenv run", "bisect run", "perf stat", "perf record", "rustup run"}

// simple walks a simple command: its first word may stand for several.
func (s *scan) simple(args []*syntax.Word, in flow) (out flow) {
	if len(args) == 0 {
		return flow{}
	}
	first, rest := s.word(args[0]), s.words(args[1:])
	if len(first) == 0 {
		return s.call(rest, in)
	}
	for i := range first {
		out = out.with(s.call(append(slices.Clone(first[i:]), rest...), in))
	}
	return out
}

// call judges a command by its folded words, behind whatever wrapper it stands, and returns what it puts out.
func (s *scan) call(argv []string, in flow) flow {
	for len(argv) > 0 && argv[0] == "" {
		argv = argv[1:]
	}
	if len(argv) == 0 || !s.step() {
		return flow{}
	}
	s.calls = append(s.calls, argv)
	name := path.Base(argv[0])
	s.privilege(name, argv)
	s.runsDownload(argv[0])
	if body := s.funcs[argv[0]]; body != nil && s.depth < maxDepth/3 {
		f := s.fork()
		f.args, f.depth = argv, s.depth+1
		return f.stmt(body, in)
	}
	if inner, ok := s.peel(name, argv, in); ok {
		if inner == nil {
			return flow{}
		}
		return s.call(inner, in)
	}
	if out, ok := s.runsText(name, argv, in); ok {
		return out
	}
	s.disk(name, argv)
	s.deletion(name, argv)
	s.operands(name, argv)
	if name == "cd" || name == "pushd" {
		s.changeDir(argv[1:])
	}
	return s.output(name, argv, in)
}

// peel takes a wrapper off. inner is nil if what it runs was judged here.
func (s *scan) peel(name string, argv []string, in flow) (inner []string, ok bool) {
	w, ok := wrappers[name]
	args := argv[1:]
	if !ok {
		for i := 1; i+1 < len(argv) && i < 3; i++ {
			if slices.Contains(wrapperPairs, argv[i-1]+" "+argv[i]) {
				return pastOptions(argv[i+1:], ""), true
			}
		}
		return nil, false
	}
	if name == "command" && len(args) > 0 && strings.HasPrefix(args[0], "-") && strings.ContainsAny(args[0], "vV") {
		return nil, false
	}
	if name == "env" {
		return s.envCommand(args, w.values), true
	}
	operands := pastOptions(args, w.values)
	for _, a := range args[:len(args)-len(operands)] {
		if !strings.HasPrefix(a, "-") {
			s.secretPath(a)
		}
	}
	operands = operands[min(w.skip, len(operands)):]
	switch name {
	case "flock", "npx", "script":
		if text, found := optionText(args, "-c", "--command", "--call"); found {
			s.code(text, in)
			return nil, true
		}
	case "watch":
		s.code(strings.Join(operands, " "), in)
		return nil, true
	case "xargs", "parallel":
		return s.fromInput(name, args, operands, in), true
	}
	return operands, true
}

// envCommand is what env runs: what stands after its options and assignments, or in its option -S.
func (s *scan) envCommand(args []string, values string) []string {
	for i, a := range args {
		text, found := strings.CutPrefix(a, "-S")
		if long, ok := strings.CutPrefix(a, "--split-string="); ok {
			text, found = long, true
		}
		if a == "-S" || a == "--split-string" || a == "-vS" {
			found, text = true, ""
		}
		if found {
			return append(strings.Fields(text), strings.Fields(strings.Join(args[i+1:], " "))...)
		}
		if !strings.HasPrefix(a, "-") && !isAssignment(a) {
			break
		}
	}
	for rest := pastOptions(args, values); ; rest = pastOptions(args, values) {
		if len(rest) > 0 && (isAssignment(rest[0]) || rest[0] == "-") {
			rest = rest[1:]
		}
		if len(rest) == len(args) {
			return args
		}
		args = rest
	}
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/-. ")
}

// fromInput is what xargs and parallel run: the words that they read stand at the end or in place of {}.
func (s *scan) fromInput(name string, args, operands []string, in flow) []string {
	items := strings.Fields(in.text)
	if name == "parallel" {
		if i := slices.IndexFunc(operands, func(a string) bool { return strings.HasPrefix(a, ":::") }); i >= 0 {
			operands, items = operands[:i], append(items, operands[i+1:]...)
		}
		if len(operands) == 0 {
			s.code(strings.Join(items, "\n"), flow{})
			operands = []string{"sh"}
			if in.net == "" {
				return nil
			}
		}
	}
	if len(items) == 0 {
		items = []string{unknown}
	}
	if in.net != "" {
		items = []string{network}
	}
	mark := "{}"
	if text, found := optionText(args, "-I", "-J"); found && text != "" {
		mark = text
	}
	if strings.Contains(strings.Join(operands, " "), mark) {
		out := make([]string, len(operands))
		for i, a := range operands {
			out[i] = strings.ReplaceAll(a, mark, strings.Join(items, " "))
		}
		return out
	}
	return append(slices.Clone(operands), items...)
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

// listed says whether a word is in a short list of words with blanks between.
func listed(list, word string) bool {
	for rest := list; word != ""; {
		i := strings.Index(rest, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || rest[i-1] == ' ') && (end == len(rest) || rest[end] == ' ') {
			return true
		}
		rest = rest[i+1:]
	}
	return false
}

// set makes a long list of words quick to search.
func set(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// optionText returns the value of an option: attached, after =, or the next word. Short ones may be bundled (-lc).
func optionText(args []string, names ...string) (string, bool) {
	for i, a := range args {
		for _, n := range names {
			long := strings.HasPrefix(n, "--")
			if v, ok := strings.CutPrefix(a, n+"="); ok && long {
				return v, true
			}
			bundled := !long && len(a) > 2 && a[0] == '-' && a[1] != '-' && a[len(a)-1] == n[1]
			if (a == n || bundled) && i+1 < len(args) {
				return args[i+1], true
			}
			if v, ok := strings.CutPrefix(a, n); ok && !long && v != "" {
				return v, true
			}
		}
	}
	return "", false
}

// changeDir follows cd. In a branch the old place stays possible.
func (s *scan) changeDir(args []string) {
	to := s.env.Home
	if args = pastOptions(args, ""); len(args) > 0 {
		to = resolve(s.cwd(), args[0])
	}
	if len(to) > 4096 { // no system has such a path
		to = ""
	}
	if s.branch > 0 && len(s.cwds) < maxTexts {
		s.cwds = append(s.cwds, to)
	} else {
		s.cwds = []string{to}
	}
}
