// Package diff makes unified diffs of texts, counts their lines and applies them. It is pure.
package diff

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// noNewline is what follows a line that ends its file without a newline, as git writes it.
const noNewline = "\\ No newline at end of file\n"

// Unified returns the hunks of a unified diff from old to new with three lines of context, without the two file lines.
// It is empty if they are equal. A missing final newline is marked as git does.
func Unified(old, new []byte) string {
	if bytes.Equal(old, new) {
		return ""
	}
	text := udiff.Unified("", "", string(old), string(new))
	return text[strings.Index(text, "@@"):]
}

// Count returns how many lines a unified diff adds and removes.
func Count(unified string) (added, removed int) {
	for line := range strings.Lines(unified) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}

// Apply returns what Unified's second text was, given its first one and its result. To take a change back, keep the diff
// from the new content to the old one and apply it to the new content. It is strict: every line must stand where the diff
// says, byte for byte, or the error says at which line of old it does not. An empty diff returns old.
func Apply(old []byte, unified string) ([]byte, error) {
	a := applier{old: string(old)}
	for unified != "" {
		header, rest, _ := strings.Cut(unified, "\n")
		from, counts, err := parseHeader(header)
		if err != nil {
			return nil, err
		}
		if err := a.copyTo(from); err != nil {
			return nil, err
		}
		if unified, err = a.hunk(rest, counts); err != nil {
			return nil, err
		}
	}
	return append(a.new, a.old...), nil
}

// applier holds what is left of the old text, the number of its next line (from 0), and the new text so far.
type applier struct {
	old  string
	line int
	new  []byte
}

// copyTo copies the lines before a hunk that starts at line from (from 0).
func (a *applier) copyTo(from int) error {
	if from < a.line {
		return fmt.Errorf("the diff goes back to line %d", from+1)
	}
	for a.line < from {
		line := firstLine(a.old)
		if line == "" {
			return fmt.Errorf("the text ends at line %d, the diff goes on at line %d", a.line, from+1)
		}
		a.new = append(a.new, line...)
		a.take(line)
	}
	return nil
}

func (a *applier) take(line string) { a.old, a.line = a.old[len(line):], a.line+1 }

// hunk applies the lines of one hunk, which takes counts[0] old lines and gives counts[1] new ones, and returns the text
// after it.
func (a *applier) hunk(text string, counts [2]int) (rest string, err error) {
	for counts[0] > 0 || counts[1] > 0 {
		marked := firstLine(text)
		text = text[len(marked):]
		if marked == "" || !strings.HasSuffix(marked, "\n") {
			return "", errors.New("the diff is cut short")
		}
		line := marked[1:]
		if strings.HasPrefix(text, noNewline) {
			line, text = strings.TrimSuffix(line, "\n"), text[len(noNewline):]
		}
		kind := marked[0]
		if kind != ' ' && kind != '-' && kind != '+' {
			return "", fmt.Errorf("the diff has a line that starts with %q", kind)
		}
		if kind != '+' {
			if line == "" || firstLine(a.old) != line {
				return "", fmt.Errorf("line %d is not what the diff says", a.line+1)
			}
			a.take(line)
			counts[0]--
		}
		if kind != '-' {
			a.new = append(a.new, line...)
			counts[1]--
		}
	}
	if counts != [2]int{} {
		return "", errors.New("the diff has more lines than its header says")
	}
	return text, nil
}

// parseHeader reads "@@ -FROM[,COUNT] +TO[,COUNT] @@". from is the first old line of the hunk, counted from 0.
func parseHeader(header string) (from int, counts [2]int, err error) {
	fields := strings.Fields(header)
	if len(fields) != 4 || fields[0] != "@@" || fields[3] != "@@" {
		return 0, counts, fmt.Errorf("%.40q is no hunk header", header)
	}
	for i, sign := range []string{"-", "+"} {
		start, count, counted := strings.Cut(strings.TrimPrefix(fields[1+i], sign), ",")
		if !counted {
			count = "1"
		}
		n, err1 := strconv.ParseUint(start, 10, 31)
		c, err2 := strconv.ParseUint(count, 10, 31)
		if err1 != nil || err2 != nil || n == 0 && c != 0 {
			return 0, counts, fmt.Errorf("%.40q is no hunk header", header)
		}
		counts[i] = int(c)
		if i == 0 {
			from = max(int(n)-1, 0)
		}
	}
	return from, counts, nil
}

// firstLine returns the first line of text with its newline.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return text[:min(len(line)+1, len(text))]
}
