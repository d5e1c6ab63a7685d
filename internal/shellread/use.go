package shellread

import (
	"slices"
	"strings"
)

// use is a program and its words while it is judged.
type use struct {
	name string
	args []word
	in   dirs

	options  string // its line's
	single   bool   // options stand alone, with whole names
	reason   string // why it is not read-only
	paths    []Path // what it reads
	given    []string
	scripts  []string // values of options of the kind $
	operands []word
	late     bool // an option after an operand
}

// refuse notes why the use is not read-only. The first reason stays.
func (u *use) refuse(reason string) {
	if u.reason == "" {
		u.reason = reason
	}
}

// path notes a path that is read. A - is a stream.
func (u *use) path(w word) {
	if w.text != "-" && w.text != "/dev/null" {
		u.paths = append(u.paths, located(w, u.in)...)
	}
}

// has reports whether one of the options was given.
func (u *use) has(names ...string) bool {
	return slices.ContainsFunc(u.given, func(g string) bool { return slices.Contains(names, g) })
}

// parse sorts the words into options and operands as the program does: like getopt_long, options also after operands, or
// (single) with a whole name after one dash and without --. It refuses what the table does not list.
func (u *use) parse(stop bool) {
	for i := 0; i < len(u.args) && u.reason == ""; i++ {
		w := u.args[i]
		if len(w.text) < 2 || w.text[0] != '-' {
			if u.operands = append(u.operands, w); stop { // the rest is a subcommand's
				u.operands = u.args[i:]
				return
			}
			continue
		}
		u.late = u.late || len(u.operands) > 0
		switch {
		case w.text == "--" && !u.single:
			u.operands = append(u.operands, u.args[i+1:]...)
			return
		case u.single || w.text[1] == '-':
			i = u.long(i)
		default:
			i = u.short(i)
		}
	}
}

// long takes the option at i, written whole, and returns the index of its last word.
func (u *use) long(i int) int {
	w := u.args[i]
	name, value, has := strings.Cut(w.text, "=")
	kind, ok := option(u.options, name, u.single)
	if bare := strings.TrimRight(name, "0123456789"); !ok && u.single && !has && bare != name { // -l16
		kind, ok = option(u.options, bare, true)
		ok = ok && kind == '#'
		name, value, has = bare, name[len(bare):], true
	}
	if !ok || has && kind == 0 || w.glob() && (!has || kind == '@' || kind == '$') {
		u.refuse(u.name + " with the option " + name)
		return i
	}
	return u.value(name, kind, word{text: value}, has, i)
}

// short takes the bundle of one-letter options at i and returns the index of its last word.
func (u *use) short(i int) int {
	w := u.args[i]
	if _, ok := option(u.options, "-#", true); ok && digits(w.text[1:]) {
		return i
	}
	if w.glob() {
		u.refuse("an option with a wildcard")
	}
	for k := 1; k < len(w.text) && u.reason == ""; k++ {
		name, rest := "-"+w.text[k:k+1], w.text[k+1:]
		kind, ok := option(u.options, name, false)
		switch {
		case !ok:
			u.refuse(u.name + " with the option " + name)
		case kind == '^' && rest != "" && !digits(rest):
			u.refuse("letters after the option " + name)
		case kind != 0:
			return u.value(name, kind, word{text: rest}, rest != "", i)
		}
		u.given = append(u.given, name)
	}
	return i
}

// value takes the value of an option: attached, or the next word.
func (u *use) value(name string, kind byte, attached word, has bool, i int) int {
	u.given = append(u.given, name)
	switch {
	case has || kind == 0 || kind == '?' || kind == '&' && i+1 == len(u.args):
	case i+1 == len(u.args) || kind == '%' && i+2 == len(u.args):
		u.refuse(u.name + " lacks the value of " + name)
	default:
		i++
		attached = u.args[i]
		if looksLikeOption := strings.HasPrefix(attached.text, "-") && !digits(attached.text[1:]) && attached.text != "-"; attached.glob() || looksLikeOption {
			u.refuse("the value of " + name + " is not certain") // a version that takes none would see an option
		}
	}
	switch kind {
	case '@':
		u.path(attached)
	case '/':
		if attached.text == "" {
			u.refuse("no directory after " + name)
		}
		paths := located(attached, u.in)
		u.paths, u.in = append(u.paths, paths...), nil
		for _, p := range paths {
			u.in = append(u.in, p.Text)
		}
	case '$':
		u.scripts = append(u.scripts, attached.text)
	case '%':
		if i++; has || u.args[min(i, len(u.args)-1)].glob() {
			u.refuse("the value of " + name + " is not certain")
		}
	}
	return i
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
