// Package diff makes unified diffs of texts, counts their lines and applies them. It is pure.
package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

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
// from the new content to the old one and apply it to the new content. Every line must stand where the diff says, or the
// error says at which line of old it does not. An empty diff returns old.
func Apply(old []byte, unified string) ([]byte, error) {
	text, at := slices.Collect(strings.Lines(string(old))), 0 // at: how many lines of text are dealt with
	var out []string
	var before byte // the kind of the line before
	for line := range strings.Lines(unified) {
		switch kind := line[0]; kind {
		case '@':
			from := 0
			if _, err := fmt.Sscanf(line, "@@ -%d", &from); err != nil {
				return nil, fmt.Errorf("%.40q is no hunk header", line)
			}
			if from = max(from-1, 0); from < at || from > len(text) {
				return nil, fmt.Errorf("the diff goes on at line %d, but the text is at line %d of %d", from+1, at+1, len(text))
			}
			out, at = append(out, text[at:from]...), from
		case ' ', '-':
			if at == len(text) || strings.TrimSuffix(text[at], "\n") != strings.TrimSuffix(line[1:], "\n") {
				return nil, fmt.Errorf("line %d is not what the diff says", at+1)
			}
			if at++; kind == ' ' {
				out = append(out, text[at-1])
			}
		case '+':
			out = append(out, line[1:])
		case '\\': // the line before ends without a newline
			if before == '+' {
				out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "\n")
			}
		default:
			return nil, fmt.Errorf("the diff has a line that starts with %q", kind)
		}
		before = line[0]
	}
	return []byte(strings.Join(append(out, text[at:]...), "")), nil
}
