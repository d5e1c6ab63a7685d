package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

const usage = `anchor: a coding harness. One model works in one directory through a few tools, and a gate asks before anything changes.

  anchor [flags] [PROMPT]        a session in the current directory; PROMPT is the first message
  anchor -p PROMPT [flags]       one headless run; prints the final answer
  anchor --json -p PROMPT        the same, as JSON events and a final result line
  anchor --json                  the editor protocol on standard input and output

Commands:
`

const exits = `
Exit codes of a headless run: 0 completed, 1 error, 2 usage or settings, 3 the check did not pass, 4 loop stopped,
5 round limit, 75 provider unreachable or overloaded (try again later), 124 timed out, 130 cancelled.
`

// help writes the help of a command, or of anchor for "".
func help(sh shell, name string) error {
	var b strings.Builder
	if name == "" {
		b.WriteString(usage)
		for _, c := range commands() {
			fmt.Fprintf(&b, "  %-30s %s\n", strings.TrimSpace(c.name+" "+c.args), c.short)
		}
		b.WriteString("\nFlags:\n")
		flagHelp(&b, "run")
		b.WriteString(exits)
	} else {
		c, ok := find(name)
		if !ok {
			return usagef("no command %q; anchor help lists them", name)
		}
		fmt.Fprintf(&b, "anchor %s\n\n  %s\n\nFlags:\n", strings.TrimSpace(c.name+" "+c.args), c.short)
		flagHelp(&b, c.name)
		fmt.Fprintf(&b, "\nExamples:\n  %s\n", strings.ReplaceAll(c.examples, "\n", "\n  "))
	}
	_, err := fmt.Fprint(sh.out, b.String())
	return err
}

func flagHelp(b *strings.Builder, command string) {
	for _, f := range flags() {
		if f.on != "*" && !slices.Contains(strings.Fields(f.on), command) {
			continue
		}
		name := strings.TrimSpace(f.name() + " " + f.arg)
		if f.short != "" {
			name = "-" + f.short + ", " + name
		}
		fmt.Fprintf(b, "  %-30s %s\n", name, f.help)
	}
}

// completion writes a completion script, made from the tables of flags and commands.
func completion(_ context.Context, sh shell, o *options) error {
	var names, long []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	for _, f := range flags() {
		long = append(long, f.name())
		if f.short != "" {
			long = append(long, "-"+f.short)
		}
	}
	words := strings.Join(append(names, long...), " ")
	var script string
	switch strings.Join(o.args, " ") {
	case "bash":
		script = "complete -o default -W \"" + words + "\" anchor\n"
	case "zsh":
		script = "#compdef anchor\n_anchor() { compadd -- " + words + "; _files }\ncompdef _anchor anchor\n"
	case "fish":
		for _, c := range commands() {
			script += fmt.Sprintf("complete -c anchor -n __fish_use_subcommand -a %s -d '%s'\n", c.name, strings.ReplaceAll(c.short, "'", ""))
		}
		for _, f := range flags() {
			script += "complete -c anchor -l " + f.long
			if f.short != "" {
				script += " -s " + f.short
			}
			if f.arg != "" && f.arg != "[ID]" {
				script += " -r"
			}
			script += fmt.Sprintf(" -d '%s'\n", strings.ReplaceAll(f.help, "'", ""))
		}
	default:
		return usagef("completion takes bash, zsh or fish")
	}
	_, err := fmt.Fprint(sh.out, script)
	return err
}
