package shellread

import (
	"regexp"
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
//	sub, sub0                a subcommand with a line of its own; with sub0 there may be none
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
	case "sub", "sub0":
		u.subcommand(key, rule)
		return
	}
	if u.parse(false); u.reason == "" {
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

// subcommand reads the options before a subcommand and goes on with its line. Formats of git that verify signatures run gpg.
func (u *use) subcommand(key, rule string) {
	if u.parse(true); u.reason != "" {
		return
	}
	if len(u.operands) == 0 {
		if rule == "sub" && !(len(u.args) == 1 && u.has("--version")) {
			u.refuse(strings.ReplaceAll(key, "/", " ") + " needs a subcommand that is known to be read-only")
		}
		return
	}
	name := u.operands[0].text
	if strings.ContainsAny(name, "/\n ") {
		name = "…"
	}
	u.args, u.operands, u.given = u.operands[1:], nil, nil
	for _, w := range u.args {
		if key == "git" && (strings.Contains(w.text, "%G") || strings.Contains(w.text, "(signature")) {
			u.refuse("git runs gpg for " + w.text)
		}
	}
	u.apply(key + "/" + name)
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
