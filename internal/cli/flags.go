package cli

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"anchor/internal/config"
	"anchor/internal/policy"
)

// options are what the command line says.
type options struct {
	command command
	args    []string // what is neither a flag nor the command

	print, goOn, resume    bool // -p, -c and -r were given
	prompt, id             string
	json, schema           bool
	model, dir             string
	fork                   bool
	until                  string
	untilRounds, maxRounds int
	protect, allow, deny   []string
	timeout                config.Duration
	effort                 config.Effort
	yolo, noSession, noMCP bool
	system, appendSystem   string
	verbose, version, help bool
	stream                 bool // of the demo: show the model's text as it comes
}

// flag is one row of the flag table: the parser, the help and the completion are made from it.
type flag struct {
	long, short string
	arg         string // what it takes, by the name that help uses; empty for a switch
	on          string // the commands that take it: "run" is a run, "*" all
	help        string
	to          any // where its value goes: a *bool, *int, *string, *[]string, or a func that says whether it takes it
}

// flags returns the flag table, in the order of the help.
func (o *options) flags() []flag {
	prompt := func(v string) bool { o.print, o.prompt = true, v; return true }
	resume := func(v string) bool { o.resume, o.id = true, v; return v == "" || idLike.MatchString(v) }
	timeout := func(v string) bool { o.timeout = config.Duration(v); return o.timeout.Time() > 0 }
	effort := func(v string) bool { o.effort = config.Effort(v); return o.effort.Known() }
	return []flag{
		{"print", "p", "PROMPT", "run", "run without asking, print the final answer; - reads the prompt from standard input", prompt},
		{"json", "", "", "run policy", "JSON events on standard output, one object a line; without -p the editor protocol", &o.json},
		{"model", "m", "MODEL", "run acp doctor config", "the model: name, provider/name or script:FILE", &o.model},
		{"dir", "C", "DIR", "run policy doctor models config sessions mcp", "the directory to work in (default: the current one)", &o.dir},
		{"continue", "c", "", "run", "go on with the newest session of this directory", &o.goOn},
		{"resume", "r", "[ID]", "run", "go on with a session; without an ID, one from a list, headless the newest", resume},
		{"fork", "", "", "run", "with -c or -r: copy the session and go on in the copy", &o.fork},
		{"until", "", "CMD", "run acp", "work until CMD exits 0", &o.until},
		{"until-rounds", "", "N", "run acp", "how many check rounds at most (default 10)", &o.untilRounds},
		{"protect", "", "GLOB", "run acp", "files that must stay as they are while the check is worked on; repeatable", &o.protect},
		{"max-rounds", "", "N", "run acp", "stop the turn after N model requests", &o.maxRounds},
		{"timeout", "", "DURATION", "run", "stop the whole run after 90s, 20m, …", timeout},
		{"allow", "", "RULE", "run acp policy", "allow what RULE covers without asking; repeatable", &o.allow},
		{"deny", "", "RULE", "run acp policy", "refuse what RULE covers; repeatable; wins over every allow", &o.deny},
		{"yolo", "", "", "run acp policy", "ask nothing; hard denials stay", &o.yolo},
		{"effort", "", "LEVEL", "run acp", "thinking effort: off, low, medium, high", effort},
		{"no-session", "", "", "run acp", "write no session file", &o.noSession},
		{"no-mcp", "", "", "run acp", "start no MCP servers", &o.noMCP},
		{"system-prompt", "", "FILE", "run acp", "replace the system prompt by the content of FILE", &o.system},
		{"append-system-prompt", "", "TEXT", "run acp", "add TEXT to the system prompt", &o.appendSystem},
		{"verbose", "", "", "run acp doctor demo", "say more: thinking, usage, what sandbox is in force; with --json the extra events", &o.verbose},
		{"schema", "", "", "run", "with --json: print the JSON Schema of all events and requests", &o.schema},
		{"version", "", "", "run", "print the version", &o.version},
		{"help", "h", "", "*", "print help", &o.help},
	}
}

// takes says what a flag's value must be, by the name of its argument.
func (f flag) takes() string {
	return map[string]string{
		"": "no value", "PROMPT": "a prompt, or - for standard input", "MODEL": "a model: name, provider/name or script:FILE", "DIR": "a directory",
		"[ID]": "the id of a session, such as 20260928-225355-be7b", "CMD": "a command", "N": "a whole number above 0", "GLOB": "a glob",
		"DURATION": "a duration such as 90s or 20m", "LEVEL": "off, low, medium or high", "FILE": "a file", "TEXT": "a text",
		"RULE": "a rule: read:GLOB, write, write:GLOB, shell, shell:WORDS, mcp:SERVER or mcp:SERVER/TOOL",
	}[f.arg]
}

// set says whether v is what the flag takes, and keeps it.
func (f flag) set(v string) bool {
	var err error
	switch to := f.to.(type) {
	case func(string) bool:
		return to(v)
	case *bool:
		*to, err = strconv.ParseBool(v)
	case *int:
		*to, err = strconv.Atoi(v)
		return err == nil && *to > 0
	case *string:
		*to = v
	case *[]string:
		*to = append(*to, v)
	}
	return err == nil && strings.TrimSpace(v) != ""
}

func (f flag) of(command string) bool {
	return f.on == "*" || slices.Contains(strings.Fields(f.on), cmp.Or(command, "run"))
}

// idLike is what the word after -r must look like to be taken as an id and not as the prompt.
var idLike = regexp.MustCompile(`^\d{8}-\d{4,6}(-[0-9a-f]*)?$`)

// parse reads the command line: flags anywhere, --flag value or --flag=value, one dash or two; -- ends them. Errors are
// for exit code 2 and name the flag and what it takes.
func parse(args []string) (*options, error) {
	o := &options{}
	o.command, _ = find("")
	all := o.flags()
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
		i := slices.IndexFunc(all, func(f flag) bool { return name == f.long || name == f.short && name != "" })
		if i < 0 {
			return o, usagef("unknown flag %s; anchor --help lists them", word)
		}
		f := all[i]
		used = append(used, f)
		switch {
		case has:
		case f.arg == "":
			value = "true"
		case f.arg == "[ID]" && (len(args) == 0 || !idLike.MatchString(args[0])):
		case len(args) == 0:
			return o, usagef("--%s takes %s", f.long, f.takes())
		default:
			value, args = args[0], args[1:]
		}
		if _, err := policy.ParseRule(value); f.arg == "RULE" && err != nil {
			return o, usagef("--%s: %v", f.long, err)
		}
		if !f.set(value) {
			return o, usagef("--%s takes %s, not %q", f.long, f.takes(), value)
		}
	}
	return o, o.check(used)
}

func (o *options) positional(word string) {
	if c, ok := find(word); ok && word != "" && o.command.name == "" && len(o.args) == 0 && !o.print {
		o.command = c
		return
	}
	o.args = append(o.args, word)
}

// check finds what does not go together.
func (o *options) check(used []flag) error {
	command := o.command.name
	for _, f := range used {
		if !f.of(command) {
			return usagef("--%s is no flag of anchor %s; see anchor help %s", f.long, command, command)
		}
	}
	switch {
	case o.help:
		o.args = []string{command}
		o.command, _ = find("help")
	case o.version:
		o.command, _ = find("version")
	case command != "" && o.command.args == "" && len(o.args) > 0:
		return usagef("anchor %s takes nothing more: unexpected %q", command, o.args[0])
	case o.print && len(o.args) > 0:
		return usagef("--print takes one prompt; quote it: unexpected %q", o.args[0])
	case o.fork && !o.goOn && !o.resume:
		return usagef("--fork takes a session: add -c or -r ID")
	case o.goOn && o.resume:
		return usagef("--continue and --resume exclude each other")
	case o.schema && !o.json:
		return usagef("--schema goes with --json")
	case o.json && !o.print && command == "" && len(o.args) > 0:
		return usagef("--json takes its prompt from -p or from requests on standard input: unexpected %q", o.args[0])
	}
	return nil
}
