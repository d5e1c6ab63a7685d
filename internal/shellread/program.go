package shellread

import (
	"regexp"
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

// path notes a path that is read. A - is a stream, and git leaves out what stands after :! and the like.
func (u *use) path(w word) {
	leftOut := u.name == "git" && (strings.HasPrefix(w.text, ":!") || strings.HasPrefix(w.text, ":^") || strings.HasPrefix(w.text, ":(exclude"))
	if w.text != "-" && w.text != "/dev/null" && !leftOut {
		u.paths = append(u.paths, located(w, u.in)...)
	}
}

// has reports whether one of the options was given.
func (u *use) has(names ...string) bool {
	return slices.ContainsFunc(u.given, func(g string) bool { return slices.Contains(names, g) })
}

// parse sorts the words into options and operands as the program does: like getopt_long, options also after operands, or
// (single) with a whole name after one dash and without --. With stop it leaves the first operand and what follows. It
// refuses what the table does not list.
func (u *use) parse(stop bool) {
	for len(u.args) > 0 && u.reason == "" {
		w := u.args[0]
		isOption := len(w.text) > 1 && w.text[0] == '-'
		if stop && !isOption {
			return
		}
		u.args = u.args[1:]
		u.late = u.late || isOption && len(u.operands) > 0
		switch {
		case !isOption:
			u.operands = append(u.operands, w)
		case w.text == "--" && !u.single:
			u.operands, u.args = append(u.operands, u.args...), nil
		case u.single || w.text[1] == '-':
			u.long(w)
		default:
			u.short(w)
		}
	}
}

// long takes an option that is written whole.
func (u *use) long(w word) {
	name, value, has := strings.Cut(w.text, "=")
	kind, ok := option(u.options, name, u.single)
	if !ok || has && kind == 0 || w.glob() && (!has || kind == '@' || kind == '$') {
		u.refuse(u.name + " with the option " + name)
		return
	}
	u.value(name, kind, value, has)
}

// short takes a bundle of one-letter options.
func (u *use) short(w word) {
	if _, ok := option(u.options, "-#", true); ok && digits(w.text[1:]) {
		return
	}
	if w.glob() {
		u.refuse("an option with a wildcard")
	}
	for k := 1; k < len(w.text) && u.reason == ""; k++ {
		name, rest := "-"+w.text[k:k+1], w.text[k+1:]
		kind, ok := option(u.options, name, false)
		if !ok || kind == '^' && rest != "" && !digits(rest) {
			u.refuse(u.name + " with the option " + name)
		} else if u.value(name, kind, rest, rest != "" && kind != 0); kind != 0 {
			return
		}
	}
}

// value notes an option and takes its value: attached, or the next word.
func (u *use) value(name string, kind byte, attached string, has bool) {
	u.given = append(u.given, name)
	w := word{text: attached}
	if wants := kind != 0 && kind != '?' && (kind != '&' || len(u.args) > 0); wants && !has {
		w = u.next(name)
		if u.name != "find" && strings.HasPrefix(w.text, "-") && !digits(w.text[1:]) && w.text != "-" { // a version that takes none would see an option
			u.refuse("the value of " + name + " is not certain")
		}
	}
	switch kind {
	case '@':
		u.path(w)
	case '/':
		if w.text == "" {
			u.refuse("no directory after " + name)
		}
		paths := located(w, u.in)
		u.paths, u.in = append(u.paths, paths...), nil
		for _, p := range paths {
			u.in = append(u.in, p.Text)
		}
	case '$':
		u.scripts = append(u.scripts, w.text)
	case '%':
		if u.next(name); has {
			u.refuse("the value of " + name + " is not certain")
		}
	}
}

// next takes the next word for the value of an option.
func (u *use) next(name string) (w word) {
	if len(u.args) == 0 || u.args[0].glob() {
		u.refuse(u.name + " lacks a certain value of " + name)
		return w
	}
	w, u.args = u.args[0], u.args[1:]
	return w
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// apply applies a line of the table.
func (u *use) apply(key string) {
	rule, arg, options, ok := line(key)
	if !ok {
		u.refuse(strings.ReplaceAll(key, "/", " ") + " is not known to be read-only")
		return
	}
	rule, u.single = strings.CutPrefix(rule, "!")
	u.options = options
	switch rule {
	case "print":
		if arg != "" && len(u.args) > 0 && u.args[0].text == "--" {
			u.args = u.args[1:]
		}
		if u.operands = u.args; arg != "" && len(u.args) > 0 && (u.args[0].glob() || !regexp.MustCompile(arg).MatchString(u.args[0].text)) {
			u.refuse(u.name + " with a first word that is not judged")
		}
		u.rule("text", "")
	case "sub", "sub0":
		u.subcommand(key, rule)
	default:
		if u.parse(false); u.reason == "" {
			u.rule(rule, arg)
		}
	}
}

func (u *use) rule(rule, arg string) {
	switch rule {
	case "filter":
		if !u.has(strings.Split(arg, ",")...) {
			u.atMost(0)
		}
		rule, arg = "text", ""
	case "sed", "awk", "jq":
		u.script(rule)
	case "pattern":
		if !u.has("-e", "--regexp", "-f", "--file", "--files", "--type-list") {
			u.first()
		}
	case "none", "version":
		if u.atMost(0); rule == "version" && len(u.given) != 1 {
			u.refuse(u.name + " is not known to be read-only")
		}
	case "one", "key":
		if u.atMost(1); u.late { // a second operand would be written
			u.refuse("an option after the file")
		}
		if rule == "key" && len(u.operands) == 0 && !u.has("-l", "--list") {
			u.refuse(u.name + " config without a key")
		}
	}
	isText := rule == "text" || rule == "key"
	if arg != "" {
		fits := regexp.MustCompile(arg)
		for _, w := range u.operands {
			if !fits.MatchString(w.text) || w.glob() && isText {
				u.refuse(u.name + " with " + w.text)
			}
		}
	}
	for _, w := range u.operands {
		if u.reason == "" && (!isText || w.glob()) { // a wildcard lists a directory
			u.path(w)
		}
	}
}

func (u *use) atMost(n int) {
	if len(u.operands) > n {
		u.refuse(u.name + " with " + u.operands[n].text)
	}
}

// first takes the first operand, which is text, off the others.
func (u *use) first() (w word, ok bool) {
	if len(u.operands) == 0 {
		return w, false
	}
	w, u.operands = u.operands[0], u.operands[1:]
	if w.glob() {
		u.path(w)
	}
	return w, true
}

// subcommand reads the options before a subcommand and goes on with its line. Formats of git that verify signatures run gpg.
func (u *use) subcommand(key, rule string) {
	u.parse(true)
	if len(u.args) == 0 || u.reason != "" {
		if rule == "sub" && !(u.has("--version") && len(u.given) == 1) {
			u.refuse(strings.ReplaceAll(key, "/", " ") + " needs a subcommand that is known to be read-only")
		}
		return
	}
	name := u.args[0].text
	if strings.ContainsAny(name, "/\n ") {
		name = "…"
	}
	u.args, u.given = u.args[1:], nil
	for _, w := range u.args {
		if key == "git" && (strings.Contains(w.text, "%G") || strings.Contains(w.text, "(signature")) {
			u.refuse("git runs gpg for " + w.text)
		}
	}
	u.apply(key + "/" + name)
}

// script takes the text of a little language.
func (u *use) script(language string) {
	if len(u.operands) == 0 && len(u.given) == 1 && u.has("--version", "--help") {
		return
	}
	if len(u.scripts) == 0 {
		w, ok := u.first()
		if !ok || w.glob() {
			u.refuse(u.name + " without a quoted script")
		}
		u.scripts = []string{w.text}
	}
	if u.late && language != "jq" { // some take the first operand for the script then
		u.refuse(u.name + " with an option after the script")
	}
	if !scriptReads(language, strings.Join(u.scripts, "\n")) {
		u.refuse(u.name + " with a script that may do more than print")
	}
}
