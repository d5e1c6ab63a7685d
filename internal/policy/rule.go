package policy

// Rule is a parsed rule such as read:GLOB, write, write:GLOB, shell, shell:WORDS, mcp:SERVER or mcp:SERVER/TOOL.
type Rule struct {
	Kind string
	Arg  string
}

// ParseRule reads a rule as --allow takes it. The error says what a rule looks like.
func ParseRule(s string) (Rule, error) { panic("not built") }

// String returns the rule as --allow takes it.
func (r Rule) String() string { panic("not built") }

// Rules are what the user allowed and denied. Deny beats allow; hard denials beat both. Each has the place it came from,
// for the reason: "--allow", "config", "always".
type Rules struct {
	Allow, Deny []Sourced
	Yolo        bool
	// Home is for ~ in globs; Dir is the directory, which relative globs start from.
	Home, Dir string
}

// Sourced is a rule and where it came from.
type Sourced struct {
	Rule   Rule
	Source string
}

// Decide judges an action under the rules.
func Decide(a Action, r Rules) Decision { panic("not built") }
