package repl

import (
	"slices"
	"strings"
)

// input is the text that is being written, with what was written before and what could complete it.
type input struct {
	editor
	plain   bool // it began with a paste, or came from one: no command, no file
	history []string
	back    int    // how many entries back is shown, 0: none
	draft   string // what was written before the first look back
	query   string // what Ctrl-R looks for, while it is pressed again and again
	menu    []choice
	chosen  int
}

// choice is a row of the completion menu: what to put in, and what it is.
type choice struct{ text, help string }

func newInput(o Options) input { return input{history: slices.Clone(o.History)} }

// reset empties the input.
func (in *input) reset() {
	in.set("")
	in.plain, in.back, in.query, in.menu = false, 0, "", nil
}

// paste puts text in as it is. Where it stands first, blanks aside, no character of it is a command's.
func (in *input) paste(text string) {
	in.plain = in.plain || in.blankBefore()
	in.insert(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	in.menu = nil
}

// remember adds an entry to the history; false if it is the last one again, or was pasted and would come back as a command.
func (in *input) remember(text string) bool {
	if n := len(in.history); n > 0 && in.history[n-1] == text || in.plain && strings.ContainsAny(text[:1], "!/") {
		return false
	}
	in.history = append(in.history, text)
	return true
}

// look shows an older (1) or newer (-1) entry.
func (in *input) look(by int) {
	if in.back == 0 {
		in.draft = in.text()
	}
	back := min(max(in.back+by, 0), len(in.history))
	if back == in.back {
		return
	}
	if in.back = back; back == 0 {
		in.set(in.draft)
	} else {
		in.set(in.history[len(in.history)-back])
	}
}

// search shows the next older entry that holds what was written.
func (in *input) search() {
	if in.query == "" {
		in.query, in.draft, in.back = in.text(), in.text(), 0
	}
	for back := in.back + 1; back <= len(in.history); back++ {
		if entry := in.history[len(in.history)-back]; strings.Contains(strings.ToLower(entry), strings.ToLower(in.query)) {
			in.back = back
			in.set(entry)
			return
		}
	}
}

// part is what stands behind the @ at the cursor; ok is false if there is none.
func (in *input) part() (part string, ok bool) { return strings.CutPrefix(in.word(), "@") }

// slash is the name that is being written of a command.
func (in *input) slash() (name string, ok bool) {
	name, ok = strings.CutPrefix(in.text(), "/")
	return name, ok && !in.plain && !strings.ContainsAny(name, " \n/")
}

// offer shows the files that were found, unless the user has gone on.
func (in *input) offer(found completed) {
	if part, ok := in.part(); !ok || part != found.part {
		return
	}
	in.menu, in.chosen = nil, 0
	for _, f := range found.found {
		in.menu = append(in.menu, choice{"@" + f, ""})
	}
}

// accept puts the chosen row in place of the word at the cursor.
func (in *input) accept() {
	text := in.menu[in.chosen].text
	in.cut(in.at-len(cells(in.word())), in.at)
	if !strings.HasSuffix(text, "/") {
		text += " "
	}
	in.insert(text)
	in.menu = nil
}
