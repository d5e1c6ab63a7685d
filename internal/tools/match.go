package tools

import (
	"regexp"
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

func exact(body string, e edit) []match {
	end := ""
	if !strings.Contains(e.Old, "\r") && lineEnd(body) == "\r\n" {
		end = "\r\n"
	}
	return each(body, e, func(s string) []int {
		if at := strings.Index(s, e.Old); at >= 0 {
			return []int{at, at + len(e.Old)}
		}
		return nil
	}, func(int, int) string { return end })
}

func anyLineEnds(body string, e edit) []match {
	if !strings.Contains(e.Old, "\n") || strings.Contains(e.Old, "\ufffd") { // which an expression finds in any byte that is no UTF-8
		return nil
	}
	old := regexp.QuoteMeta(withEnds(e.Old, "\n"))
	re, err := regexp.Compile(strings.ReplaceAll(old, "\n", "\r?\n"))
	if err != nil { // too long
		return nil
	}
	return each(body, e, re.FindStringIndex, func(start, end int) string { return endOf(body, start, end) })
}

// each goes through the places that find returns, and gives new the line ending that lineEnd says for a place.
func each(body string, e edit, find func(string) []int, lineEnd func(start, end int) string) (found []match) {
	for at := 0; ; {
		place := find(body[at:])
		if place == nil {
			return found
		}
		m := match{start: at + place[0], end: at + place[1]}
		m.text = withEnds(e.New, lineEnd(m.start, m.end))
		found = append(found, m)
		if at = m.start + 1; e.All {
			at = m.end
		}
	}
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
// written there, or nil if they don't match.
func byLines(body string, e edit, fits func(old, file []string) func(string) string) (found []match) {
	old, text := withEnds(e.Old, "\n"), withEnds(e.New, "\n")
	if strings.HasSuffix(old, "\n") && strings.HasSuffix(text, "\n") { // the last line's end stays as it is
		old, text = unended(old), unended(text)
	}
	if strings.TrimSpace(old) == "" {
		return nil
	}
	wanted, lines := slices.Collect(strings.Lines(old)), slices.Collect(strings.Lines(body))
	for i, at := 0, 0; i+len(wanted) <= len(lines); {
		step, file := 1, lines[i:i+len(wanted)]
		if write := fits(wanted, file); write != nil {
			whole := strings.Join(file, "")
			end := endOf(body, at, at+len(whole))
			if !strings.HasSuffix(old, "\n") {
				whole = unended(whole)
			}
			found = append(found, match{at, at + len(whole), rewrite(file, wanted, slices.Collect(strings.Lines(text)), write, end)})
			if e.All {
				step = len(wanted)
			}
		}
		for range step {
			at += len(lines[i])
			i++
		}
	}
	return found
}

// rewrite makes the lines of a file that old matched into new ones: what old and new begin and end with alike stays as it
// is. It ends with a line ending if new does.
func rewrite(file, old, new []string, write func(string) string, end string) string {
	same := func(i, k int) bool { return unended(old[i]) == unended(new[k]) }
	shorter, head, tail := min(len(old), len(new)), 0, 0
	for head < shorter && same(head, head) {
		head++
	}
	for tail < shorter-head && same(len(old)-1-tail, len(new)-1-tail) {
		tail++
	}
	lines := slices.Clone(file[:head])
	for _, line := range new[head : len(new)-tail] {
		lines = append(lines, write(unended(line))+end)
	}
	lines = append(lines, file[len(file)-tail:]...)
	for i := range lines {
		if !strings.HasSuffix(lines[i], "\n") { // the last one of the file
			lines[i] += end
		}
	}
	out := strings.Join(lines, "")
	if len(new) == 0 || !strings.HasSuffix(new[len(new)-1], "\n") {
		out = unended(out)
	}
	return out
}
