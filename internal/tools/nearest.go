package tools

import (
	"fmt"
	"strings"
)

const (
	nearLines  = 12     // lines that a hint shows
	nearSearch = 20_000 // lines of a file that are compared
	nearEnough = 0.4    // likeness below which nothing is shown
)

// nearest says which lines of the file are most like old, with numbers, for an edit that did not match.
func nearest(text, old string, mask func(string) string) string {
	lines, wanted := splitLines(text), splitLines(strings.Trim(old, "\r\n"))
	if len(lines) > nearSearch {
		lines = lines[:nearSearch]
	}
	at, best := 0, 0.0
	first := pairs(wanted, 0)
	exact := map[string]bool{}
	for _, w := range wanted {
		if w = strings.TrimSpace(w); w != "" {
			exact[w] = true
		}
	}
	hits := 0 // lines of old among the next len(wanted) lines
	for i := len(lines) - 1; i >= 0; i-- {
		if exact[strings.TrimSpace(lines[i])] {
			hits++
		}
		if end := i + len(wanted); end < len(lines) && exact[strings.TrimSpace(lines[end])] {
			hits--
		}
		if like := likeness(first, pairs(lines, i)) + float64(hits); like >= best {
			at, best = i, like
		}
	}
	if best < nearEnough {
		return " Nothing in it is like old: read the file again."
	}
	from, to := max(at-1, 0), min(at+len(wanted)+1, len(lines), at-1+nearLines)
	var out strings.Builder
	out.WriteString(" The nearest lines are:\n")
	for i, line := range splitLines(mask(strings.Join(lines[from:to], "\n"))) {
		short, _ := cutLine(line, maxColumn/10)
		fmt.Fprintf(&out, "%6d\t%s\n", from+i+1, short)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// pairs counts the pairs of neighbouring bytes in a line, blanks left out.
func pairs(lines []string, i int) map[[2]byte]int {
	out := map[[2]byte]int{}
	if i >= len(lines) {
		return out
	}
	line := strings.TrimSpace(lines[i])
	line = line[:min(len(line), maxColumn/10)]
	for k := 1; k < len(line); k++ {
		out[[2]byte{line[k-1], line[k]}]++
	}
	return out
}

// likeness is from 0 to 1: what share of the pairs two lines have in common.
func likeness(a, b map[[2]byte]int) float64 {
	common, all := 0, 0
	for p, n := range a {
		common += min(n, b[p])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(common) / float64(all)
}
