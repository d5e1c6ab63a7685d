package tools

import (
	"slices"
	"strings"
)

// Indentation is compared in columns: a block matches if its lines are all indented by the same number of columns more, or
// less, than old's. How many columns a tab stands for is guessed from the texts. New lines are moved by the same number and
// written with tabs where the file uses tabs, else with blanks.

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
