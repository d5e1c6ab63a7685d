package shellread

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed table.txt
var tableText string

// programs maps each name of table.txt to its rule and options.
var programs = sync.OnceValue(func() map[string]string { return Table(tableText) })

// Table reads lines of the form "names | facts" and returns the facts by name. A name that ends in a colon is put before
// those that follow it. An indented line goes on with the one before, and # begins a comment.
func Table(text string) map[string]string {
	facts := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(text, "\n  ", " ")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		names, rest, _ := strings.Cut(line, "|")
		prefix := ""
		for name := range strings.FieldsSeq(names) {
			if len(name) > 1 && name[len(name)-1] == ':' {
				prefix = name
			} else {
				facts[prefix+name] = strings.TrimSpace(rest)
			}
		}
	}
	return facts
}

// line returns the operand rule of a name, the argument of the rule, and the options.
func line(name string) (rule, arg, options string, ok bool) {
	text, ok := programs()[name]
	rule, options, _ = strings.Cut(text, " ")
	rule, arg, _ = strings.Cut(rule, ":")
	return rule, arg, options, ok
}

// Listed says whether a word is in a list of words with blanks between.
func Listed(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// option returns the kind of an option among those of a line, 0 for a flag. Unless whole, flags of one letter are listed
// together.
func option(options, name string, whole bool) (kind byte, ok bool) {
	for f := range strings.FieldsSeq(options) {
		last := f[len(f)-1]
		valued := len(f) > 2 && strings.IndexByte(":@#?%&$^/", last) >= 0
		switch {
		case f[0] == '*':
			_, _, group, _ := line(f)
			if kind, ok = option(group, name, whole); ok {
				return kind, true
			}
		case valued && f[:len(f)-1] == name:
			return last, true
		case f == name, !whole && !valued && len(name) == 2 && f[1] != '-' && strings.IndexByte(f[1:], name[1]) >= 0:
			return 0, true
		}
	}
	return 0, false
}
