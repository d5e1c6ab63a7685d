// Package denial holds the hard denials for commands: few, exact and explained. It walks everything in a command, at any
// depth, and takes what it cannot know for anything. It is pure.
//
// One walk over the parsed text keeps what the shell would know: variables, the current directory, functions, and what
// flows through pipes and files. Words are expanded to the texts they may stand for, wrappers are taken off, text that a shell
// would run is read again, and five detectors look at each simple command; what they know of programs stands in programs.txt.
// Only words that run or that name a file count. What is too long, too deep or broken is cut at everything that may separate
// commands, and the pieces are judged the same way, without regard to quoting.
package denial

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"anchor/internal/shellread"
)

// Denial is a reason never to run a command, whatever the flags.
type Denial struct {
	Rule   string // "privilege escalation", "raw disk write", "system deletion", "download into an interpreter", "secret file"
	Reason string // what in the command it is, why it is refused, and what a person may do by hand
}

// Env is what the fold of a command may know: the user's home directory and the directory that the command starts in, both
// absolute, and the variables that it starts with; nil if they are not known.
type Env struct {
	Home, Dir string
	Vars      map[string]string
}

// Found is what a scan found: the first denial, or nil; the words of every simple command at any depth, and of what each wrapper
// runs, for deny rules (what is not known of a word is a control character in it); and words to be looked up on disk, since links
// hide what they lead to.
type Found struct {
	Denial   *Denial
	Calls    [][]string
	Suspects []shellread.Path // may name files
	Written  []shellread.Path // redirections write to them
	Doomed   []shellread.Path // would be destroyed; a name that ends in "/." what it leads to, any other a link itself
}

// Bounds of one scan. Beyond them the text is cut crudely, so the time stays short and nothing is left out.
const (
	maxSteps  = 50_000 // statements and commands, those read again included
	maxDepth  = 12     // texts within texts
	maxNested = 64     // programs that run a program
)

// findings are what a scan found so far, shared by all its states.
type findings struct {
	Found
	seen    map[noted]bool
	steps   int
	fifo    bool // one was made
	crude   bool // a bound was met: the text is also cut crudely
	cutting bool // it is being cut
}

// Scan judges a command.
func Scan(command string, env Env) Found {
	f := &findings{seen: map[noted]bool{}}
	s := f.start(env)
	s.code(command, flow{})
	if f.fifo { // who reads may stand before who writes
		s.code(command, flow{})
	}
	if f.crude {
		f.start(env).cut(command)
	}
	return f.Found
}

func (f *findings) start(env Env) *scan {
	vars := map[string][]expand.Variable{"HOME": {text(env.Home)}, "PWD": {text(env.Dir)}, "IFS": {text(" \t\n")}}
	s := &scan{findings: f, env: env, vars: vars, files: map[string]flow{}, pipes: map[string][]*syntax.Stmt{}, funcs: map[string]*syntax.Stmt{}}
	s.arguments([]string{"bash"})
	return s
}

func (f *findings) deny(rule, reason string) {
	if f.Denial == nil {
		f.Denial = &Denial{rule, reason}
	}
}

// step counts work and says whether there may be more.
func (f *findings) step() bool {
	f.steps++
	f.crude = f.crude || f.steps > maxSteps && !f.cutting
	return f.steps <= maxSteps || f.cutting
}

// code reads a text as bash would and walks it in this state.
func (s *scan) code(text string, in flow) flow {
	if s.cutting {
		return s.call(strings.Fields(text), in)
	}
	if s.depth > maxDepth {
		s.crude = true
		return flow{}
	}
	file, err := shellread.Parse(text)
	if err != nil {
		s.cut(text)
		return flow{}
	}
	s.depth++
	defer func() { s.depth-- }()
	return s.stmts(file.Stmts, in)
}

// cut judges a text that can't be parsed: its pieces between separators, quotes and backslashes taken out.
func (s *scan) cut(text string) {
	defer func(was bool) { s.cutting = was }(s.cutting)
	s.cutting = true
	parser := syntax.NewParser()
	for line := range strings.Lines(separators.Replace(text)) {
		line = leading.ReplaceAllString(line, "")
		if file, err := parser.Parse(strings.NewReader(line), ""); err == nil && len(line) < maxText {
			s.stmts(file.Stmts, flow{})
			continue
		}
		for part := range strings.SplitSeq(line, "|") {
			s.call(strings.Fields(part), flow{})
		}
	}
}

var (
	separators = strings.NewReplacer(`"`, "", "'", "", "\\\n", "", `\`, "", "&&", "\n", "||", "\n", "|&", "|", ">&", ">", "&>", ">", ";", "\n", "&", "\n", "(", "\n", ")", "\n", "`", "\n", "{ ", "\n")
	leading    = regexp.MustCompile(`^[|$!{}\s]*(?:(?:if|then|else|elif|while|until|do|time|!|\{|case|in|eval)(?:\s+|$))*`)
)

//go:embed programs.txt
var programs string

var table = sync.OnceValue(func() map[string]string { return shellread.Table(programs) })

// is says whether programs.txt has a name under a kind; fact returns what it knows of it there.
func is(kind, name string) bool { _, ok := table()[kind+":"+name]; return ok }

// isWith is is for a program, or for it with its first word.
func isWith(kind, name string, args []string) bool {
	return is(kind, name) || len(args) > 0 && is(kind, name+"+"+args[0])
}

func fact(kind, name string) string { return table()[kind+":"+name] }

func listed(list, word string) bool { return shellread.Listed(list, word) }

var shown = strings.NewReplacer(unset, "…", unknown, "…", network, "…")

// show is a word for a message.
func show(word string) string {
	word = shown.Replace(word)
	if len(word) > 80 {
		word = strings.ToValidUTF8(word[:80], "") + "…"
	}
	return word
}
