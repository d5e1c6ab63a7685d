package cli

import (
	"context"
	"fmt"
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

// help writes the help of a command, or of anchor.
func help(_ context.Context, sh shell, o *options) error {
	name := strings.Join(o.args, " ")
	c, ok := find(name)
	if !ok || name != "" && c.short == "" {
		return usagef("no command %q; anchor help lists them", name)
	}
	var b strings.Builder
	row := func(name, text string) { fmt.Fprintf(&b, "  %-40s  %s\n", name, text) }
	if b.WriteString(usage); name != "" {
		b.Reset()
		fmt.Fprintf(&b, "anchor %s\n\n  %s\n", strings.TrimSpace(name+" "+c.args), c.short)
	}
	for _, c := range commands() {
		if name == "" && c.short != "" {
			row(strings.TrimSpace(c.name+" "+c.args), c.short)
		}
	}
	b.WriteString("\nFlags:\n")
	for _, f := range o.flags() {
		if f.of(name) {
			row(strings.TrimPrefix("-"+f.short+", --", "-, ")+strings.TrimSpace(f.long+" "+f.arg), f.help)
		}
	}
	if name == "" {
		b.WriteString(exits)
	} else {
		fmt.Fprintf(&b, "\nExamples:\n  %s\n", strings.ReplaceAll(c.examples, "\n", "\n  "))
	}
	_, err := fmt.Fprint(sh.out, b.String())
	return err
}

// completion writes a completion script, made from the tables of flags and commands.
func completion(_ context.Context, sh shell, o *options) error {
	var words []string
	var fish strings.Builder
	quoted := func(s string) string { return " -d '" + strings.ReplaceAll(s, "'", "") + "'\n" }
	for _, c := range commands() {
		if c.short != "" {
			words = append(words, c.name)
			fish.WriteString("complete -c anchor -n __fish_use_subcommand -a " + c.name + quoted(c.short))
		}
	}
	for _, f := range o.flags() {
		words = append(words, "--"+f.long)
		fish.WriteString("complete -c anchor -l " + f.long)
		if f.short != "" {
			words = append(words, "-"+f.short)
			fish.WriteString(" -s " + f.short)
		}
		if f.arg != "" && f.arg != "[ID]" {
			fish.WriteString(" -r")
		}
		fish.WriteString(quoted(f.help))
	}
	script := map[string]string{
		"bash": "complete -o default -W '" + strings.Join(words, " ") + "' anchor\n",
		"zsh":  "#compdef anchor\n_anchor() { compadd -- " + strings.Join(words, " ") + "; _files }\ncompdef _anchor anchor\n",
		"fish": fish.String(),
	}[strings.Join(o.args, " ")]
	if script == "" {
		return usagef("completion takes bash, zsh or fish")
	}
	_, err := fmt.Fprint(sh.out, script)
	return err
}
