package repl

import (
	"bytes"
	"strings"
)

// growing is the end of streaming Markdown: what stands behind the last place where nothing that follows can change what stands before,
// which is a blank line outside a block of code that is followed by a line without indent. Each line is looked at once, so that a
// long block costs no more than a short one.
type growing struct {
	text  []byte
	seen  int    // the lines before it were looked at
	fence string // of the block of code that is open
	blank bool   // the last line was
}

// add takes the next piece and returns what is finished by it, if anything.
func (g *growing) add(piece string) (done string) {
	at, cut := len(g.text), 0
	g.text = append(g.text, piece...)
	for {
		if g.blank && g.seen < len(g.text) && !strings.ContainsRune(" \t\r\n", rune(g.text[g.seen])) {
			cut, g.blank = g.seen, false
		}
		end := bytes.IndexByte(g.text[at:], '\n')
		if end < 0 {
			break
		}
		g.line(strings.TrimSpace(string(g.text[g.seen : at+end])))
		at += end + 1
		g.seen = at
	}
	if cut > 0 {
		done, g.text, g.seen = string(g.text[:cut]), append([]byte(nil), g.text[cut:]...), g.seen-cut
	}
	return done
}

// line looks at a whole line.
func (g *growing) line(bare string) {
	switch {
	case g.fence == "":
		g.fence = opens(bare)
	case strings.HasPrefix(bare, g.fence) && strings.Trim(bare, g.fence[:1]) == "":
		g.fence = ""
	}
	g.blank = bare == "" && g.fence == ""
}

// take returns the rest and begins anew.
func (g *growing) take() string {
	rest := string(g.text)
	*g = growing{}
	return rest
}

// opens returns the fence that a line begins a block of code with, or nothing.
func opens(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 && (mark == "~" || !strings.Contains(line[n:], mark)) {
			return line[:n]
		}
	}
	return ""
}
