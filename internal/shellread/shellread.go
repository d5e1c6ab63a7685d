// Package shellread reads a bash command without running it and says what it is sure of. It is pure and conservative:
// what it cannot fully account for is not read-only.
package shellread

// Reading is what is known of a command before anything about the disk is known.
type Reading struct {
	// ReadOnly says that every part is provably read-only, provided that every path in Paths lies inside the directory and
	// is no secret, that no program in Programs is one of the workspace's own files, and, with Git, that the repository's
	// configuration runs no programs.
	ReadOnly bool
	// Reason says why it is not read-only: one short phrase for a person.
	Reason string
	// Parts are the simple commands, in order, for rules such as shell:go test. It is nil if the command as a whole is not
	// plain: unparsable, too long, or with anything but literal words joined by && || | ; newlines and harmless redirects.
	Parts []Part
	// Paths are the operands that a read-only part reads. They are looked up by the gate.
	Paths []Path
	// Programs are the bare names of the programs that are run.
	Programs []string
	// Git says that a part runs git, whose configuration in the repository may name programs.
	Git bool
	// Suspects are words that may name files that only the hard denials care about (any command, read-only or not).
	Suspects []Path
}

// Part is one simple command of literal words.
type Part struct {
	Words    []string
	ReadOnly bool
	// Paths are the words, options' values included, that may name paths.
	Paths []Path
}

// Path is a path operand: Text is absolute or relative to the directory (a cd before it is accounted for). With Glob it is
// a bash pattern.
type Path struct {
	Text string
	Glob bool
}
