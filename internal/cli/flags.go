package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"anchor/internal/policy"
)

// options are what the command line says.
type options struct {
	command string   // "" for a run
	args    []string // what is neither a flag nor the command

	prompt       string // of -p
	print        bool
	json, schema bool
	model, dir   string
	goOn, resume bool
	id           string // of -r
	fork         bool
	until        string
	untilRounds  int
	protect      []string
	maxRounds    int
	timeout      string
	allow, deny  []policy.Rule
	yolo         bool
	effort       string
	noSession    bool
	noMCP        bool
	system       string
	appendSystem string
	verbose      bool
	help         bool
	version      bool
	stream       bool // of the demo: show the model's text as it comes
}

// usageError is a fault of the command line or the settings: exit code 2.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// flag is one row of the flag table: the parser, the help and the shell completion are made from it.
type flag struct {
	long, short string
	arg         string // how help names the value; empty for a switch
	help        string
	takes       string                          // what a value must be, for the error
	set         func(o *options, v string) bool // false: not what it takes
	on          string                          // the commands that take it; "run" is a run
}

func (f flag) name() string { return "--" + f.long }

func isSwitch(at func(*options) *bool) func(*options, string) bool {
	return func(o *options, v string) bool {
		b, err := strconv.ParseBool(v)
		*at(o) = b
		return err == nil
	}
}

func text(at func(*options) *string) func(*options, string) bool {
	return func(o *options, v string) bool {
		*at(o) = v
		return strings.TrimSpace(v) != ""
	}
}

func count(at func(*options) *int) func(*options, string) bool {
	return func(o *options, v string) bool {
		n, err := strconv.Atoi(v)
		*at(o) = n
		return err == nil && n > 0
	}
}

func rule(at func(*options) *[]policy.Rule) func(*options, string) bool {
	return func(o *options, v string) bool {
		r, err := policy.ParseRule(v)
		*at(o) = append(*at(o), r)
		return err == nil
	}
}

const ruleForm = "a rule: read:GLOB, write, write:GLOB, shell, shell:WORDS, mcp:SERVER or mcp:SERVER/TOOL"

// flags returns the flag table, in the order of the help.
func flags() []flag {
	return []flag{
		{"print", "p", "PROMPT", "run without asking, print the final answer; - reads the prompt from standard input", "a prompt, or - for standard input",
			func(o *options, v string) bool { o.print, o.prompt = true, v; return true }, "run"},
		{"json", "", "", "JSON events on standard output, one object a line; without -p the editor protocol", "", isSwitch(func(o *options) *bool { return &o.json }), "run policy"},
		{"model", "m", "MODEL", "the model: name, provider/name or script:FILE", "a model: name, provider/name or script:FILE", text(func(o *options) *string { return &o.model }), "run doctor config"},
		{"dir", "C", "DIR", "the directory to work in (default: the current one)", "a directory", text(func(o *options) *string { return &o.dir }), "run policy doctor models config sessions"},
		{"continue", "c", "", "go on with the newest session of this directory", "", isSwitch(func(o *options) *bool { return &o.goOn }), "run"},
		{"resume", "r", "[ID]", "go on with a session; without an ID, the newest", "the id of a session, such as 20260928-225355-be7b",
			func(o *options, v string) bool { o.resume, o.id = true, v; return v == "" || idLike.MatchString(v) }, "run"},
		{"fork", "", "", "with -c or -r: copy the session and go on in the copy", "", isSwitch(func(o *options) *bool { return &o.fork }), "run"},
		{"until", "", "CMD", "work until CMD exits 0", "a command", text(func(o *options) *string { return &o.until }), "run"},
		{"until-rounds", "", "N", "how many check rounds at most (default 10)", "a whole number above 0", count(func(o *options) *int { return &o.untilRounds }), "run"},
		{"protect", "", "GLOB", "files that must stay as they are while the check is worked on; repeatable", "a glob",
			func(o *options, v string) bool { o.protect = append(o.protect, v); return v != "" }, "run"},
		{"max-rounds", "", "N", "stop the turn after N model requests", "a whole number above 0", count(func(o *options) *int { return &o.maxRounds }), "run"},
		{"timeout", "", "DURATION", "stop the whole run after 90s, 20m, …", "a duration such as 90s or 20m",
			func(o *options, v string) bool {
				d, err := time.ParseDuration(v)
				o.timeout = v
				return err == nil && d > 0
			}, "run"},
		{"allow", "", "RULE", "allow what RULE covers without asking; repeatable", ruleForm, rule(func(o *options) *[]policy.Rule { return &o.allow }), "run policy"},
		{"deny", "", "RULE", "refuse what RULE covers; repeatable; wins over every allow", ruleForm, rule(func(o *options) *[]policy.Rule { return &o.deny }), "run policy"},
		{"yolo", "", "", "ask nothing; hard denials stay", "", isSwitch(func(o *options) *bool { return &o.yolo }), "run policy"},
		{"effort", "", "LEVEL", "thinking effort: off, low, medium, high", "off, low, medium or high",
			func(o *options, v string) bool {
				o.effort = v
				return slices.Contains([]string{"off", "low", "medium", "high"}, v)
			}, "run"},
		{"no-session", "", "", "write no session file", "", isSwitch(func(o *options) *bool { return &o.noSession }), "run"},
		{"no-mcp", "", "", "start no MCP servers", "", isSwitch(func(o *options) *bool { return &o.noMCP }), "run"},
		{"system-prompt", "", "FILE", "replace the system prompt by the content of FILE", "a file", text(func(o *options) *string { return &o.system }), "run"},
		{"append-system-prompt", "", "TEXT", "add TEXT to the system prompt", "a text", text(func(o *options) *string { return &o.appendSystem }), "run"},
		{"verbose", "", "", "say more: thinking, usage, what sandbox is in force; with --json the extra events", "", isSwitch(func(o *options) *bool { return &o.verbose }), "run doctor demo"},
		{"schema", "", "", "with --json: print the JSON Schema of all events and requests", "", isSwitch(func(o *options) *bool { return &o.schema }), "run"},
		{"version", "", "", "print the version", "", isSwitch(func(o *options) *bool { return &o.version }), "run"},
		{"help", "h", "", "print help", "", isSwitch(func(o *options) *bool { return &o.help }), "*"},
	}
}

// idLike is what the word after -r must look like to be taken as an id and not as the prompt.
var idLike = regexp.MustCompile(`^\d{8}-\d{4,6}(-[0-9a-f]*)?$`)

// parse reads the command line: flags anywhere, --flag value or --flag=value, one dash or two; -- ends them. Errors are
// usageErrors that name the flag and what it takes.
func parse(args []string) (*options, error) {
	o := &options{untilRounds: 10}
	table := flags()
	var used []flag
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if word == "--" {
			o.args = append(o.args, args...)
			break
		}
		if len(word) < 2 || word[0] != '-' {
			o.positional(word)
			continue
		}
		name, value, has := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
		i := slices.IndexFunc(table, func(f flag) bool { return name == f.long || name == f.short && name != "" })
		if i < 0 {
			return o, usagef("unknown flag %s; anchor --help lists them", word)
		}
		f := table[i]
		used = append(used, f)
		switch {
		case has:
		case f.arg == "":
			value = "true"
		case f.arg == "[ID]":
			if len(args) > 0 && idLike.MatchString(args[0]) {
				value, args = args[0], args[1:]
			}
		case len(args) == 0:
			return o, usagef("%s takes %s", f.name(), f.takes)
		default:
			value, args = args[0], args[1:]
		}
		if !f.set(o, value) {
			return o, usagef("%s takes %s, not %q", f.name(), or(f.takes, "no value"), value)
		}
	}
	return o, o.check(used)
}

func (o *options) positional(word string) {
	if o.command == "" && len(o.args) == 0 && !o.print {
		if _, ok := find(word); ok {
			o.command = word
			return
		}
	}
	o.args = append(o.args, word)
}

// check finds flags that do not go together.
func (o *options) check(used []flag) error {
	command := or(o.command, "run")
	for _, f := range used {
		if f.on != "*" && !slices.Contains(strings.Fields(f.on), command) {
			return usagef("%s is no flag of anchor %s; see anchor help %s", f.name(), o.command, o.command)
		}
	}
	switch {
	case o.print && len(o.args) > 0:
		return usagef("--print takes one prompt; quote it: unexpected %q", o.args[0])
	case o.fork && !o.goOn && !o.resume:
		return usagef("--fork takes a session: add -c or -r ID")
	case o.goOn && o.resume:
		return usagef("--continue and --resume exclude each other")
	case o.schema && !o.json:
		return usagef("--schema goes with --json")
	case o.json && !o.print && command == "run" && len(o.args) > 0:
		return usagef("--json takes its prompt from -p or from requests on standard input: unexpected %q", o.args[0])
	}
	return nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
