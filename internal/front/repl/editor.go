package repl

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/rivo/uniseg"
)

// editor is a text that is being written, as what a reader takes for characters: joined emoji and accents are one.
type editor struct {
	cells []string
	at    int // the cursor stands before this one
}

func (e *editor) text() string { return strings.Join(e.cells, "") }

func (e *editor) empty() bool { return len(e.cells) == 0 }

// blankBefore says whether nothing but blanks stands before the cursor.
func (e *editor) blankBefore() bool { return strings.TrimSpace(strings.Join(e.cells[:e.at], "")) == "" }

// set replaces the text; the cursor goes to its end.
func (e *editor) set(text string) { e.cells, e.at = nil, 0; e.insert(text) }

// insert puts text before the cursor. A character may join the one before it.
func (e *editor) insert(text string) {
	before, after := strings.Join(e.cells[:e.at], "")+text, e.cells[e.at:]
	head := cells(before)
	e.cells, e.at = append(head, after...), len(head)
}

func cells(text string) (out []string) {
	for g := uniseg.NewGraphemes(text); g.Next(); {
		out = append(out, g.Str())
	}
	return out
}

func (e *editor) wordStart(ends func(rune) bool) int {
	i := e.at
	for i > 0 && !ends([]rune(e.cells[i-1])[0]) {
		i--
	}
	return i
}

// cut takes the characters between two places out.
func (e *editor) cut(from, to int) {
	from, to = max(from, 0), min(to, len(e.cells))
	e.cells, e.at = slices.Delete(slices.Clone(e.cells), from, to), from
}

// key takes a key that edits or moves in the text; false if it does neither. width is that of the lines.
func (e *editor) key(k tea.KeyPressMsg, width int) bool {
	notWord := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	switch name := k.String(); name {
	case "left", "ctrl+b":
		e.at = max(e.at-1, 0)
	case "right", "ctrl+f":
		e.at = min(e.at+1, len(e.cells))
	case "home", "ctrl+a":
		e.at = e.lineStart()
	case "end", "ctrl+e":
		e.at = e.lineEnd()
	case "alt+left", "alt+b", "ctrl+left":
		e.at = e.back(notWord)
	case "alt+right", "alt+f", "ctrl+right":
		e.at = e.forth(notWord)
	case "backspace", "ctrl+h":
		e.cut(e.at-1, e.at)
	case "delete", "ctrl+d":
		e.cut(e.at, e.at+1)
	case "ctrl+w":
		e.cut(e.back(unicode.IsSpace), e.at)
	case "alt+backspace":
		e.cut(e.back(notWord), e.at)
	case "alt+d":
		e.cut(e.at, e.forth(notWord))
	case "ctrl+u":
		e.cut(e.lineStart(), e.at)
	case "ctrl+k":
		e.cut(e.at, e.lineEnd())
	case "up":
		return e.vertical(-1, width)
	case "down":
		return e.vertical(1, width)
	default:
		if k.Text == "" {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

func (e *editor) lineStart() int {
	return e.wordStart(func(r rune) bool { return r == '\n' })
}

func (e *editor) lineEnd() int {
	i := slices.Index(e.cells[e.at:], "\n")
	if i < 0 {
		return len(e.cells)
	}
	return e.at + i
}

// back is where the word before the cursor begins, forth where the one behind it ends.
func (e *editor) back(ends func(rune) bool) int {
	i := e.at
	for i > 0 && ends([]rune(e.cells[i-1])[0]) {
		i--
	}
	return (&editor{e.cells, i}).wordStart(ends)
}

func (e *editor) forth(ends func(rune) bool) int {
	i, in := e.at, false
	for ; i < len(e.cells); i++ {
		if end := ends([]rune(e.cells[i])[0]); end && in {
			break
		} else {
			in = in || !end
		}
	}
	return i
}

type place struct{ x, y int }

// layout wraps the text to the width. places has one for each character and one for the end.
func (e *editor) layout(width int) (rows []string, places []place) {
	rows, at := []string{""}, place{}
	for _, c := range append(slices.Clone(e.cells), "") {
		shown := clean(c)
		w := uniseg.StringWidth(shown)
		if at.x+max(w, 1) > width {
			rows, at = append(rows, ""), place{0, at.y + 1}
		}
		places = append(places, at)
		if c == "\n" {
			rows, at = append(rows, ""), place{0, at.y + 1}
			continue
		}
		rows[at.y] += shown
		at.x += w
	}
	return rows, places
}

// vertical moves the cursor by a row; false if there is none.
func (e *editor) vertical(by, width int) bool {
	rows, places := e.layout(width)
	want := place{places[e.at].x, places[e.at].y + by}
	if want.y < 0 || want.y >= len(rows) {
		return false
	}
	for i, p := range places {
		if p.y == want.y && p.x <= want.x {
			e.at = i
		}
	}
	return true
}

// view returns at most height rows around the cursor, and where it is in them.
func (e *editor) view(width, height int) (rows []string, cursor place) {
	rows, places := e.layout(width)
	cursor = places[e.at]
	from := max(0, min(cursor.y-height/2, len(rows)-height))
	cursor.y -= from
	return rows[from:min(len(rows), from+height)], cursor
}
