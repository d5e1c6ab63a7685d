package gate

import (
	"bytes"
	"cmp"
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

// capture takes the output of a process: cleaned, masked, and only then kept. It keeps the first and the last part in memory and, if that
// is not all, the whole in a file. After detach everything goes to another file.
type capture struct {
	masker *secret.Masker
	save   func(pattern string) *os.File
	taken  atomic.Int64 // bytes read so far

	mu           sync.Mutex
	clean        cleaner
	mask         *secret.Stream
	text         clip
	saved, later *os.File
	room         int  // bytes that the file may still take
	gone         bool // detached, or over
}

// capture returns one that keeps limit characters.
func (e effects) capture(limit int) *capture {
	return &capture{masker: e.masker, mask: e.masker.Stream(), save: e.save, room: maxSaved, text: clip{half: max(limit/2, 1)}}
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
	if most := 2 * c.text.half; c.text.total <= most && c.text.total+utf8.RuneCount(p) > most {
		c.saved = c.save("output-*.txt")
		c.put(c.saved, []byte(c.text.string("")))
	}
	c.text.write(p)
	c.put(c.saved, p)
}

// detach sends what comes from now on to a file of its own.
func (c *capture) detach() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush()
	c.gone, c.later, c.room = true, c.save("background-*.txt"), maxSaved
}

// result returns the text so far and the names of the files. What comes later is no part of it.
func (c *capture) result() (text, saved, later string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	c.saved.Close()
	return c.text.string(nameOf(c.saved)), nameOf(c.saved), nameOf(c.later)
}

// String returns the text so far.
func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.string("")
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
	out := c.out[:0]
	for from := 0; from < n; {
		odd := from + slices.IndexFunc(c.line[from:n], isOdd)
		if odd < from {
			odd = n
		}
		start := from + bytes.LastIndexByte(c.line[from:odd], '\n') + 1 // of its line
		if odd == n {
			start = n
		}
		if out = append(out, c.line[from:start]...); start < n {
			from = start + cmp.Or(bytes.IndexByte(c.line[start:n], '\n')+1, n-start)
			out = append(out, tidy(string(c.line[start:from]))...)
			continue
		}
		from = n
	}
	c.out, c.line = out, append(c.line[:0], c.line[n:]...)
	return out
}

// isOdd says whether a byte may need tidying.
func isOdd(b byte) bool { return b < ' ' && b != '\n' && b != '\t' || b > '~' }

// tidy cleans one line.
func tidy(line string) string {
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
	return string(out)
}

// clip keeps the first half and the last half characters of a text. Memory is bounded by a few times that.
type clip struct {
	half, total int // in characters
	head, tail  []byte
}

func (c *clip) write(p []byte) {
	for ; c.total < c.half && len(p) > 0; c.total++ {
		_, n := utf8.DecodeRune(p)
		c.head, p = append(c.head, p[:n]...), p[n:]
	}
	c.total += utf8.RuneCount(p)
	c.tail = append(c.tail, p...)
	if most := utf8.UTFMax * c.half; len(c.tail) > 2*most {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-most:]...)
	}
}

// string returns the text; what is left out is said in a line of its own.
func (c *clip) string(saved string) string {
	from := len(c.tail)
	for n := min(c.half, c.total-c.half); n > 0; n-- {
		_, size := utf8.DecodeLastRune(c.tail[:from])
		from -= size
	}
	head, tail := string(c.head), string(c.tail[from:])
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

func nameOf(f *os.File) string {
	if f == nil {
		return ""
	}
	return f.Name()
}
