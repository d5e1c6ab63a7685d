package tools

import "strings"

// Indentation is compared in columns: a block matches if its lines are all indented by the same number of columns more, or
// less, than old's. How many columns a tab stands for is guessed from the texts. New lines are moved by the same number and
// written with tabs where the file uses tabs, else with blanks.

func anyIndentation(body string, e edit) []match {
	tabbed := strings.Contains(body, "\n\t") || strings.HasPrefix(body, "\t")
	units := append(tabWidths(body, e), 4, 2, 8, 3)
	return byLines(body, e, func(old, file []string) func(string) string {
		for i := range old {
			if strings.TrimSpace(old[i]) != strings.TrimSpace(file[i]) {
				return nil
			}
		}
		for _, unit := range units {
			if by, ok := shift(old, file, unit); ok {
				return func(line string) string { return indent(line, by, unit, usesTabs(file, tabbed)) }
			}
		}
		return nil
	})
}

// tabWidths guesses how many columns a tab has: as many as the steps of the indentation with blanks, of old and new or else
// of the file.
func tabWidths(body string, e edit) (units []int) {
	for _, text := range []string{e.Old + "\n" + e.New, body} {
		step := 0
		for _, line := range splitLines(text) {
			if white := leading(line); white != line && !strings.Contains(white, "\t") {
				step = gcd(step, len(white))
			}
		}
		if step > 1 && step <= 8 {
			units = append(units, step)
		}
	}
	return units
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
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

// usesTabs says whether lines are indented with tabs; for lines without indentation the file's way counts.
func usesTabs(lines []string, file bool) bool {
	for _, line := range lines {
		if white := leading(line); white != "" && strings.TrimSpace(line) != "" {
			return white[0] == '\t'
		}
	}
	return file
}

func indent(line string, by, unit int, tabs bool) string {
	white := leading(line)
	rest := line[len(white):]
	if strings.TrimSpace(rest) == "" {
		return rest
	}
	columns := max(width(white, unit)+by, 0)
	if !tabs {
		return strings.Repeat(" ", columns) + rest
	}
	return strings.Repeat("\t", columns/unit) + strings.Repeat(" ", columns%unit) + rest
}

// leading is the blanks and tabs that a line starts with.
func leading(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

func width(white string, unit int) int {
	n := 0
	for _, c := range white {
		if c == '\t' {
			n += unit - n%unit
		} else {
			n++
		}
	}
	return n
}
