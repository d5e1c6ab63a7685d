package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"anchor/internal/denial"
)

func (r Rules) exec(a Exec) Decision {
	if a.Denial != nil {
		return hard(a.Denial.Rule, a.Denial.Reason)
	}
	if p, kind := a.secret(); kind != "" {
		return secretFile(p, kind)
	}
	return r.judge(func(x Rule) bool { return r.deniesExec(x, a) }, func(x Rule) bool { return r.allowsExec(x, a) }, r.plainExec(a))
}

// plainExec decides on a command without any rules.
func (r Rules) plainExec(a Exec) Decision {
	if a.ByUser {
		return allow("It is a command of your own.")
	}
	doubt := a.doubt()
	if doubt == "" {
		d := allow("It is provably read-only.")
		d.ReadOnly = true
		return d
	}
	d := ask("It is not provably read-only: " + strings.TrimSuffix(doubt, ".") + ".")
	d.Always = r.grant(a)
	d.Suggest = r.suggestExec(a, d.Always)
	return d
}

// secret finds a secret file among what a command reads or may name. A glob counts if it means nothing but secrets; a
// program that only shows names (ls) may name one.
func (a Exec) secret() (Path, string) {
	for i, group := range a.Facts.Paths {
		if i < len(a.Reading.Paths) && a.namesOnly(a.Reading.Paths[i].Text) {
			continue
		}
		if p, kind := allSecret(group); kind != "" {
			return p, kind
		}
	}
	for _, group := range a.Facts.Suspects {
		if p, kind := allSecret(group); kind != "" {
			return p, kind
		}
	}
	return Path{}, ""
}

func allSecret(group []Path) (first Path, kind string) {
	for _, p := range group {
		k := p.secretKind()
		if k == "" {
			return Path{}, ""
		}
		if kind == "" {
			first, kind = p, k
		}
	}
	return first, kind
}

// namesOnly says that every part which names this path shows names, sizes and times of files, not what is in them.
func (a Exec) namesOnly(text string) bool {
	found := false
	for _, part := range a.Reading.Parts {
		for _, q := range part.Paths {
			if q.Text != text {
				continue
			}
			if !denial.NamesOnly(part.Words) {
				return false
			}
			found = true
		}
	}
	return found
}

// doubt says why a command is not provably read-only, as a phrase; empty if it is.
func (a Exec) doubt() string {
	if !a.Reading.ReadOnly {
		if a.Reading.Reason == "" {
			return "it is not known what it does"
		}
		return a.Reading.Reason
	}
	if why := a.readsElsewhere(); why != "" {
		return why
	}
	if len(a.Facts.Planted) > 0 {
		return a.Facts.Planted[0] + " is a program in the directory, not the system's"
	}
	if a.Reading.Git && len(a.Facts.GitPrograms) > 0 {
		return "the repository's git configuration starts programs (" + a.Facts.GitPrograms[0] + ")"
	}
	return ""
}

// readsElsewhere says what is wrong with the paths that read-only parts read; empty for nothing.
func (a Exec) readsElsewhere() string {
	if len(a.Facts.Paths) != len(a.Reading.Paths) {
		return "what it reads was not looked up"
	}
	for i, group := range a.Facts.Paths {
		if len(group) == 0 {
			return "what it reads was not looked up"
		}
		for _, p := range group {
			if why := p.unfit(); why != "" {
				return why
			}
			if kind := p.secretKind(); kind != "" && !a.namesOnly(a.Reading.Paths[i].Text) {
				return fmt.Sprintf("%s also means %s, a secret file (%s)", a.Reading.Paths[i].Text, p.Name, kind)
			}
		}
	}
	return ""
}

// unfit says why a path is not one of the directory's; /dev/null is as good.
func (p Path) unfit() string {
	switch {
	case p.Fault != "":
		return p.Name + " can't be looked up: " + p.Fault
	case !p.Inside && p.Abs != "/dev/null":
		return p.Name + " lies outside the directory"
	}
	return ""
}

// allowsExec says whether an allow rule covers a command. With words, every part is read-only or starts with them and
// names no path outside and none that is sensitive.
func (r Rules) allowsExec(x Rule, a Exec) bool {
	if x.Kind != "shell" || x.Arg == "" {
		return x.Kind == "shell"
	}
	words := strings.Fields(x.Arg)
	if len(a.Reading.Parts) == 0 || a.readsElsewhere() != "" {
		return false
	}
	for i, part := range a.Reading.Parts {
		if part.ReadOnly && a.runsItself(part.Words[0]) {
			continue
		}
		if !hasWords(part.Words, words) || !part.ReadOnly && !r.staysInside(a, i) {
			return false
		}
	}
	return true
}

// runsItself says that a read-only part runs the program that it names, and nothing behind it.
func (a Exec) runsItself(program string) bool {
	return !slices.Contains(a.Facts.Planted, program) && (program != "git" || len(a.Facts.GitPrograms) == 0)
}

// staysInside says that a part names no path outside the directory and no sensitive one.
func (r Rules) staysInside(a Exec, i int) bool {
	if i >= len(a.Facts.Parts) || len(a.Facts.Parts[i]) != len(a.Reading.Parts[i].Paths) {
		return false
	}
	for _, group := range a.Facts.Parts[i] {
		if len(group) == 0 || slices.ContainsFunc(group, func(p Path) bool { return p.unfit() != "" || r.sensitive(p) != "" }) {
			return false
		}
	}
	return true
}

// deniesExec says whether a deny rule refuses a command: shell:WORDS if any command in it, at any depth and behind any
// wrapper, starts with the words; read:GLOB if it may read such a file.
func (r Rules) deniesExec(x Rule, a Exec) bool {
	switch {
	case x.Kind == "read":
		named := func(group []Path) bool {
			return slices.ContainsFunc(group, func(p Path) bool { return r.denies(x.Arg, p) })
		}
		return slices.ContainsFunc(a.Facts.Paths, named) || slices.ContainsFunc(a.Facts.Suspects, named)
	case x.Kind != "shell":
		return false
	case x.Arg == "":
		return true
	}
	words := strings.Fields(x.Arg)
	starts := func(command []string) bool { return startsWith(command, words) }
	return slices.ContainsFunc(denial.Calls(a.Command, denial.Env{Home: r.Home, Dir: r.Dir}), starts)
}

// startsWith compares for a deny rule, so it also sees the program by its full path and behind options such as git -C.
func startsWith(command, words []string) bool {
	if len(command) == 0 || command[0] != words[0] && path.Base(command[0]) != words[0] {
		return false
	}
	rest := command[1:]
	for {
		if len(words) == 1 || hasWords(rest, words[1:]) {
			return true
		}
		if len(rest) == 0 || !strings.HasPrefix(rest[0], "-") {
			return false
		}
		takesValue := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--prefix", "--dir", "--context", "-n"}, rest[0])
		if rest = rest[1:]; takesValue && len(rest) > 0 {
			rest = rest[1:]
		}
	}
}

// Programs whose second word says what they do.
var withSubcommand = words("git go npm pnpm yarn bun cargo docker podman kubectl helm pip pip3 uv poetry pipenv conda gh glab dotnet mvn gradle rustup brew apt apt-get " +
	"systemctl aws gcloud az terraform tofu flutter dart composer bundle rails gem mix swift deno nix hg svn jj docker-compose task just")

// Programs that run what their arguments say, or destroy it: no "always" for them.
var noAlways = words("sh bash dash zsh ksh fish csh tcsh python python2 python3 pypy pypy3 perl ruby node nodejs lua luajit php tclsh expect osascript pwsh powershell Rscript R julia " +
	"ghci irb groovy scala jshell awk gawk mawk nawk sed ed ex vi vim nvim emacs gdb lldb sqlite3 psql mysql ssh " +
	"env command builtin exec eval source . nice nohup timeout time stdbuf setsid xargs parallel watch script busybox toybox flock chroot strace ltrace unshare nsenter taskset ionice " +
	"chrt find fd npx bunx pnpx uvx pipx entr sudo su doas pkexec trap coproc rm rmdir unlink shred dd chmod chown chgrp mv truncate cd pushd alias export set unset declare source")

// The same in two words.
var noAlwaysPairs = words("npm:exec npm:x pnpm:dlx pnpm:exec yarn:dlx yarn:exec bun:x bun:exec uv:run poetry:run pipenv:run conda:run cargo:script bundle:exec nix:run nix:shell nix:develop " +
	"docker:exec docker:run podman:exec podman:run kubectl:exec deno:run deno:eval bun:run git:rm git:clean mix:run git:config git:submodule swift:run dart:run")

func words(list string) []string { return strings.Fields(list) }

// grant is what "always" would mean for a command: its one part that is not read-only, by its first word or two.
func (r Rules) grant(a Exec) *Grant {
	part, n := a.onlyChange()
	if n != 1 || slices.Contains(noAlways, path.Base(part[0])) {
		return nil
	}
	start := part[:1]
	if slices.Contains(withSubcommand, part[0]) {
		if len(part) < 2 || strings.HasPrefix(part[1], "-") || slices.Contains(noAlwaysPairs, part[0]+":"+part[1]) {
			return nil
		}
		start = part[:2]
	}
	rule := Rule{"shell", strings.Join(start, " ")}
	if !r.covers(rule, a) {
		return nil
	}
	return &Grant{rule, fmt.Sprintf("commands that start with %q", rule.Arg)}
}

// onlyChange returns the words of the last part that a rule would have to cover, and how many such parts there are.
func (a Exec) onlyChange() (part []string, n int) {
	for _, p := range a.Reading.Parts {
		if !p.ReadOnly || !a.runsItself(p.Words[0]) {
			part, n = p.Words, n+1
		}
	}
	return part, n
}

// suggestExec returns the narrowest usual rule that covers a command: what "always" would grant, its own words, or shell.
func (r Rules) suggestExec(a Exec, always *Grant) string {
	if always != nil {
		return always.Rule.String()
	}
	if part, n := a.onlyChange(); n == 1 {
		if rule := (Rule{"shell", strings.Join(part, " ")}); r.covers(rule, a) {
			return rule.String()
		}
	}
	return "shell"
}

// covers says whether a rule, written down and read back, allows a command.
func (r Rules) covers(rule Rule, a Exec) bool {
	back, err := ParseRule(rule.String())
	return err == nil && back == rule && r.allowsExec(back, a)
}
