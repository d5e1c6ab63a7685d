package shellread

import (
	"regexp"
	"slices"
	"strings"
)

// judge says what the program does with its words: it fills reason and paths.
func (u *use) judge() {
	if strings.HasPrefix(u.name, "*") || strings.Contains(u.name, "/") {
		u.refuse("runs " + u.name)
	} else {
		u.apply(u.name)
	}
}

// apply applies a line of the table. Its rule says what the operands are:
//
//	none, one, text, paths   nothing, one path, text, paths; each must match the argument
//	key                      one text that matches the argument
//	pattern                  a pattern, unless an option gives it, then paths
//	filter, needs            text; none without one of the options in the argument, not at all without one
//	version                  nothing, with one option
//	sed, awk, jq             a script, unless an option gives it, then paths
//	print, printf            text without options; for printf a format first
//	sub, sub0, git           a subcommand with a line of its own; with sub0 there may be none
func (u *use) apply(key string) {
	rule, arg, options, ok := line(key)
	if !ok {
		u.refuse(strings.ReplaceAll(key, "/", " ") + " is not known to be read-only")
		return
	}
	rule, u.single = strings.CutPrefix(rule, "!")
	u.options = options
	switch rule {
	case "print", "printf":
		u.operands = u.args
		if rule == "printf" {
			u.format()
		}
		u.rule("text", "")
		return
	case "git":
		u.gitOptions()
		fallthrough
	case "sub", "sub0":
		u.subcommand(key, rule)
		return
	}
	u.parse()
	if u.reason == "" {
		u.rule(rule, arg)
	}
}

func (u *use) rule(rule, arg string) {
	switch rule {
	case "filter", "needs":
		if given := u.has(strings.Split(arg, ",")...); !given && rule == "filter" {
			u.atMost(0)
		} else if !given {
			u.refuse("runs a program through " + u.name)
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
		if rule == "key" && len(u.operands) == 0 {
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

// formats are those of printf whose conversions only print: %n would assign.
var formats = regexp.MustCompile(`^(?:[^-%]|` + conversion + `)(?:[^%]|` + conversion + `)*$|^$`)

const conversion = `%[-+ #'0-9.*hlLjtz]*[diouxXeEfFgGaAcsbq%(]`

func (u *use) format() {
	if len(u.operands) > 0 && u.operands[0].text == "--" {
		u.operands = u.operands[1:]
	}
	if len(u.operands) > 0 && (u.operands[0].glob() || !formats.MatchString(u.operands[0].text)) {
		u.refuse("printf with a format that is not judged")
	}
}

// subcommand goes on with the line of a subcommand.
func (u *use) subcommand(key, rule string) {
	switch {
	case len(u.args) > 0 && !strings.HasPrefix(u.args[0].text, "-"):
		name := u.args[0].text
		if strings.ContainsAny(name, "/\n ") {
			name = "…"
		}
		u.args = u.args[1:]
		u.apply(key + "/" + name)
	case rule == "sub0":
		u.parse()
		u.atMost(0)
	case key != "git" || len(u.args) != 1 || u.args[0].text != "--version":
		u.refuse(strings.ReplaceAll(key, "/", " ") + " needs a subcommand that is known to be read-only")
	}
}

// gitOptions takes git's own options off. Formats that verify signatures run gpg.
func (u *use) gitOptions() {
	for len(u.args) > 0 && strings.HasPrefix(u.args[0].text, "-") && u.args[0].text != "--version" {
		switch w := u.args[0]; {
		case w.text == "--no-pager" || w.text == "--no-optional-locks":
		case w.text == "-C" && len(u.args) > 1 && u.args[1].text != "" && !u.args[1].glob():
			u.args = u.args[1:]
			paths := located(u.args[0], u.in)
			u.paths, u.in = append(u.paths, paths...), nil
			for _, p := range paths {
				u.in = append(u.in, p.Text)
			}
		default:
			u.refuse("git with the option " + w.text)
		}
		u.args = u.args[1:]
	}
	if i := slices.IndexFunc(u.args, func(w word) bool { return strings.Contains(w.text, "%G") || strings.Contains(w.text, "(signature") }); i >= 0 {
		u.refuse("git runs gpg for " + u.args[i].text)
	}
}

// script takes the text of a little language.
func (u *use) script(language string) {
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

func isBuiltin(name string) bool {
	return slices.Contains(strings.Fields(": [ cd command echo exit false printf pwd test true type"), name)
}
