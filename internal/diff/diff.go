// Package diff makes unified diffs of texts, counts their lines and applies them. It is pure.
package diff

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
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
	text, diff := slices.Collect(strings.Lines(string(old))), slices.Collect(strings.Lines(unified))
	var out []string
	at := 0 // how many lines of text are dealt with
	for len(diff) > 0 {
		from, counts, err := parseHeader(diff[0])
		if err != nil {
			return nil, err
		}
		if from < at || from > len(text) {
			return nil, fmt.Errorf("the diff goes on at line %d, but the text is at line %d of %d", from+1, at+1, len(text))
		}
		out = append(out, text[at:from]...)
		at, diff = from, diff[1:]
		for counts[0] > 0 || counts[1] > 0 {
			if len(diff) == 0 || !strings.HasSuffix(diff[0], "\n") {
				return nil, errors.New("the diff is cut short")
			}
			kind, line := diff[0][0], diff[0][1:]
			if diff = diff[1:]; len(diff) > 0 && diff[0] == noNewline {
				line, diff = strings.TrimSuffix(line, "\n"), diff[1:]
			}
			if !strings.ContainsRune(" -+", rune(kind)) {
				return nil, fmt.Errorf("the diff has a line that starts with %q", kind)
			}
			if kind != '+' {
				if at == len(text) || text[at] != line {
					return nil, fmt.Errorf("line %d is not what the diff says", at+1)
				}
				at, counts[0] = at+1, counts[0]-1
			}
			if kind != '-' {
				out, counts[1] = append(out, line), counts[1]-1
			}
		}
		if counts != [2]int{} {
			return nil, errors.New("the diff has more lines than its header says")
		}
	}
	return []byte(strings.Join(append(out, text[at:]...), "")), nil
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
