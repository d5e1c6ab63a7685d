package shellread

import (
	"slices"
	"strings"
)

// judge says what the program does with its words: it fills reason and paths.
func (u *use) judge() {
	if strings.Contains(u.name, "/") || strings.HasPrefix(u.name, "*") {
		u.refuse("runs " + u.name)
		return
	}
	u.apply(lineOf(u.name))
}

// apply applies a line of the table.
func (u *use) apply(key string) {
	rule, options, ok := line(key)
	if !ok {
		u.refuse(strings.ReplaceAll(key, "/", " ") + " is not known to be read-only")
		return
	}
	rule, single := strings.CutPrefix(rule, "!")
	switch rule {
	case "print":
		u.operands = u.args
		u.text()
		return
	case "printf":
		u.printf()
		return
	case "version":
		u.version(options)
		return
	case "git":
		u.runGit()
		return
	case "sub", "sub0":
		u.subcommand(key, rule, options)
		return
	}
	u.options, u.single = options, single
	u.parse()
	if u.reason == "" {
		u.rule(key, rule)
	}
}

// rule judges the operands.
func (u *use) rule(key, rule string) {
	switch rule {
	case "none":
		u.atMost(0)
	case "one": // a second one would be written
		if u.atMost(1); u.late {
			u.refuse("an option after the file")
		}
		u.read(u.operands)
	case "text":
		u.text()
	case "paths", "revs":
		u.read(u.operands)
	case "pattern":
		u.pattern()
	case "find":
		u.read(slices.DeleteFunc(u.operands, func(w word) bool { return strings.Contains(" ( ) ! , ", " "+w.text+" ") }))
	case "response":
		if slices.ContainsFunc(u.operands, func(w word) bool { return strings.HasPrefix(w.text, "@") }) {
			u.refuse("takes its options from a file")
		}
		u.read(u.operands)
	case "lookup":
		if !u.has("-v", "-V") {
			u.refuse("runs a program through command")
		}
	case "date", "ps":
		u.plainOperands(rule)
	case "packages":
		u.packages()
	case "list":
		u.listing(key)
	case "config":
		u.config()
	case "sed", "awk", "jq":
		u.script(rule)
	default:
		u.refuse(u.name + " has an unknown rule")
	}
}

func (u *use) atMost(n int) {
	if len(u.operands) > n {
		u.refuse(u.name + " with " + u.operands[n].text)
	}
}

func (u *use) read(list []word) {
	for _, w := range list {
		u.path(w)
	}
}

// text takes operands that are not looked up, but a wildcard lists a directory.
func (u *use) text() {
	for _, w := range u.operands {
		if w.glob() {
			u.path(w)
		}
	}
}

// pattern takes a pattern, unless an option gave it, and then paths.
func (u *use) pattern() {
	list := u.operands
	if !u.has("-e", "--regexp", "-f", "--file", "--files", "--type-list") && len(list) > 0 {
		if list[0].glob() {
			u.path(list[0])
		}
		list = list[1:]
	}
	u.read(list)
}

func (u *use) version(options string) {
	if len(u.args) != 1 {
		u.refuse(u.name + " is not known to be read-only")
	} else if _, ok := option(options, u.args[0].text, true); !ok {
		u.refuse(u.name + " with " + u.args[0].text)
	}
}

// plainOperands takes the +FORMAT of date, or the BSD letters of ps without e, which shows environments.
func (u *use) plainOperands(rule string) {
	for _, w := range u.operands {
		fits := strings.HasPrefix(w.text, "+")
		if rule == "ps" {
			fits = strings.Trim(w.text, "auxfwlj") == ""
		}
		if !fits || w.glob() {
			u.refuse(u.name + " with " + w.text)
		}
	}
}

// packages takes Go package patterns. One with a version would be downloaded.
func (u *use) packages() {
	for _, w := range u.operands {
		if strings.Contains(w.text, "@") {
			u.refuse("go list downloads " + w.text)
		}
	}
	u.read(u.operands)
}

// printf takes a format whose conversions only print: %n would assign.
func (u *use) printf() {
	if len(u.args) > 0 && u.args[0].text == "--" {
		u.args = u.args[1:]
	}
	u.operands = u.args
	if len(u.args) == 0 {
		return
	}
	format := u.args[0]
	if format.glob() || strings.HasPrefix(format.text, "-") || !prints(format.text) {
		u.refuse("printf with a format that is not judged")
	}
	u.text()
}

func prints(format string) bool {
	for {
		_, rest, ok := strings.Cut(format, "%")
		if !ok {
			return true
		}
		format = strings.TrimLeft(rest, "-+ #0'123456789.*hlLjtz")
		if format == "" || strings.IndexByte("diouxXeEfFgGaAcsbq%(", format[0]) < 0 {
			return false
		}
		format = format[1:]
	}
}

// subcommand goes on with the line of a subcommand; with sub0 there may be none.
func (u *use) subcommand(key, rule, options string) {
	if len(u.args) > 0 && !strings.HasPrefix(u.args[0].text, "-") {
		name := u.args[0]
		u.args = u.args[1:]
		if strings.ContainsAny(name.text, "/\n ") {
			name.text = "…"
		}
		u.apply(key + "/" + name.text)
		return
	}
	if rule == "sub" {
		u.refuse(strings.ReplaceAll(key, "/", " ") + " needs a subcommand that is known to be read-only")
		return
	}
	u.options = options
	u.parse()
	u.atMost(0)
}

// runGit reads git's own options and goes on with the subcommand. Formats that verify signatures run gpg.
func (u *use) runGit() {
	for len(u.args) > 0 && strings.HasPrefix(u.args[0].text, "-") {
		switch w := u.args[0]; {
		case w.text == "--version" && len(u.args) == 1:
			return
		case w.text == "--no-pager" || w.text == "--no-optional-locks":
		case w.text == "-C" && len(u.args) > 1 && u.args[1].text != "" && !u.args[1].glob():
			u.args = u.args[1:]
			paths := located(u.args[0], u.in)
			u.paths = append(u.paths, paths...)
			u.in = nil
			for _, p := range paths {
				u.in = append(u.in, p.Text)
			}
		default:
			u.refuse("git with the option " + w.text)
			return
		}
		u.args = u.args[1:]
	}
	for _, w := range u.args {
		if strings.Contains(w.text, "%G") || strings.Contains(w.text, "(signature") {
			u.refuse("git runs gpg for " + w.text)
		}
	}
	u.subcommand("git", "sub", "")
}

// listing is git branch and git tag: a name creates one, unless an option makes it a filter.
func (u *use) listing(key string) {
	filters := []string{"--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}
	if !u.has(filters...) && !(key == "git/tag" && u.has("-l")) {
		u.atMost(0)
	}
}

// config is git config with one key to show, of a section that holds no secrets.
func (u *use) config() {
	if len(u.operands) == 0 {
		u.refuse("git config without a key")
		return
	}
	u.atMost(1)
	section, _, ok := strings.Cut(strings.ToLower(u.operands[0].text), ".")
	if !ok || u.operands[0].glob() || !slices.Contains([]string{"user", "core", "branch", "init", "pull", "push", "remote", "merge", "diff"}, section) {
		u.refuse("git config " + u.operands[0].text)
	}
}

// maxScript bounds the scripts that are read, in bytes.
const maxScript = 8 << 10

// script takes the text of a little language, then paths.
func (u *use) script(rule string) {
	list := u.operands
	if len(u.scripts) == 0 {
		if len(list) == 0 {
			u.refuse(u.name + " without a script")
			return
		}
		if list[0].glob() {
			u.refuse(u.name + " with a script that is not quoted")
		}
		u.scripts, list = []string{list[0].text}, list[1:]
	}
	if u.late && (rule == "sed" || rule == "awk") { // some take the first operand for the script then
		u.refuse(u.name + " with an option after the script")
	}
	text := strings.Join(u.scripts, "\n")
	reads := len(text) <= maxScript
	switch rule {
	case "sed":
		reads = reads && sedReads(text)
	case "awk":
		reads = reads && awkReads(text)
	default:
		reads = reads && jqReads(text)
	}
	if !reads {
		u.refuse(u.name + " with a script that may do more than print")
	}
	u.read(list)
}

func isBuiltin(name string) bool {
	return slices.Contains(strings.Fields(": [ cd command echo exit false printf pwd test true type"), name)
}
