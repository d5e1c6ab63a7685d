// Package denial holds the hard denials for commands: few, exact and explained. It walks everything in a command, at any
// depth, and takes what it cannot know for anything. It is pure.
package denial

import "anchor/internal/shellread"

// Denial is a reason never to run a command, whatever the flags.
type Denial struct {
	// Rule is the short name: "privilege escalation", "raw disk write", "system deletion", "download into an interpreter",
	// "secret file".
	Rule string
	// Reason says what in the command it is, why it is refused, and what a person may do by hand.
	Reason string
}

// Env is what the fold of a command may know: the home directory, the directory itself, and $TMPDIR.
type Env struct {
	Home, Dir string
}

// Scan returns the first denial of a command, or nil, and the words that may name files, to be looked up on disk by the
// gate (Reading.Suspects): a link to a secret is the secret.
func Scan(command string, env Env) (*Denial, []shellread.Path) { panic("not built") }

// Calls returns the words of every simple command at any depth, and of what each wrapper runs; for deny rules. A word that
// is not known holds Unknown.
func Calls(command string, env Env) [][]string { panic("not built") }

// NamesOnly says that a command shows names, sizes and times of the files it names (ls, du, stat), never what is in them.
func NamesOnly(words []string) bool { panic("not built") }
