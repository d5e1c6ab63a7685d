// Package shellread reads a bash command without running it and says what it is sure of. It is pure and conservative:
// what it cannot fully account for is not read-only.
//
// Text that the parser and bash read differently is refused; of the syntax only named nodes are accepted (walk.go); a word must
// have one known value (word.go); and each program has an accept-list of options with their arity and a rule for its operands
// (table.txt, program.go, scripts.go). What is not named is not read-only.
//
// A reading holds for exactly this text under bash --noprofile --norc -c, started in the directory with PWD set to its
// resolved name, without BASH_ENV, ENV, SHELLOPTS, BASHOPTS, CDPATH, GLOBIGNORE, POSIXLY_CORRECT or exported functions.
package shellread

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Reading is what is known of a command before anything about the disk is known.
type Reading struct {
	// ReadOnly says that every part is provably read-only, provided that every path of its parts lies inside the directory and
	// is no secret, that no program in Programs is one of the workspace's own files, and, with Git, that no git configuration
	// that holds in the directory or in one of the paths runs programs.
	ReadOnly bool
	Reason   string // why it is not read-only: one short phrase for a person
	// Parts are the simple commands, in order, as far as they could be read. Plain says that they are the whole command: literal words
	// joined by && || | ; newlines and harmless redirects. Only then they may be compared with rules such as shell:go test.
	Parts    []Part
	Plain    bool
	Programs []string // the bare names of the programs that are run, builtins left out
	Git      bool     // a part runs git, by itself or through go, whose configuration in the repository may name programs
}

// Part is one simple command of literal words, or with none the redirects of a group.
type Part struct {
	Words    []string // the values that the program gets; a leading ~ or ~/ is not expanded; $? stands as it is
	ReadOnly bool
	// Paths are what a read-only part reads, and the directories that a cd enters. Each must hold on its own: where a cd may have
	// failed, both meanings of a relative path are here. Of any other part they are the words, options' values included, that may
	// name paths.
	Paths []Path
}

// Path is a path operand: Text is absolute, or starts with ~ or ~/ for the home directory, or is relative to the directory
// (a cd before it is accounted for). It is not cleaned: dir/../x is to be resolved link by link, as the kernel does.
//
// With Glob it is a pattern of *, ? and \-escaped characters (of a suspect also [ ]) that matches at least what bash's own pattern does; as in
// bash a wildcard never matches a slash or a leading dot. A match with a component that starts with a dash is not
// covered by the reading: the program may take it for an option.
type Path struct {
	Text string
	Glob bool
}

// MaxLength is the longest command, in bytes, that is parsed; maxNesting bounds how many brackets may be open in it, so that
// the parser's recursion stays small.
const (
	MaxLength  = 128 << 10
	maxNesting = 200
)

// Read reads a command. It never panics and takes time linear in the length of the text.
func Read(command string) Reading {
	file, err := Parse(command)
	if reason := screen(command); reason != "" || err != nil {
		return Reading{Reason: cmp.Or(reason, fmt.Sprint(err))}
	}
	r := reader{out: Reading{Plain: true}}
	r.list(file.Stmts, dirs{""})
	if r.calls == 0 {
		r.refuse("runs nothing")
	}
	r.out.ReadOnly = r.out.Reason == ""
	return r.out
}

// screen finds what the parser and bash, or two builds of bash, read differently: the parser takes CR for a blank and
// drops NUL, bash does neither.
func screen(command string) string {
	if !utf8.ValidString(command) {
		return "holds bytes that are no UTF-8"
	}
	for _, c := range command {
		if c < ' ' && c != '\t' && c != '\n' || c >= 0x7f && c <= 0x9f {
			return fmt.Sprintf("holds the control character %U", c)
		}
	}
	return ""
}

// Parse parses a command as bash, within bounds on length and nesting. Lines that end in a backslash are joined. The error
// is a short phrase for a person.
func Parse(command string) (*syntax.File, error) {
	if len(command) > MaxLength {
		return nil, fmt.Errorf("is longer than %d KB", MaxLength>>10)
	}
	depth := 0
	for i := range len(command) {
		switch command[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
		if depth > maxNesting {
			return nil, errors.New("is nested too deep")
		}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil, errors.New("cannot be parsed as bash")
	}
	if strings.Contains(command, "\\\n") {
		syntax.Walk(file, func(n syntax.Node) bool {
			if lit, ok := n.(*syntax.Lit); ok {
				lit.Value = escapes.ReplaceAllStringFunc(lit.Value, func(e string) string { return strings.TrimSuffix(e, "\\\n") })
			}
			return true
		})
	}
	return file, nil
}
