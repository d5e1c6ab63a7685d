package tools

import (
	"slices"
	"strings"
)

// An edit's old text is looked for in four ways, each more forgiving than the one before; the first that finds it counts.
// Bytes outside a match never change. In the ways that go by lines, lines that old and new have in common stay as the file
// has them, and new gets the file's line endings.

// match is a place in a file's text and what comes there.
type match struct {
	start, end int
	text       string
}

// way is a way of looking: find returns the matches, all of them that don't overlap for an edit of all places. how says for
// the result in what the match was not exact.
type way struct {
	how  string
	find func(body string, e edit) []match
}

var ways = []way{
	{"", exact},
	{"with the file's line endings", anyLineEnds},
	{"with blanks at line ends ignored", anyBlanksAtEnd},
	{"with another indentation; new was indented as the file is", anyIndentation},
}

func exact(body string, e edit) (found []match) {
	text := e.New
	if !strings.Contains(e.Old, "\r") && lineEnd(body) == "\r\n" {
		text = withEnds(text, "\r\n")
	}
	for at := 0; ; {
		i := strings.Index(body[at:], e.Old)
		if i < 0 {
			return found
		}
		i += at
		found = append(found, match{i, i + len(e.Old), text})
		if at = i + 1; e.All {
			at = i + len(e.Old)
		}
	}
}

func anyLineEnds(body string, e edit) []match {
	if !strings.Contains(e.Old, "\n") {
		return nil
	}
	var carriages []int // where in the plain text the newlines are that had a \r in front
	plain := strings.ReplaceAll(body, "\r\n", "\n")
	for at, n := 0, 0; ; n++ {
		i := strings.Index(body[at:], "\r\n")
		if i < 0 {
			break
		}
		carriages = append(carriages, at+i-n)
		at += i + 2
	}
	real := func(at int) int {
		before, _ := slices.BinarySearch(carriages, at)
		return at + before
	}
	found := exact(plain, edit{withEnds(e.Old, "\n"), e.New, e.All})
	for i, m := range found {
		start, end := real(m.start), real(m.end)
		found[i] = match{start, end, withEnds(e.New, endOf(body, start, end))}
	}
	return found
}

// endOf is the line ending to use for new text in place of body[start:end].
func endOf(body string, start, end int) string {
	if all := lineEnd(body); all != "" {
		return all
	}
	if strings.Contains(body[start:end], "\r\n") {
		return "\r\n"
	}
	return "\n"
}

func anyBlanksAtEnd(body string, e edit) []match {
	return byLines(body, e, func(old, file []string) func(string) string {
		for i := range old {
			if strings.TrimRight(old[i], " \t\r\n") != strings.TrimRight(file[i], " \t\r\n") {
				return nil
			}
		}
		return func(line string) string { return line }
	})
}

// byLines looks for whole lines. fits compares old's lines with as many of the file and returns how a line of new is to be
// written there, or nil if they don't match. Lines have their ends.
func byLines(body string, e edit, fits func(old, file []string) func(string) string) (found []match) {
	old, lines := pieces(withEnds(e.Old, "\n")), pieces(body)
	if strings.TrimSpace(e.Old) == "" {
		return nil
	}
	offset := 0
	for i := 0; i+len(old) <= len(lines); i++ {
		file := lines[i : i+len(old)]
		write := fits(old, file)
		if write == nil {
			offset += len(lines[i])
			continue
		}
		m := match{start: offset, end: offset + len(strings.Join(file, ""))}
		file = slices.Clone(file)
		if last := len(old) - 1; !strings.HasSuffix(old[last], "\n") { // the line's end is no part of the match
			line := strings.TrimRight(file[last], "\r\n")
			m.end -= len(file[last]) - len(line)
			file[last] = line
		}
		m.text = rewrite(file, old, pieces(withEnds(e.New, "\n")), write, endOf(body, m.start, m.end))
		found = append(found, m)
		skip := 1
		if e.All {
			skip = len(old)
		}
		for _, line := range lines[i : i+skip] {
			offset += len(line)
		}
		i += skip - 1
	}
	return found
}

// pieces splits text into lines with their ends.
func pieces(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// rewrite makes the lines of a file that old matched into new ones: what old and new begin and end with alike stays as it is.
// It may change file.
func rewrite(file, old, new []string, write func(string) string, end string) string {
	last := len(file) - 1
	unended := strings.HasSuffix(old[last], "\n") && !strings.HasSuffix(file[last], "\n") // the end of a file without a final newline
	if unended {
		file[last] += end
	}
	head := 0
	for head < min(len(old), len(new)) && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(new))-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	var out strings.Builder
	for _, line := range file[:head] {
		out.WriteString(line)
	}
	for _, line := range new[head : len(new)-tail] {
		out.WriteString(withEnds(write(line), end))
	}
	for _, line := range file[len(file)-tail:] {
		out.WriteString(line)
	}
	if unended {
		return strings.TrimSuffix(out.String(), end)
	}
	return out.String()
}
