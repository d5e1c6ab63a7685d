package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTroubleshooting holds the messages that docs/troubleshooting.md and docs/models.md quote against the source: every
// piece of a message between two "…" must be in it.
func TestTroubleshooting(t *testing.T) {
	var source strings.Builder
	literal := regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`")
	err := filepath.WalkDir("internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, quoted := range literal.FindAllString(string(data), -1) {
			if s, bad := strconv.Unquote(quoted); bad == nil {
				source.WriteString(regexp.MustCompile(`%[a-z]`).ReplaceAllString(s, "…") + "…")
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"docs/troubleshooting.md", "docs/models.md"} {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		quotes := 0
		_, rest, _ := strings.Cut(string(data), "| you see |")
		for line := range strings.Lines(rest) {
			cell, _, ok := strings.Cut(strings.TrimPrefix(line, "|"), " | ")
			if !ok || !strings.HasPrefix(line, "| `") {
				continue
			}
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
				quotes++
				for piece := range strings.SplitSeq(m[1], "…") {
					if piece = strings.TrimSpace(piece); len(piece) > 3 && !strings.Contains(source.String(), piece) {
						t.Errorf("%s quotes %q, but %q is in no message of the program", page, m[1], piece)
					}
				}
			}
		}
		if quotes < 3 {
			t.Errorf("%s: only %d messages found", page, quotes)
		}
	}
}
