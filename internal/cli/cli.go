// Package cli is the command line: flags, the small commands, the wiring of a run, exit codes. It is the one place that
// knows all the others.
package cli

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"anchor/internal/front/jsonl"
)

// shell is what the process was started with.
type shell struct {
	env          []string // "K=V"
	in, out, err *os.File
}

// getenv returns a variable, empty if it is not set; of several with one name the last counts.
func (s shell) getenv(name string) string {
	value := ""
	for _, kv := range s.env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// Main runs anchor and returns its exit code. args are without the program's name, env is "K=V".
func Main(args, env []string, in, out, err *os.File) int {
	sh := shell{env, in, out, err}
	if len(args) == 1 && args[0] == "--version" {
		fmt.Fprintln(out, version())
		return exitOK
	}
	var s signals
	ctx, cancel, stop := s.watch(context.Background())
	defer stop()
	o, fault := parse(args)
	if fault == nil {
		fault = dispatch(ctx, sh, o, &s, cancel)
	}
	report(err, fault)
	return code(fault)
}

// code is the exit code of an error, which may be a run's outcome.
func code(err error) int {
	if run, ok := err.(outcome); ok {
		return int(run)
	}
	return errorCode(err)
}

// outcome is the exit code of a run that ended in order.
type outcome int

func (outcome) Error() string { return "" }

func dispatch(ctx context.Context, sh shell, o *options, s *signals, cancel context.CancelCauseFunc) error {
	switch {
	case o.help:
		return help(sh, o.command)
	case o.version:
		_, err := fmt.Fprintln(sh.out, version())
		return err
	case o.schema:
		text, err := jsonl.Schema()
		if err == nil {
			_, err = fmt.Fprintf(sh.out, "%s\n", text)
		}
		return err
	case o.command != "":
		c, _ := find(o.command)
		return c.run(ctx, sh, o)
	}
	return run(ctx, sh, o, s, cancel)
}

// command is a row of the command table.
type command struct {
	name, args, short string
	examples          string
	run               func(ctx context.Context, sh shell, o *options) error
}

// commands returns the command table, in the order of the help.
func commands() []command {
	return []command{
		{"demo", "", "the whole loop on a sample project with a built-in scripted model: no key, no network", "anchor demo", demo},
		{"sessions", "[list|show ID|rm ID]", "the sessions of this directory", "anchor sessions\nanchor sessions show 20260928-225355-be7b | less\nanchor sessions rm 20260928-225355-be7b", sessions},
		{"policy", "COMMAND", "what the gate would do with COMMAND under the current rules, and why; runs nothing",
			"anchor policy 'git log | head'\nanchor policy --allow 'shell:go test' 'go test ./...'\necho '{\"write\":\"src/a.go\"}' | anchor policy --json", judge},
		{"doctor", "", "check the set-up and say how to mend what is wrong", "anchor doctor\nanchor doctor -m ollama/qwen3-coder", doctor},
		{"models", "", "what can be used now: providers with a key, local servers, context windows", "anchor models", models},
		{"config", "", "the effective settings, each with the file, variable or flag it came from", "anchor config", settings},
		{"completion", "bash|zsh|fish", "a completion script for a shell", "source <(anchor completion bash)\nanchor completion fish > ~/.config/fish/completions/anchor.fish", completion},
		{"version", "", "the version", "anchor version", func(_ context.Context, sh shell, _ *options) error {
			_, err := fmt.Fprintln(sh.out, version())
			return err
		}},
		{"help", "[COMMAND]", "help", "anchor help policy", func(_ context.Context, sh shell, o *options) error {
			return help(sh, strings.Join(o.args, " "))
		}},
	}
}

func find(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// version returns the program's version, the commit it was built from, and Go's version.
func version() string {
	v, commit := "dev", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = ", commit " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return fmt.Sprintf("anchor %s%s (%s, %s/%s)", v, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
