// Package policy decides what an action may do: allow, ask, deny. It is pure: what an action touches was found out before
// and comes in as values. The zero verdict is deny.
package policy

import (
	"anchor/internal/denial"
	"anchor/internal/shellread"
)

// Verdict is the outcome of a judgement.
type Verdict uint8

// The verdicts.
const (
	Deny Verdict = iota
	Ask
	Allow
)

// String returns deny, ask or allow.
func (v Verdict) String() string { return [...]string{"deny", "ask", "allow"}[v] }

// Action is what somebody wants to do: Read, Write, Exec or MCP.
type Action interface{ action() }

// Read reads a file or directory.
type Read struct{ Path Path }

// Write creates, replaces or removes a file.
type Write struct{ Path Path }

// Exec runs a command in the directory, as bash will get it. Reading and Found are what the shell reader and the hard denials made of
// it. ByUser is a command of the user's own (--until, !cmd): it is not asked about, hard denials and deny rules hold.
type Exec struct {
	Command string
	Reading shellread.Reading
	Found   denial.Found
	Facts   Facts
	ByUser  bool
}

// MCP calls a tool of a server.
type MCP struct{ Server, Tool string }

func (Read) action()  {}
func (Write) action() {}
func (Exec) action()  {}
func (MCP) action()   {}

// Path is a name and what it really is. The gate makes it; nothing in it is looked up later.
type Path struct {
	Name    string // as it was given
	Abs     string // absolute, all links resolved, those of the longest existing part for what does not exist yet
	Lexical string // absolute, before links were resolved
	Rel     string // Abs relative to the directory, with slashes; "." for the directory itself; empty if it is outside
	Inside  bool   // Abs is the directory or below it
	Exists  bool
	Dir     bool
	Links   int    // the number of hard links of a regular file
	Own     bool   // one of anchor's own files that may be read unasked (saved output, skills, instructions)
	Fault   string // why it could not be resolved (a loop, a NUL); such a path is asked about or refused
}

// Facts are what the gate found about the things a command names. A list that does not fit what was read (too short, an
// empty entry) counts as unknown: the command is asked about.
type Facts struct {
	// Parts holds, for each Reading.Parts[i].Paths[j], what it stands for on disk: one Path for a plain one, all matches for a glob; for
	// a glob that matches nothing the pattern itself as a path, as bash would pass it on.
	Parts [][][]Path
	// Suspects, Written and Doomed hold the same for the paths of Found. They are looked at for secrets and deny rules, and for
	// directories that must not go.
	Suspects, Written, Doomed [][]Path

	Home        string   // the user's home directory, links resolved
	Planted     []string // programs of Reading.Programs that resolve to a file inside the directory, or through a relative PATH entry
	GitPrograms []string // keys of the repository's own git configuration that make read-only git commands run programs
}

// Decision is a judgement. Rule names what decided ("default", "hard denial: secret file", `--allow "shell:go test"`, …);
// Reason is one sentence for a person.
type Decision struct {
	Verdict  Verdict
	Rule     string
	Reason   string
	Hard     bool   // a denial that nothing lifts
	ReadOnly bool   // a command that was allowed because it is provably read-only: it runs confined
	Always   *Grant // what an "always" answer would grant; nil if it is not offered
	Suggest  string // the --allow rule that would cover the action, empty if none does
}

// Grant is a rule with the label that an approval shows for it: "all file writes in the workspace",
// `commands that start with "mkdir"`, "MCP tool github/search".
type Grant struct {
	Rule  Rule
	Label string
}
