package tools

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Go's regexp is slow at passing over what does not match, and most of what is searched does not. So texts that every
// match must contain are taken from the pattern, found in the whole file with bytes.Index, and only the lines that hold one
// are matched. Where case is disregarded, the file's ASCII letters are made small first; k and s, which have further forms
// outside ASCII, are left out of the texts then.

// lineMatcher finds the lines that a pattern matches. It may be used by several goroutines.
type lineMatcher struct {
	re    *regexp.Regexp
	texts []string // a match contains one of these; nil: not known
	fold  bool     // the texts are small letters, for a file made so
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
	m.texts = required(tree.Simplify(), m.fold)
	return m, nil
}

// maxTexts is how many alternatives are looked for one by one.
const maxTexts = 12

// required returns texts one of which is in every match, nil if there are none to be known.
func required(re *syntax.Regexp, fold bool) (texts []string) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if fold {
			text = longestSmall(text)
		}
		if text != "" {
			return []string{text}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0], fold)
	case syntax.OpConcat: // the texts whose shortest is longest
		shortest := 0
		for _, sub := range re.Sub {
			if more := required(sub, fold); more != nil {
				n := len(slices.MinFunc(more, func(a, b string) int { return len(a) - len(b) }))
				if n > shortest {
					texts, shortest = more, n
				}
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			more := required(sub, fold)
			if texts = append(texts, more...); more == nil || len(texts) > maxTexts {
				return nil
			}
		}
	}
	return texts
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
// the texts in the same way; that two may become alike only costs a match of a line in vain.
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
	next := make([]int, len(m.texts)) // one more than where each text is found next
	number, counted := 1, 0
	for at := 0; at < len(data); {
		hit := at
		if m.texts != nil {
			if hit = m.candidate(hay, next, at); hit == len(data) {
				return
			}
		}
		start := at + bytes.LastIndexByte(data[at:hit], '\n') + 1
		end := len(data)
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

// candidate returns where the first of the texts is found from at on, or the length of hay.
func (m *lineMatcher) candidate(hay []byte, next []int, at int) int {
	for i, text := range m.texts {
		if next[i] <= at {
			next[i] = len(hay) + 1
			if n := bytes.Index(hay[at:], []byte(text)); n >= 0 {
				next[i] = at + n + 1
			}
		}
	}
	return slices.Min(next) - 1
}
