package shellread

import (
	"regexp"
	"strings"
	"sync"
)

// The scripts of sed, awk and jq are read by small grammars of what only prints. A delimiter within brackets ends a regular
// expression for some programs and not for others, so the grammars do not know it; where nothing in the script can write or
// run, however it is read, that does not matter.

// maxScript bounds the scripts that are read, in bytes.
const maxScript = 8 << 10

// scriptReads reports whether a script in a language only reads its input and prints.
func scriptReads(language, text string) bool {
	switch {
	case len(text) > maxScript:
		return false
	case language == "sed":
		return sedStrict().MatchString(text) || !strings.ContainsAny(text, "wWeErR") && sedLoose().MatchString(text)
	case language == "awk":
		return !awkDangerous.MatchString(text) || awkReads(text)
	}
	return !jqElsewhere.MatchString(text)
}

// delimited is a regular expression between slashes. The first member of a bracket may be a ] and must not be a ^.
const (
	member    = `[^]/[\\\n]|\\[^]\n]|\[:[a-z]+:\]`
	first     = `[^]^/[\\\n]|\\[^]\n]|\[:[a-z]+:\]`
	delimited = `[/](?:[^/\\\n[]|\\[^\n]|\[\^?(?:\]|` + first + `)(?:` + member + `)*\])*[/]`
)

var (
	sedStrict = sync.OnceValue(func() *regexp.Regexp { return sedGrammar(delimited) })
	sedLoose  = sync.OnceValue(func() *regexp.Regexp {
		return sedGrammar(strings.NewReplacer("[^]/[", "[^][", "[^]^/[", "[^]^[").Replace(delimited))
	})
)

// sedGrammar accepts scripts of the commands { } = b d D F g G h H l n N p P q Q s t T x y z : and comments, with
// addresses. Not w, W, r, R, e, a, i, c, v, nor the flags w and e of s.
func sedGrammar(delimited string) *regexp.Regexp {
	const other = `(?:[^/\\]|\\(?s:.))*[/]`
	var regexps, edits []string
	for _, d := range strings.Split("/|#,:!@%+;_=", "") {
		with := strings.NewReplacer("/", d)
		regexps = append(regexps, with.Replace(delimited))
		edits = append(edits, with.Replace("s"+delimited+other+"[gpiIM0-9]*|y[/]"+other+other))
	}
	address := `(?:\$|\d+(?:~\d+)?|(?:` + delimited + `|\\(?:` + strings.Join(regexps, "|") + `))[IM]*)`
	command := `(?:\{|(?:[=dDFgGhHnNpPxz]|[qQl][ \t]*\d*|[:btT][ \t]*\w*|` + strings.Join(edits, "|") + `)[ \t]*(?:$|[\n;}]|#[^\n]*))`
	return regexp.MustCompile(`^(?:[ \t\n;}]|#[^\n]*(?:\n|$)|(?:` + address + `[ \t]*(?:,[ \t+~]*` + address + `)?[ \t!]*)?` + command + `)*$`)
}

// The names in awk that run, write, or read elsewhere.
const awkNames = "system|getline|close|fflush|extension|ENVIRON|ARGV|SYMTAB|FUNCTAB|PROCINFO"

var (
	awkDangerous = regexp.MustCompile(`[>|@]|` + awkNames)
	// strings, comments, and regular expressions where no / can divide
	awkQuoted = regexp.MustCompile(`"(?:[^"\\\n]|\\[^\n])*"|#[^\n]*|(^[ \t]*|[(,!~&|{};=?:\n][ \t]*)` + delimited)
	// of the rest: what is none of awk's, pipes, the names, and a / that may begin a regular expression
	awkRefused = regexp.MustCompile("[\"'`@]" + `|(?:^|[^|])\|(?:$|[^|])|(?:^|[^&])&(?:$|[^&])|(?:^|[^A-Za-z_])(?:` + awkNames + `)\b|(?:^|[^\w)\] \t])[ \t]*/|` +
		`\b(?:if|while|for|switch)\b(?s:.*)\)[ \t]*/|\b(?:return|else|do|exit|case|printf?|length|in|next|nextfile|break|continue|delete|default|BEGIN|END)[ \t]*/`)
	parens      = regexp.MustCompile(`\([^()]*\)`)
	awkRedirect = regexp.MustCompile(`\bprintf?\b[^;}]*>`)
)

// awkReads accepts an awk program that has no pipe, no @, no output redirect and none of the refused names outside strings
// and regular expressions. Where a / may either divide or begin a regular expression, it refuses.
func awkReads(program string) bool {
	program = awkQuoted.ReplaceAllString(program, "${1}0")
	if awkRefused.MatchString(program) {
		return false
	}
	for parens.MatchString(program) {
		program = parens.ReplaceAllString(program, " 0 ")
	}
	return !awkRedirect.MatchString(program)
}

// jqElsewhere finds what loads a module or looks at the environment, unless it is the name of a field.
var jqElsewhere = regexp.MustCompile(`(?:^|[^.\w]|\.\.)(?:env|ENV|import|include|modulemeta|get_search_list|__prog_args)\b`)
