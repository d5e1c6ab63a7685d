package tools

import (
	"slices"
	"strings"
)

// An edit's old text is looked for in three ways, each more forgiving than the one before; the first that finds it counts.
// Bytes outside a match never change. In the ways that go by lines, lines that old and new have in common stay as the file
// has them, and new gets the line endings of the place.
//
// Indentation is compared in columns: a block matches if its lines are all indented by the same number of columns more, or
// less, than old's. How many columns a tab stands for is guessed from the texts. New lines are moved by the same number and
// written with tabs where the file uses tabs, else with blanks.

// match is a place in a file's text and what comes there.
type match struct {
	start, end int
	text       string
}

// ways: find returns the matches; for an edit of all places they don't overlap. how says in what a match was not exact.
var ways = []struct {
	how  string
	find func(body string, e edit) []match
}{
	{"", exact},
	{"with blanks at line ends ignored", anyBlanksAtEnd},
	{"with another indentation; new was indented as the file is", anyIndentation},
}

func exact(body string, e edit) (found []match) {
	for at := 0; ; {
		i := strings.Index(body[at:], e.Old)
		if i < 0 {
			return found
		}
		m := match{at + i, at + i + len(e.Old), e.New}
		found = append(found, m)
		if at = m.start + 1; e.All {
			at = m.end
		}
	}
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
			end := "\n"
			if strings.Contains(whole, "\r\n") {
				end = "\r\n"
			}
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

func anyIndentation(body string, e edit) []match {
	units := []int{steps(e.Old + "\n" + e.New), steps(body), 4, 2, 8, 3} // columns that a tab may have
	units = slices.DeleteFunc(units, func(n int) bool { return n < 2 || n > 8 })
	return byLines(body, e, func(old, file []string) func(string) string {
		for i := range old {
			if strings.TrimSpace(old[i]) != strings.TrimSpace(file[i]) {
				return nil
			}
		}
		for _, unit := range units {
			if by, ok := shift(old, file, unit); ok {
				block := strings.Join(file, "")
				tabs := indentedWith("\t", block) || !indentedWith(" ", block) && indentedWith("\t", body)
				return func(line string) string { return indent(line, by, unit, tabs) }
			}
		}
		return nil
	})
}

// steps is in what steps lines are indented with blanks.
func steps(text string) (step int) {
	for line := range strings.Lines(text) {
		white := leading(line)
		if strings.TrimSpace(line) == "" || strings.Contains(white, "\t") {
			continue
		}
		for n := len(white); n > 0; { // the greatest common divisor
			step, n = n, step%n
		}
	}
	return step
}

func indentedWith(white, text string) bool {
	return strings.HasPrefix(text, white) || strings.Contains(text, "\n"+white)
}

// shift returns by how many columns the file's lines are indented more than old's, if it is the same for all.
func shift(old, file []string, unit int) (by int, ok bool) {
	for i := range old {
		if strings.TrimSpace(old[i]) == "" {
			continue
		}
		n := width(leading(file[i]), unit) - width(leading(old[i]), unit)
		if ok && n != by {
			return 0, false
		}
		by, ok = n, true
	}
	return by, ok
}

func indent(line string, by, unit int, tabs bool) string {
	rest := strings.TrimLeft(line, " \t")
	columns := max(width(leading(line), unit)+by, 0)
	switch {
	case strings.TrimSpace(rest) == "":
		return rest
	case tabs:
		return strings.Repeat("\t", columns/unit) + strings.Repeat(" ", columns%unit) + rest
	}
	return strings.Repeat(" ", columns) + rest
}

// leading is the blanks and tabs that a line starts with.
func leading(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

func width(white string, unit int) (columns int) {
	for _, c := range white {
		if c == '\t' {
			columns += unit - columns%unit
		} else {
			columns++
		}
	}
	return columns
}
