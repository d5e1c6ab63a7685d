package policy

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Rule is a parsed rule such as read:GLOB, write, write:GLOB, shell, shell:WORDS, mcp:SERVER or mcp:SERVER/TOOL.
//
// A GLOB has * ? [..] {a,b} and ** for any number of directories. It starts from the directory, from the home directory
// (~/…) or from the root (/…); one that ends in a slash covers everything below. WORDS are compared word by word.
type Rule struct {
	Kind string // read, write, shell or mcp
	Arg  string // GLOB, WORDS joined by one blank, SERVER or SERVER/TOOL; empty if the rule has none
}

// ParseRule reads a rule as --allow takes it. The error says what a rule looks like.
func ParseRule(s string) (Rule, error) {
	kind, arg, colon := strings.Cut(strings.TrimSpace(s), ":")
	arg, fault := strings.TrimSpace(arg), ""
	switch kind {
	case "shell":
		arg = strings.Join(strings.Fields(arg), " ")
		if notWords.MatchString(arg) {
			fault = "matches nothing, for WORDS are the first words of one command, compared as they stand, without wildcards, quotes or operators"
		}
	case "mcp":
		arg = strings.TrimSuffix(arg, "/*")
		if server, tool, slash := strings.Cut(arg, "/"); server == "" || slash && tool == "" || strings.Contains(arg, "*") {
			fault = "needs the name of a server, such as mcp:github or mcp:github/search, without wildcards"
		}
	case "read", "write":
		if arg == "" && kind == "read" {
			fault = "needs a glob, such as read:/usr/share/**"
		} else if !doublestar.ValidatePattern(arg) {
			fault = "has a broken glob (an open [ or { ?)"
		} else if strings.HasPrefix(path.Clean(arg)+"/", "../") {
			fault = "matches nothing, for a relative GLOB stays in the directory; give the whole path"
		}
	default:
		fault = "is of no kind that there is"
	}
	if colon && arg == "" {
		fault = cmp.Or(fault, "has nothing after the colon")
	}
	if fault != "" {
		return Rule{}, fmt.Errorf("rule %q %s: a rule is read:GLOB, write, write:GLOB, shell, shell:WORDS, mcp:SERVER or mcp:SERVER/TOOL", s, fault)
	}
	return Rule{kind, arg}, nil
}

// notWords finds what the words of a command never are: wildcards, quotes around, operators that a shell would take.
var notWords = regexp.MustCompile(`^\S*[*?"'{$(]|(^| )\*+( |$)|:\*$|[^ ];( |$)|(^| )(;|&&?|\|\|?|[0-9]?>+|<) `)

// String returns the rule as --allow takes it.
func (r Rule) String() string {
	if r.Arg == "" {
		return r.Kind
	}
	return r.Kind + ":" + r.Arg
}

// Rules are what the user allowed and denied. Deny beats allow; hard denials beat both. Each has the place it came from,
// for the reason: "--allow", "config", "always".
type Rules struct {
	Allow, Deny []Sourced
	Yolo        bool
	// Home is for ~ in globs; Dir is the directory, which relative globs start from. Both are absolute, Dir with links
	// resolved.
	Home, Dir string
}

// Sourced is a rule and where it came from.
type Sourced struct {
	Rule   Rule
	Source string
}

// String names the rule as a decision shows it: `--allow "shell:go test"`.
func (s Sourced) String() string { return fmt.Sprintf("%s %q", s.Source, s.Rule.String()) }

// sound says whether a rule reads back from its text as what it is.
func (r Rule) sound() bool {
	back, err := ParseRule(r.String())
	return err == nil && back == r
}

// allows says whether a glob covers the place where a path really is. A relative glob covers nothing outside.
func (r Rules) allows(glob string, p Path) bool {
	glob, absolute := r.pattern(glob)
	return absolute && doublestar.MatchUnvalidated(glob, p.Abs) || !absolute && p.Inside && doublestar.MatchUnvalidated(glob, p.Rel)
}

// denies says whether a glob names a path in any of its spellings.
func (r Rules) denies(glob string, p Path) bool {
	full, absolute := r.pattern(glob)
	if !absolute {
		full = escape(r.Dir) + "/" + full
	}
	return r.allows(glob, p) || doublestar.MatchUnvalidated(full, p.Lexical)
}

// pattern completes a GLOB: ~ is the home directory, and a slash at the end means everything below.
func (r Rules) pattern(glob string) (pattern string, absolute bool) {
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	if glob == "~" || strings.HasPrefix(glob, "~/") {
		glob = escape(r.Home) + glob[1:]
	}
	return path.Clean(glob), path.IsAbs(glob)
}

var special = regexp.MustCompile(`[*?\[\]{}\\]`)

// escape makes a glob that matches exactly name.
func escape(name string) string { return special.ReplaceAllString(name, `\$0`) }
