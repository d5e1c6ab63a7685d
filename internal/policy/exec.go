package policy

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"anchor/internal/denial"
	"anchor/internal/shellread"
)

func (r Rules) exec(a Exec) Decision {
	if d := a.Found.Denial; d != nil {
		return hard(d.Rule, d.Reason)
	}
	for _, p := range slices.Concat(a.Facts.Written...) {
		if d := denial.Overwrites(p.Abs, "The redirection to "+p.Name); d != nil {
			return hard(d.Rule, d.Reason)
		}
	}
	for _, p := range slices.Concat(a.Facts.Doomed...) {
		if itself := path.Base(p.Name) != "."; (denial.Env{Home: a.Facts.Home, Dir: r.Dir}).Vital(p.Abs, itself) {
			return hard("system deletion", fmt.Sprintf("The command would destroy %s, which is %s, a system or home directory; a person may run it in a terminal of their own.", p.Name, p.Abs))
		}
	}
	if p, kind := a.secret(); kind != "" {
		return secretFile(p, kind)
	}
	return r.judge(func(x Rule, deny bool) bool { return deny && r.deniesExec(x, a) || !deny && r.allowsExec(x, a) }, r.plainExec(a))
}

// plainExec decides on a command without any rules.
func (r Rules) plainExec(a Exec) Decision {
	doubt := a.doubt()
	switch {
	case a.ByUser:
		return allow("It is a command of your own.")
	case doubt == "":
		return Decision{Verdict: Allow, Rule: byDefault, Reason: "It is provably read-only.", ReadOnly: true}
	}
	rule, label := r.suggestExec(a)
	return ask("It is not provably read-only: "+strings.TrimSuffix(doubt, ".")+".", rule, label)
}

// suggestExec returns the narrowest usual rule that covers a command. If one of its parts alone is not read-only, that is the
// part's first word or two, with a label if "always" may grant it, or all its words; else shell.
func (r Rules) suggestExec(a Exec) (rule Rule, label string) {
	var part []string
	n := 0
	for _, p := range a.Reading.Parts {
		if a.Reading.Plain && !(p.ReadOnly && a.runsItself(p.Words[0])) {
			part, n = p.Words, n+1
		}
	}
	covers := func(words []string) bool {
		rule = Rule{"shell", strings.Join(words, " ")}
		return rule.sound() && r.allowsExec(rule, a)
	}
	if n == 1 {
		if start := grantable(part); start != nil && covers(start) {
			return rule, fmt.Sprintf("commands that start with %q", rule.Arg)
		}
		if covers(part) {
			return rule, ""
		}
	}
	return Rule{Kind: "shell"}, ""
}

// grantable returns the first word or two of a command that "always" may be said to; nil for none.
func grantable(words []string) []string {
	program := path.Base(words[0])
	switch {
	case listed("never", program), listed("never", strings.TrimRight(program, "0123456789.")): // python3.12 is python
		return nil
	case !listed("subcommand", words[0]):
		return words[:1]
	case len(words) < 2 || strings.HasPrefix(words[1], "-") || listed("never", words[0]+":"+words[1]):
		return nil
	}
	return words[:2]
}

// secret finds a secret file among what read-only parts read and what a command may name; a program that only shows names (ls) may
// name one. The names of suspects were judged by the scan, what is on disk was not.
func (a Exec) secret() (Path, string) {
	for i, part := range a.Reading.Parts {
		for j, group := range a.parts(i) {
			if p, kind := secretOf(part.Paths[j], group); kind != "" && part.ReadOnly && !denial.NamesOnly(part.Words) {
				return p, kind
			}
		}
	}
	for i, word := range a.Found.Suspects[:min(len(a.Found.Suspects), len(a.Facts.Suspects))] {
		p, kind := secretOf(word, a.Facts.Suspects[i])
		if kind != "" && !slices.ContainsFunc(a.Facts.Suspects[i], func(p Path) bool { return !p.Exists }) {
			return p, kind
		}
	}
	return Path{}, ""
}

// parts are the facts about the paths of a part; nil if they do not fit.
func (a Exec) parts(i int) [][]Path {
	if i >= len(a.Facts.Parts) || len(a.Facts.Parts[i]) != len(a.Reading.Parts[i].Paths) {
		return nil
	}
	return a.Facts.Parts[i]
}

// secretOf returns the first secret of what a word stands for: of a pattern that begins like a name (.e*, id_*) any secret
// counts, of one that begins with a wildcard (*) only if it stands for secrets alone, since that is rarely what was meant.
func secretOf(word shellread.Path, group []Path) (first Path, kind string) {
	aimed := word.Glob && !strings.ContainsAny(path.Base(word.Text)[:1], "*?[")
	for _, p := range group {
		switch k := p.secretKind(); {
		case k == "" && !aimed:
			return Path{}, ""
		case kind == "":
			first, kind = p, k
		}
	}
	return first, kind
}

// doubt says why a command is not provably read-only, as a phrase; empty if it is.
func (a Exec) doubt() string {
	why := a.readsElsewhere()
	switch {
	case !a.Reading.ReadOnly:
		return cmp.Or(a.Reading.Reason, "it is not known what it does")
	case why != "":
	case len(a.Facts.Planted) > 0:
		why = a.Facts.Planted[0] + " is a program in the directory, not the system's"
	case a.Reading.Git && len(a.Facts.GitPrograms) > 0:
		why = "the repository's git configuration starts programs (" + a.Facts.GitPrograms[0] + ")"
	}
	return why
}

// readsElsewhere says what is wrong with the paths that read-only parts read; empty for nothing.
func (a Exec) readsElsewhere() string {
	for i, part := range a.Reading.Parts {
		if !part.ReadOnly {
			continue
		}
		groups := a.parts(i)
		for j, word := range part.Paths {
			if groups == nil || len(groups[j]) == 0 {
				return "what it reads was not looked up"
			}
			for _, p := range groups[j] {
				if why := p.unfit(); why != "" {
					return why
				}
				if word.Glob && strings.Contains("/"+p.Name, "/-") {
					return word.Text + " also means " + p.Name + ", which may be taken for an option"
				}
				if kind := p.secretKind(); kind != "" && !denial.NamesOnly(part.Words) {
					return fmt.Sprintf("%s also means %s, a secret file (%s)", word.Text, p.Name, kind)
				}
			}
		}
	}
	return ""
}

// unfit says why a path is not one of the directory's; /dev/null is as good.
func (p Path) unfit() string {
	switch {
	case p.Fault != "":
		return p.Name + " can't be looked up: " + p.Fault
	case !p.Inside && p.Abs != "/dev/null":
		return p.Name + " lies outside the directory"
	}
	return ""
}

// allowsExec says whether an allow rule covers a command. With words, every part is read-only or starts with them and
// names no path outside and none that is sensitive.
func (r Rules) allowsExec(x Rule, a Exec) bool {
	if x.Kind != "shell" || x.Arg == "" {
		return x.Kind == "shell"
	}
	words := strings.Fields(x.Arg)
	if !a.Reading.Plain || len(a.Reading.Parts) == 0 || a.readsElsewhere() != "" {
		return false
	}
	for i, part := range a.Reading.Parts {
		if part.ReadOnly && a.runsItself(part.Words[0]) {
			continue
		}
		if !hasWords(part.Words, words) || !part.ReadOnly && !r.staysInside(a, i) {
			return false
		}
	}
	return true
}

// runsItself says that a read-only part runs the program that it names, and nothing behind it.
func (a Exec) runsItself(program string) bool {
	return !slices.Contains(a.Facts.Planted, program) && (program != "git" || len(a.Facts.GitPrograms) == 0)
}

// staysInside says that a part names no path outside the directory and no sensitive one.
func (r Rules) staysInside(a Exec, i int) bool {
	groups := a.parts(i)
	return len(groups) == len(a.Reading.Parts[i].Paths) && !slices.ContainsFunc(groups, func(group []Path) bool {
		return len(group) == 0 || slices.ContainsFunc(group, func(p Path) bool { return p.unfit() != "" || r.sensitive(p) != "" })
	})
}

// deniesExec says whether a deny rule refuses a command: shell:WORDS if any command in it, at any depth and behind any
// wrapper, starts with the words; read:GLOB if it may read such a file; write and write:GLOB if it redirects output to one.
func (r Rules) deniesExec(x Rule, a Exec) bool {
	switch x.Kind {
	case "read":
		named := slices.Concat(append(slices.Concat(a.Facts.Parts...), a.Facts.Suspects...)...)
		return slices.ContainsFunc(named, func(p Path) bool { return r.denies(x.Arg, p) })
	case "write":
		return slices.ContainsFunc(slices.Concat(a.Facts.Written...), func(p Path) bool {
			return p.Abs != "/dev/null" && (x.Arg == "" || r.denies(x.Arg, p))
		})
	case "shell":
		words := strings.Fields(x.Arg)
		return len(words) == 0 || slices.ContainsFunc(a.Found.Calls, func(c []string) bool { return startsWith(c, words) })
	}
	return false
}

// startsWith compares for a deny rule, so it also sees the program by its full path and behind options such as git -C.
func startsWith(command, words []string) bool {
	if command[0] != words[0] && path.Base(command[0]) != words[0] {
		return false
	}
	for rest := command[1:]; ; rest = rest[1:] {
		switch {
		case hasWords(rest, words[1:]):
			return true
		case len(rest) == 0 || !strings.HasPrefix(rest[0], "-"):
			return false
		case listed("value", rest[0]) && len(rest) > 1:
			rest = rest[1:]
		}
	}
}

// hasWords says whether a command's words start with these.
func hasWords(command, words []string) bool {
	return len(words) <= len(command) && slices.Equal(command[:len(words)], words)
}
