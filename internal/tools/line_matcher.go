package tools

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Go's regexp is slow at passing over what does not match, and most of what is searched does not. So texts that every
// match must contain are taken from the pattern, found in the whole file with bytes.Index, and only the lines that hold one
// are matched. Without regard to case, the file's ASCII letters are made small first; k and s, which have further forms
// outside ASCII, are left out of the texts then.

// lineMatcher finds the lines that a pattern matches. It may be used by several goroutines.
type lineMatcher struct {
	re    *regexp.Regexp
	texts [][]byte // a match contains one of these; nil: not known
	fold  bool     // the texts are small letters, for a file made so
	plain bool     // the pattern is just its text
	small sync.Pool
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
	m := &lineMatcher{re: re, small: sync.Pool{New: func() any { return new([]byte) }}}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	tree = tree.Simplify()
	texts, fold := required(tree)
	for _, t := range texts {
		m.texts = append(m.texts, []byte(t))
	}
	m.fold = fold
	m.plain = tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 && !strings.Contains(string(tree.Rune), "\n")
	return m, nil
}

const (
	maxTexts = 12 // alternatives that are looked for one by one
	minText  = 2  // bytes that make a text worth looking for
)

// required returns texts one of which is in every match, nil if there are none to be known; fold says that they stand for
// all cases of their letters.
func required(re *syntax.Regexp) (texts []string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			text, fold = longestSmall(text), true
		}
		if len(text) >= minText || !fold && len(text) == 1 {
			return []string{text}, fold
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if more, f := required(sub); better(more, texts) {
				texts, fold = more, f
			}
		}
		return texts, fold
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			more, f := required(sub)
			if more == nil || len(texts)+len(more) > maxTexts {
				return nil, false
			}
			texts, fold = append(texts, more...), fold || f
		}
		if fold {
			return smallAll(texts)
		}
		return texts, fold
	}
	return nil, false
}

// better says whether texts a are rarer than b: the shortest is longer.
func better(a, b []string) bool {
	shortest := func(list []string) int {
		return len(slices.MinFunc(list, func(x, y string) int { return len(x) - len(y) }))
	}
	return a != nil && (b == nil || shortest(a) > shortest(b))
}

// longestSmall returns the longest run of ASCII without k and s, in small letters.
func longestSmall(text string) (longest string) {
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r > 126 || strings.ContainsRune("kKsS", r) }) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return string(smallLetters(nil, []byte(longest)))
}

func smallAll(texts []string) ([]string, bool) {
	for i, t := range texts {
		if texts[i] = longestSmall(t); len(texts[i]) < minText {
			return nil, false
		}
	}
	return texts, true
}

// smallLetters returns data, written to buf, with one bit set in each byte, which makes ASCII capitals small. Other bytes
// change too, those of the texts in the same way; that two may become alike only costs a match of a line in vain.
func smallLetters(buf, data []byte) []byte {
	const bit, bits = 0x20, 0x2020_2020_2020_2020
	buf = append(buf[:0], data...)
	i := 0
	for ; i+8 <= len(buf); i += 8 {
		word := buf[i : i+8]
		binary.NativeEndian.PutUint64(word, binary.NativeEndian.Uint64(word)|bits)
	}
	for ; i < len(buf); i++ {
		buf[i] |= bit
	}
	return buf
}

// lines calls yield with the number of each line that matches, from 1, until it returns false. A line's end is no part of
// it.
func (m *lineMatcher) lines(data []byte, yield func(number int) bool) {
	hay := data
	if m.fold {
		buf := m.small.Get().(*[]byte)
		defer m.small.Put(buf)
		*buf = smallLetters(*buf, data)
		hay = *buf
	}
	next := make([]int, len(m.texts)) // where each text is found next
	number, counted := 1, 0
	for at := 0; at < len(data); {
		hit := at
		if m.texts != nil {
			if hit = m.candidate(hay, next, at); hit < 0 {
				return
			}
		}
		start := at + bytes.LastIndexByte(data[at:hit], '\n') + 1
		end := len(data)
		if n := bytes.IndexByte(data[hit:], '\n'); n >= 0 {
			end = hit + n
		}
		if m.plain || m.re.Match(bytes.TrimSuffix(data[start:end], []byte("\r"))) {
			number += bytes.Count(data[counted:start], []byte("\n"))
			counted = start
			if !yield(number) {
				return
			}
		}
		at = end + 1
	}
}

// candidate returns where the first of the texts is found from at on, or -1. next keeps what was found before.
func (m *lineMatcher) candidate(hay []byte, next []int, at int) int {
	first := -1
	for i, text := range m.texts {
		if next[i] >= 0 && (next[i] < at || at == 0) {
			if next[i] = bytes.Index(hay[at:], text); next[i] >= 0 {
				next[i] += at
			}
		}
		if next[i] >= 0 && (first < 0 || next[i] < first) {
			first = next[i]
		}
	}
	return first
}
