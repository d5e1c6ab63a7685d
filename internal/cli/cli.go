// Package cli is the command line: flags, the small commands, the wiring of a run, exit codes. It is the one place that
// knows all the others.
package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"anchor/internal/event"
)

// shell is what the process was started with, and how it is told to end.
type shell struct {
	env          []string // "K=V"
	in, out, err *os.File
	signals      *signals
}

// getenv returns a variable, empty if it is not set; of several with one name the last counts.
func (s shell) getenv(name string) string {
	for _, kv := range slices.Backward(s.env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// Main runs anchor and returns its exit code. args are without the program's name, env is "K=V".
func Main(args, env []string, in, out, err *os.File) int {
	debug.SetGCPercent(300) // the heap is some megabytes: collecting it each time it doubles costs a quarter of a round
	ctx, s := watch()
	defer s.stop()
	o, fault := parse(args)
	if fault == nil {
		fault = o.command.run(ctx, shell{env, in, out, err, s}, o)
	}
	report(err, fault)
	return code(fault)
}

// command is a row of the command table.
type command struct {
	name, args, short, examples string
	run                         func(ctx context.Context, sh shell, o *options) error
}

// commands returns the command table, in the order of the help. Without a name it is a run; without a short text it stands in no
// list.
func commands() []command {
	return []command{
		{"", "", "", "", run},
		{"demo", "", "the whole loop on a sample project with a built-in scripted model: no key, no network", "anchor demo", demo},
		{"sessions", "[list [all]|show ID|export ID|rm ID]", "the sessions of this directory",
			"anchor sessions\nanchor sessions show 20260928-225355-be7b | less\nanchor sessions export 20260928-225355-be7b > session.html\nanchor sessions rm 20260928-225355-be7b", using((*work).sessions)},
		{"policy", "COMMAND", "what the gate would do with COMMAND under the current rules, and why; runs nothing",
			"anchor policy 'git log | head'\nanchor policy --allow 'shell:go test' 'go test ./...'\necho '{\"write\":\"src/a.go\"}' | anchor policy --json", using((*work).judge)},
		{"doctor", "", "check the set-up and say how to mend what is wrong", "anchor doctor\nanchor doctor -m ollama/qwen3-coder", doctor},
		{"models", "", "what can be used now: providers with a key, local servers, context windows", "anchor models", using((*work).models)},
		{"config", "", "the effective settings, each with the file, variable or flag it came from", "anchor config", using((*work).config)},
		{"completion", "bash|zsh|fish", "a completion script for a shell",
			"source <(anchor completion bash)\nanchor completion fish > ~/.config/fish/completions/anchor.fish", completion},
		{"version", "", "the version", "anchor version", func(_ context.Context, sh shell, _ *options) error { return say(sh.out, version()) }},
		{"help", "[COMMAND]", "help", "anchor help policy", help},
		{"mcp", "[list|add|remove|trust|login|logout]", "the MCP servers: how they are, and what you let them do",
			"anchor mcp\nanchor mcp add files -- npx -y @modelcontextprotocol/server-filesystem .\nanchor mcp add db 'DSN=${DSN}' -- db-mcp --ro\nanchor mcp add github https://api.githubcopilot.com/mcp/\nanchor mcp trust files\nanchor mcp login github", using((*work).mcp)},
		{"acp", "", "the Agent Client Protocol on standard input and output, for editors", "anchor acp -m claude-sonnet-5", acpServe},
	}
}

// using makes a command of a method of work.
func using(run func(*work, context.Context) error) func(context.Context, shell, *options) error {
	return func(ctx context.Context, sh shell, o *options) error {
		w, err := prepare(ctx, sh, o, face{})
		if err != nil {
			return err
		}
		defer w.close()
		w.tell()
		return run(w, ctx)
	}
}

func find(name string) (command, bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	return all[max(i, 0)], i >= 0
}

var release string // set by the linker where a release is built

// version returns the program's version, the commit it was built from, and Go's version.
func version() string {
	v := cmp.Or(release, "dev")
	if info, ok := debug.ReadBuildInfo(); ok {
		if release == "" && strings.HasPrefix(info.Main.Version, "v") {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v += ", commit " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return fmt.Sprintf("anchor %s (%s, %s/%s)", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func say(w io.Writer, text string) error {
	_, err := fmt.Fprintln(w, text)
	return err
}

// table writes rows, a line each, the columns below each other.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = event.Visible(strings.Join(strings.Fields(cell), " "))
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}
