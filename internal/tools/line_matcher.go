package tools

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Go's regexp is slow at passing over what does not match, and most of what is searched does not. So a text that every match
// must contain is taken from the pattern, found in the whole file with bytes.Index, and only the lines that hold it are matched.
// Where case is disregarded, the file's ASCII letters are made small first; k and s, which have further forms outside
// ASCII, are left out of the text then.

// lineMatcher finds the lines that a pattern matches. It may be used by several goroutines.
type lineMatcher struct {
	re   *regexp.Regexp
	text []byte // every match contains it; may be empty
	fold bool   // it is in small letters, for a file made so
}

func newLineMatcher(pattern string, ignoreCase bool) (*lineMatcher, error) {
	if pattern == "" {
		return nil, fmt.Errorf("pattern is empty")
	}
	if ignoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern is broken: %w. It is an RE2 expression: escape ( [ { * + ? . to find them as they are", err)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	m := &lineMatcher{re: re, fold: strings.Contains(tree.String(), "(?i")}
	m.text = []byte(required(tree.Simplify(), m.fold))
	return m, nil
}

// required returns the longest text known to be in every match, "" if there is none.
func required(re *syntax.Regexp, fold bool) (text string) {
	switch re.Op {
	case syntax.OpLiteral:
		if text = string(re.Rune); fold {
			text = longestSmall(text)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0], fold)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if more := required(sub, fold); len(more) > len(text) {
				text = more
			}
		}
	}
	return text
}

// longestSmall returns the longest run of ASCII without k and s, in small letters.
func longestSmall(text string) (longest string) {
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r > 126 || strings.ContainsRune("kKsS", r) }) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return string(smallLetters([]byte(longest)))
}

// smallLetters returns data with one bit set in each byte, which makes ASCII capitals small. Other bytes change too, those of
// the text in the same way; that two may become alike only costs a match of a line in vain.
func smallLetters(data []byte) []byte {
	out := make([]byte, len(data))
	for i, c := range data {
		out[i] = c | 0x20
	}
	return out
}

// lines calls yield with the number of each line that matches, from 1, until it returns false.
func (m *lineMatcher) lines(data []byte, yield func(number int) bool) {
	hay := data
	if m.fold {
		hay = smallLetters(data)
	}
	number, counted := 1, 0
	for at := 0; at < len(data); {
		hit := bytes.Index(hay[at:], m.text)
		if hit < 0 {
			return
		}
		hit += at
		start, end := at+bytes.LastIndexByte(data[at:hit], '\n')+1, len(data)
		if n := bytes.IndexByte(data[hit:], '\n'); n >= 0 {
			end = hit + n
		}
		if m.re.Match(bytes.TrimSuffix(data[start:end], []byte("\r"))) {
			number += bytes.Count(data[counted:start], []byte("\n"))
			counted = start
			if !yield(number) {
				return
			}
		}
		at = end + 1
	}
}
