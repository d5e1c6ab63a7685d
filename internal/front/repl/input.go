package repl

import (
	"slices"
	"strings"
)

// input is the text that is being written, with what was written before and what could complete it.
type input struct {
	editor
	plain   bool     // it began with a paste, or came from one: no command
	pasted  []string // what was put in by pastes: no @ in it names a file
	history []string
	back    int    // how many entries back is shown, 0: none
	draft   string // what was written before the first look back
	query   string // what Ctrl-R looks for, while it is pressed again and again
	menu    []choice
	chosen  int
	files   []path // what an @ may name, as long as one is written
	walking bool   // they are being looked for
}

// choice is a row of the completion menu: what to put in, and what it is.
type choice struct{ text, help string }

// reset empties the input.
func (in *input) reset() {
	in.set("")
	in.plain, in.pasted, in.back, in.query, in.menu = false, nil, 0, "", nil
}

// paste puts text in as it is. Where it stands first, blanks aside, no character of it is a command's.
func (in *input) paste(text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	in.plain = in.plain || in.blankBefore()
	in.pasted = append(in.pasted, text)
	in.insert(text)
	in.menu = nil
}

// before puts text that was not sent in front of what is written. It was a message, so it is no command.
func (in *input) before(text string) {
	if text != "" {
		in.set(strings.TrimSuffix(text+"\n"+in.text(), "\n"))
		in.plain = true
	}
}

// remember adds an entry to the history; false if it is the last one again, or was pasted and would come back as a command.
func (in *input) remember(text string) bool {
	n := len(in.history)
	if text == "" || n > 0 && in.history[n-1] == text || in.plain && strings.ContainsAny(text[:1], "!/") {
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

// mention is the file name that is being written at the cursor, @NAME or @"NAME WITH BLANKS"; ok is false if there is none.
func (in *input) mention() (written, name string, ok bool) {
	text := strings.Join(in.cells[:in.at], "")
	start := strings.LastIndexAny(text, " \t\n") + 1
	if quoted := strings.LastIndex(text, `@"`); quoted >= 0 && !strings.Contains(text[quoted+2:], `"`) {
		start = quoted
	}
	name, ok = strings.CutPrefix(text[start:], "@")
	return text[start:], strings.TrimPrefix(name, `"`), ok && !in.inPaste(text[start:])
}

// inPaste says whether words came with a paste.
func (in *input) inPaste(words string) bool {
	return slices.ContainsFunc(in.pasted, func(paste string) bool { return strings.Contains(paste, words) })
}

// named lists the names behind a typed @ in a text.
func (in *input) named(text string) (names []string) {
	for i, c := range text {
		if c != '@' || i > 0 && !strings.ContainsRune(" \t\n", rune(text[i-1])) {
			continue
		}
		name, quoted := strings.CutPrefix(text[i+1:], `"`)
		end := strings.IndexAny(name, map[bool]string{true: `"`, false: " \t\n"}[quoted])
		if end < 0 {
			end = len(name)
		}
		if name = name[:end]; name != "" && !in.inPaste(text[i:i+1+len(name)]) {
			names = append(names, name)
		}
	}
	return names
}

// complete looks for what could go on from the cursor. It returns true where the files have to be looked for first.
func (in *input) complete(commands []Command) (walk bool) {
	in.menu, in.chosen = nil, 0
	if name, ok := strings.CutPrefix(in.text(), "/"); ok && !in.plain && !strings.ContainsAny(name, " \n/") {
		for _, c := range commands {
			if strings.HasPrefix(c.Name, name) {
				in.menu = append(in.menu, choice{"/" + c.Name, strings.TrimSpace(c.Args + "  " + c.Help)})
			}
		}
	}
	_, name, ok := in.mention()
	if !ok {
		in.files = nil
		return false
	}
	for _, f := range best(in.files, name) {
		if f == name {
			continue // nothing is missing
		}
		if strings.Contains(f, " ") {
			f = `"` + strings.TrimSuffix(f+`"`, `/"`)
			if !strings.HasSuffix(f, `"`) {
				f += "/" // and more to come
			}
		}
		in.menu = append(in.menu, choice{"@" + f, ""})
	}
	return in.files == nil && !in.walking
}

// path is one that an @ may name: as it is, in lower case, and how many directories it is below the top.
type path struct {
	name, low string
	depth     int
}

// paths makes names ready to be searched with each key.
func paths(names []string) []path {
	out := make([]path, len(names))
	for i, name := range names {
		out[i] = path{name, strings.ToLower(name), min(strings.Count(strings.TrimSuffix(name, "/"), "/"), deepest)}
	}
	return out
}

const deepest = 63 // deeper ones count as this deep

// best are at most 20 of the paths that hold what was written: first those that begin so, then those whose last name does, those near
// the top before others.
func best(all []path, written string) (out []string) {
	const most = 20
	low := strings.ToLower(written)
	var found [3 * (deepest + 1)][]string
	for _, p := range all {
		at := strings.Index(p.low, low)
		if at < 0 {
			continue
		}
		rank := 2
		if at == 0 {
			rank = 0
		} else if base := strings.LastIndexByte(strings.TrimSuffix(p.low, "/"), '/') + 1; strings.HasPrefix(p.low[base:], low) {
			rank = 1
		}
		if row := &found[rank*(deepest+1)+p.depth]; len(*row) < most {
			*row = append(*row, p.name)
		}
	}
	out = slices.Concat(found[:]...)
	return out[:min(len(out), most)]
}

// accept puts the chosen row in place of what is written at the cursor.
func (in *input) accept() {
	text := in.menu[in.chosen].text
	written, _, ok := in.mention()
	if !ok {
		written = strings.Join(in.cells[:in.at], "")
	}
	in.cut(in.at-len(cells(written)), in.at)
	if strings.HasSuffix(text, "/") {
		in.insert(text)
		in.complete(nil) // what is in it
		return
	}
	in.insert(text + " ")
	in.menu = nil
}
