// Package denial holds the hard denials for commands: few, exact and explained. It walks everything in a command, at any
// depth, and takes what it cannot know for anything. It is pure.
//
// One walk over the parsed text keeps what the shell would know: variables, the current directory, functions, and what
// flows through pipes and files. Words are folded to the texts they may stand for (fold.go), wrappers are taken off until
// the program that really runs is found (wrapper.go), text that a shell would run is read again, and five detectors look at
// each simple command: privilege, disk and deletion (system.go), secret files (operand.go), downloads (download.go). Only
// words that run or that name a file count; a pattern for grep or a commit message is just text.
//
// What is too long, too deep or broken is cut at everything that may separate commands, and the pieces are judged the same
// way, without regard to quoting.
package denial

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"anchor/internal/shellread"
)

// Denial is a reason never to run a command, whatever the flags.
type Denial struct {
	// Rule is the short name: "privilege escalation", "raw disk write", "system deletion", "download into an interpreter",
	// "secret file".
	Rule string
	// Reason says what in the command it is, why it is refused, and what a person may do by hand.
	Reason string
}

// Env is what the fold of a command may know: the user's home directory and the directory that the command starts in, both
// absolute.
type Env struct {
	Home, Dir string
}

// Bounds of one scan. Beyond them the text is cut crudely, so the time stays short and nothing is left out.
const (
	maxParsed  = 128 << 10 // bytes
	maxNesting = 150       // open brackets, quotes and keywords
	maxSteps   = 50_000    // statements and commands, those read again included
	maxDepth   = 12        // texts within texts
)

// Scan returns the first denial of a command, or nil, and the words that may name files, to be looked up on disk by the
// gate (Reading.Suspects): a link to a secret is the secret.
func Scan(command string, env Env) (*Denial, []shellread.Path) {
	f := walk(command, env)
	return f.denial, f.suspects
}

// Calls returns the words of every simple command at any depth, and of what each wrapper runs; for deny rules. What is not
// known of a word is a control character in it.
func Calls(command string, env Env) [][]string { return walk(command, env).calls }

// findings are what a scan found so far, shared by all its states.
type findings struct {
	denial   *Denial
	suspects []shellread.Path
	seen     map[string]bool
	calls    [][]string
	outs     [][]*syntax.Stmt // the commands of >(…) in the statement at hand
	steps    int
	crude    bool // a bound was met: the text is also cut crudely
	cutting  bool // it is being cut
}

func walk(command string, env Env) *findings {
	f := &findings{seen: map[string]bool{}}
	s := f.start(env)
	s.code(command, flow{})
	if f.crude {
		f.start(env).cut(command)
	}
	return f
}

func (f *findings) start(env Env) *scan {
	return &scan{findings: f, env: env, cwds: []string{env.Dir}, args: []string{"bash"},
		vars: map[string][]string{}, files: map[string]flow{}, funcs: map[string]*syntax.Stmt{}}
}

func (f *findings) deny(rule, reason string) {
	if f.denial == nil {
		f.denial = &Denial{rule, reason}
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
	text = plain(text)
	if s.cutting {
		return s.call(strings.Fields(text), in)
	}
	if s.depth > maxDepth {
		s.crude = true
		return flow{}
	}
	if len(text) > maxParsed || tooDeep(text) {
		s.cut(text)
		return flow{}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		s.cut(text)
		return flow{}
	}
	s.depth++
	defer func() { s.depth-- }()
	return s.stmts(file.Stmts, in)
}

// tooDeep guesses from above how deep the parser would have to go.
func tooDeep(text string) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '`', '[':
			depth++
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
		if depth > maxNesting {
			return true
		}
	}
	return false
}

// cut judges a text that can't be parsed: its pieces between separators, quotes and backslashes taken out.
func (s *scan) cut(text string) {
	through, was := flow{}, s.cutting
	s.cutting = true
	defer func() { s.cutting = was }()
	for line := range strings.Lines(s.homes(separators.Replace(text))) {
		piped := strings.HasPrefix(line, "|")
		words := strings.Fields(strings.TrimLeft(line, "|$!{}"))
		for len(words) > 0 && (strings.Contains(" if then else elif while until do time ! { case in eval ", " "+words[0]+" ") || isAssignment(words[0])) {
			words = words[1:]
		}
		if !piped {
			through = flow{}
		}
		for i := 1; i+1 < len(words); i++ {
			if words[i] == "<" || words[i] == ">" {
				s.secretPath(words[i+1])
			}
			if words[i] == ">" {
				s.device(words[i+1], "the redirection to "+words[i+1])
			}
		}
		words = slices.DeleteFunc(words, func(w string) bool { return w == "<" || w == ">" })
		through = s.call(words, through)
	}
}

var separators = strings.NewReplacer(`"`, "", "'", "", "\\\n", "", `\`, "", "&&", "\n", "||", "\n", "|&", "\n|", "|", "\n|", ";", "\n", "&", "\n", "(", "\n", ")", "\n", "`", "\n", "{ ", "\n", "<", " < ", ">", " > ")

func (s *scan) homes(text string) string {
	return strings.NewReplacer("~", s.env.Home, "${HOME}", s.env.Home, "$HOME", s.env.Home).Replace(text)
}

var plainly = strings.NewReplacer(star, "*", one, "?", split, " ")

// plain makes a folded text one to parse or to show again.
func plain(text string) string {
	if !strings.ContainsAny(text, star+one+split) {
		return text
	}
	return plainly.Replace(text)
}

// show is a word for a message.
func show(word string) string {
	word = strings.NewReplacer(unknown, "…", network, "…").Replace(plain(word))
	if len(word) > 80 {
		word = strings.ToValidUTF8(word[:80], "") + "…"
	}
	return word
}
