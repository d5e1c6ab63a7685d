package policy

import (
	"fmt"
	"path"
	"strings"
)

// Programs whose second word says what they do.
var withSubcommand = set("git go npm pnpm yarn bun cargo docker podman kubectl helm pip pip3 uv poetry pipenv conda gh glab dotnet mvn gradle rustup brew apt apt-get " +
	"systemctl aws gcloud az terraform tofu flutter dart composer bundle rails gem mix swift deno nix hg svn jj docker-compose task just")

// Programs that run what their arguments say, or destroy it: no "always" for them.
var noAlways = set("sh bash dash zsh ksh fish csh tcsh python pypy perl ruby node nodejs lua luajit php tclsh expect osascript pwsh powershell Rscript R julia " +
	"ghci irb groovy scala jshell awk gawk mawk nawk sed ed ex vi vim nvim emacs gdb lldb sqlite3 psql mysql ssh " +
	"env command builtin exec eval source . nice nohup timeout time stdbuf setsid xargs parallel watch script busybox toybox flock chroot strace ltrace unshare nsenter taskset ionice " +
	"chrt find fd npx bunx pnpx uvx pipx entr sudo su doas pkexec trap coproc rm rmdir unlink shred dd chmod chown chgrp mv truncate cd pushd alias export set unset declare source")

// The same in two words.
var noAlwaysPairs = set("npm:exec npm:x pnpm:dlx pnpm:exec yarn:dlx yarn:exec bun:x bun:exec uv:run poetry:run pipenv:run conda:run cargo:script bundle:exec nix:run nix:shell nix:develop " +
	"docker:exec docker:run podman:exec podman:run kubectl:exec deno:run deno:eval bun:run git:rm git:clean mix:run git:config git:submodule swift:run dart:run")

func set(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// grant is what "always" would mean for a command: its one part that is not read-only, by its first word or two.
func (r Rules) grant(a Exec) *Grant {
	part, n := a.onlyChange()
	if n != 1 || noAlways[path.Base(part[0])] || noAlways[strings.TrimRight(path.Base(part[0]), "0123456789.")] {
		return nil // python3.12 is python
	}
	start := part[:1]
	if withSubcommand[part[0]] {
		if len(part) < 2 || strings.HasPrefix(part[1], "-") || noAlwaysPairs[part[0]+":"+part[1]] {
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
