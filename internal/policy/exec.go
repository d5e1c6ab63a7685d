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
	if a.ByUser {
		return allow("It is a command of your own.")
	}
	doubt := a.doubt()
	if doubt == "" {
		d := allow("It is provably read-only.")
		d.ReadOnly = true
		return d
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
		if !p.ReadOnly || !a.runsItself(p.Words[0]) {
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

// secret finds a secret file among what a command reads or may name. A glob counts if it means nothing but secrets; a
// program that only shows names (ls) may name one. The names of suspects were judged by the scan, what is on disk was not.
func (a Exec) secret() (Path, string) {
	for i, group := range a.Facts.Paths {
		named := shellread.Path{}
		if i < len(a.Reading.Paths) {
			named = a.Reading.Paths[i]
		}
		if p, kind := secretOf(named, group); kind != "" && !a.namesOnly(named.Text) {
			return p, kind
		}
	}
	for i, group := range a.Facts.Suspects {
		named := shellread.Path{}
		if i < len(a.Found.Suspects) {
			named = a.Found.Suspects[i]
		}
		missing := slices.ContainsFunc(group, func(p Path) bool { return !p.Exists })
		if p, kind := secretOf(named, group); kind != "" && !missing {
			return p, kind
		}
	}
	return Path{}, ""
}

// secretOf returns the first secret of what a word stands for: of a pattern that begins like a name (.e*, id_*) any secret
// counts, of one that begins with a wildcard (*) only if it stands for secrets alone, since that is rarely what was meant.
func secretOf(word shellread.Path, group []Path) (Path, string) {
	aimed := word.Glob && !strings.ContainsAny(path.Base(word.Text)[:1], "*?[")
	plain := slices.ContainsFunc(group, func(p Path) bool { return p.secretKind() == "" })
	for _, p := range group {
		if kind := p.secretKind(); kind != "" && (aimed || !plain) {
			return p, kind
		}
	}
	return Path{}, ""
}

// namesOnly says that every part which names this path shows names, sizes and times of files, not what is in them.
func (a Exec) namesOnly(text string) bool {
	found := false
	for _, part := range a.Reading.Parts {
		for _, q := range part.Paths {
			if q.Text != text {
				continue
			}
			if !denial.NamesOnly(part.Words) {
				return false
			}
			found = true
		}
	}
	return found
}

// doubt says why a command is not provably read-only, as a phrase; empty if it is.
func (a Exec) doubt() string {
	if !a.Reading.ReadOnly {
		return cmp.Or(a.Reading.Reason, "it is not known what it does")
	}
	why := a.readsElsewhere()
	switch {
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
	if len(a.Facts.Paths) != len(a.Reading.Paths) {
		return "what it reads was not looked up"
	}
	for i, group := range a.Facts.Paths {
		if len(group) == 0 {
			return "what it reads was not looked up"
		}
		for _, p := range group {
			if why := p.unfit(); why != "" {
				return why
			}
			if a.Reading.Paths[i].Glob && (strings.HasPrefix(p.Name, "-") || strings.Contains(p.Name, "/-")) {
				return a.Reading.Paths[i].Text + " also means " + p.Name + ", which may be taken for an option"
			}
			if kind := p.secretKind(); kind != "" && !a.namesOnly(a.Reading.Paths[i].Text) {
				return fmt.Sprintf("%s also means %s, a secret file (%s)", a.Reading.Paths[i].Text, p.Name, kind)
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
	if len(a.Reading.Parts) == 0 || a.readsElsewhere() != "" {
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
	if i >= len(a.Facts.Parts) || len(a.Facts.Parts[i]) != len(a.Reading.Parts[i].Paths) {
		return false
	}
	return !slices.ContainsFunc(a.Facts.Parts[i], func(group []Path) bool {
		return len(group) == 0 || slices.ContainsFunc(group, func(p Path) bool { return p.unfit() != "" || r.sensitive(p) != "" })
	})
}

// deniesExec says whether a deny rule refuses a command: shell:WORDS if any command in it, at any depth and behind any
// wrapper, starts with the words; read:GLOB if it may read such a file; write and write:GLOB if it redirects output to one.
func (r Rules) deniesExec(x Rule, a Exec) bool {
	switch {
	case x.Kind == "read":
		named := func(group []Path) bool {
			return slices.ContainsFunc(group, func(p Path) bool { return r.denies(x.Arg, p) })
		}
		return slices.ContainsFunc(a.Facts.Paths, named) || slices.ContainsFunc(a.Facts.Suspects, named)
	case x.Kind == "write":
		return slices.ContainsFunc(slices.Concat(a.Facts.Written...), func(p Path) bool {
			return p.Abs != "/dev/null" && (x.Arg == "" || r.denies(x.Arg, p))
		})
	case x.Kind != "shell":
		return false
	case x.Arg == "":
		return true
	}
	words := strings.Fields(x.Arg)
	starts := func(command []string) bool { return startsWith(command, words) }
	return slices.ContainsFunc(denial.Calls(a.Command, denial.Env{Home: r.Home, Dir: r.Dir}), starts)
}

// startsWith compares for a deny rule, so it also sees the program by its full path and behind options such as git -C.
func startsWith(command, words []string) bool {
	if len(command) == 0 || command[0] != words[0] && path.Base(command[0]) != words[0] {
		return false
	}
	rest := command[1:]
	for {
		if len(words) == 1 || hasWords(rest, words[1:]) {
			return true
		}
		if len(rest) == 0 || !strings.HasPrefix(rest[0], "-") {
			return false
		}
		n := 1
		if listed("value", rest[0]) {
			n = min(2, len(rest))
		}
		rest = rest[n:]
	}
}
