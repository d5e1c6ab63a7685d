package gate

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"anchor/internal/secret"
)

const (
	maxSaved = 64 << 20 // bounds a file of saved output, in bytes
	maxLine  = 64 << 10 // bounds what is held back of a line that does not end
)

// capture takes the output of a process: cleaned, masked, and only then kept. It keeps the first and the last half characters in memory
// and, if that is not all, the whole in a file. After detach everything goes to another file.
type capture struct {
	masker *secret.Masker
	save   func(pattern string) *os.File
	taken  atomic.Int64 // bytes read so far
	half   int

	mu           sync.Mutex
	clean        cleaner
	mask         *secret.Stream
	head, tail   []rune
	total        int // characters
	saved, later *os.File
	room         int  // bytes that the file may still take
	gone, over   bool // detached; the process's end was read
}

// capture returns one that keeps limit characters.
func (e effects) capture(limit int) *capture {
	return &capture{masker: e.masker, mask: e.masker.Stream(), save: e.save, room: maxSaved, half: max(limit/2, 1)}
}

// drain reads r to its end, or until it is closed.
func (c *capture) drain(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		c.taken.Add(int64(n))
		c.mu.Lock()
		c.keep(c.mask.Next(c.clean.next(buf[:n], false)))
		if err != nil {
			c.flush()
			c.over = true
			c.later.Close()
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
	}
}

// flush lets out what the filters hold back.
func (c *capture) flush() {
	c.keep(c.mask.Next(c.clean.next(nil, true)))
	c.keep(c.mask.Rest())
	c.mask = c.masker.Stream()
}

// keep stores cleaned and masked text.
func (c *capture) keep(p []byte) {
	if c.gone {
		c.put(c.later, p)
		return
	}
	n := utf8.RuneCount(p)
	if c.total <= 2*c.half && c.total+n > 2*c.half {
		c.saved = c.save("output-*.txt")
		c.put(c.saved, []byte(string(c.head)+string(c.tail)))
	}
	c.put(c.saved, p)
	c.total += n
	if c.tail = append(c.tail, []rune(string(p))...); len(c.head) < c.half {
		n = min(c.half-len(c.head), len(c.tail))
		c.head, c.tail = append(c.head, c.tail[:n]...), c.tail[n:]
	}
	if over := len(c.tail) - c.half; over > c.half {
		c.tail = slices.Delete(c.tail, 0, over)
	}
}

// put writes to a file as long as there is room. A nil one drops everything: saving is a convenience, no command fails by it.
func (c *capture) put(f *os.File, p []byte) {
	if f == nil || c.room <= 0 {
		return
	}
	if c.room -= len(p); c.room <= 0 {
		p = []byte("\n[… the rest was not kept …]\n")
	}
	if _, err := f.Write(p); err != nil {
		c.room = 0
	}
}

// detach sends what comes from now on to a file of its own.
func (c *capture) detach() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.flush()
	c.gone, c.later, c.room = true, c.save("background-*.txt"), maxSaved
}

// result returns the text so far and the names of the files. What comes later is no part of it.
func (c *capture) result() (text, saved, later string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	c.saved.Close()
	if c.saved != nil {
		saved = c.saved.Name()
	}
	if c.later != nil {
		later = c.later.Name()
	}
	return c.text(saved), saved, later
}

// String returns the text so far.
func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text("")
}

// text is what was kept; what is left out is said in a line of its own.
func (c *capture) text(saved string) string {
	head, tail := string(c.head), string(c.tail[max(len(c.tail)-c.half, 0):])
	if c.total <= 2*c.half {
		return head + tail
	}
	if saved != "" {
		saved = "; the whole output is in " + saved
	}
	return fmt.Sprintf("%s\n[… %d characters left out%s …]\n%s", strings.TrimSuffix(head, "\n"), c.total-2*c.half, saved, tail)
}

// save makes a 0600 file for output, or nil.
func (e effects) save(pattern string) *os.File {
	dir := e.o.OutputDir
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil
	}
	return f
}

// cleaner turns what a program wrote for a terminal into plain lines: escape sequences go, a line that was drawn over is what it was in
// the end, a NUL is shown, other control characters go, what is no UTF-8 becomes U+FFFD. It is done before masking, so that no escape
// code hides a secret.
type cleaner struct{ line, out []byte }

// next takes a piece and returns the lines that are whole now; at the end, all that is left. The result is good until the next call.
func (c *cleaner) next(p []byte, end bool) []byte {
	c.line = append(c.line, p...)
	n := bytes.LastIndexByte(c.line, '\n') + 1
	if end {
		n = len(c.line)
	} else if len(c.line)-n >= maxLine { // the last character may not be whole
		for n = len(c.line) - 1; !utf8.RuneStart(c.line[n]) && n > len(c.line)-utf8.UTFMax; n-- {
		}
	}
	c.out = c.out[:0]
	for line := range bytes.Lines(c.line[:n]) {
		if slices.ContainsFunc(line, func(b byte) bool { return b < ' ' && b != '\n' && b != '\t' || b > '~' }) {
			line = tidy(string(line))
		}
		c.out = append(c.out, line...)
	}
	c.line = append(c.line[:0], c.line[n:]...)
	return c.out
}

// tidy cleans one line.
func tidy(line string) []byte {
	line, end := strings.CutSuffix(line, "\n")
	line = strings.TrimRight(ansi.Strip(strings.ToValidUTF8(line, "\uFFFD")), "\r")
	var out []rune
	for _, r := range line[strings.LastIndexByte(line, '\r')+1:] {
		switch {
		case r == 0:
			out = append(out, '␀')
		case r == '\b' && len(out) > 0:
			out = out[:len(out)-1]
		case r == '\t' || !unicode.IsControl(r):
			out = append(out, r)
		}
	}
	if end {
		out = append(out, '\n')
	}
	return []byte(string(out))
}
