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

// nearest says which lines of the file are most like old, with numbers, for an edit that did not match: those with the most
// of its lines, and the likest first one.
func nearest(text, old string, mask func(string) string) string {
	lines, wanted := splitLines(text), splitLines(strings.Trim(old, "\r\n"))
	lines = lines[:min(len(lines), nearSearch)]
	exact := map[string]bool{}
	for _, w := range wanted {
		exact[strings.TrimSpace(w)] = strings.TrimSpace(w) != ""
	}
	first := pairs(strings.Join(wanted[:min(len(wanted), 1)], ""))
	at, best, hits := 0, 0.0, 0 // hits: lines of old among the next len(wanted) lines
	for i := len(lines) - 1; i >= 0; i-- {
		if exact[strings.TrimSpace(lines[i])] {
			hits++
		}
		if end := i + len(wanted); end < len(lines) && exact[strings.TrimSpace(lines[end])] {
			hits--
		}
		if like := likeness(first, pairs(lines[i])) + float64(hits); like >= best {
			at, best = i, like
		}
	}
	if best < nearEnough {
		return " Nothing in it is like old: read the file again."
	}
	from, to := max(at-1, 0), min(at+len(wanted)+1, len(lines), at-1+nearLines)
	out := " The nearest lines are:"
	for i, line := range splitLines(mask(strings.Join(lines[from:to], "\n"))) {
		short, _ := cutLine(line, maxColumn/10)
		out += fmt.Sprintf("\n%6d\t%s", from+i+1, short)
	}
	return strings.ToValidUTF8(out, "\ufffd")
}

// pairs are the pairs of neighbouring bytes in a line.
func pairs(line string) map[string]bool {
	line = strings.TrimSpace(line)
	line = line[:min(len(line), maxColumn/10)]
	out := map[string]bool{}
	for i := range max(len(line)-1, 0) {
		out[line[i:i+2]] = true
	}
	return out
}

// likeness is from 0 to 1: what share of their pairs two lines have in common.
func likeness(a, b map[string]bool) float64 {
	common := 0
	for p := range a {
		if b[p] {
			common++
		}
	}
	return 2 * float64(common) / float64(max(len(a)+len(b), 1))
}
