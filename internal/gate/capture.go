package gate

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"anchor/internal/secret"
)

// maxSaved bounds a file of saved output, in bytes.
const maxSaved = 64 << 20

// capture takes the output of a command: cleaned, masked, and only then kept. It keeps the first and the last part in
// memory and, if that is not all, the whole in a file. After detach everything goes to another file.
type capture struct {
	mu     sync.Mutex
	clean  cleaner
	mask   *secret.Stream
	masker *secret.Masker
	save   func(pattern string) *savedFile
	text   clip
	saved  *savedFile
	later  *savedFile
	gone   bool // detached
	taken  int64
}

func newCapture(m *secret.Masker, limit int, save func(pattern string) *savedFile) *capture {
	return &capture{masker: m, mask: m.Stream(), save: save, text: clip{half: max(limit/2, 1)}}
}

// drain reads r to its end, or until it is closed.
func (c *capture) drain(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		c.mu.Lock()
		c.taken += int64(n)
		c.keep(c.mask.Next(c.clean.next(buf[:n])))
		if err != nil {
			c.flush()
			c.later.close()
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
	}
}

// flush lets out what the filters hold back.
func (c *capture) flush() {
	c.keep(c.mask.Next(c.clean.rest()))
	c.keep(c.mask.Rest())
	c.mask = c.masker.Stream()
}

// keep stores cleaned and masked text.
func (c *capture) keep(p []byte) {
	if c.gone {
		c.later.write(p)
		return
	}
	if c.saved == nil && c.text.over(p) {
		c.saved = c.save("output-*.txt")
		c.saved.write(c.text.whole())
	}
	c.text.write(p)
	c.saved.write(p)
}

// detach sends what comes from now on to a file of its own.
func (c *capture) detach() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush()
	c.gone = true
	c.later = c.save("background-*.txt")
}

// result returns the text so far and the names of the files. What comes later is no part of it.
func (c *capture) result() (text, saved, later string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	c.saved.close()
	return c.text.string(c.saved.name()), c.saved.name(), c.later.name()
}

// bytes is how much was read so far.
func (c *capture) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken
}

func (c *capture) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.later.close()
}

// clip keeps the first half and the last half characters of a text. Memory is bounded by a few times that.
type clip struct {
	half       int
	head, tail []byte
	headRunes  int
	total      int // characters in all
}

// over says whether with p the text is more than is kept.
func (c *clip) over(p []byte) bool { return c.total+utf8.RuneCount(p) > 2*c.half }

// whole returns the text while it is not over.
func (c *clip) whole() []byte { return append(c.head[:len(c.head):len(c.head)], c.tail...) }

func (c *clip) write(p []byte) {
	c.total += utf8.RuneCount(p)
	for c.headRunes < c.half && len(p) > 0 {
		_, n := utf8.DecodeRune(p)
		c.head, p = append(c.head, p[:n]...), p[n:]
		c.headRunes++
	}
	c.tail = append(c.tail, p...)
	if len(c.tail) > 2*utf8.UTFMax*c.half {
		c.tail = append([]byte(nil), lastRunes(c.tail, c.half)...)
	}
}

// string returns the text; what is left out is said in a line of its own.
func (c *clip) string(saved string) string {
	if c.total <= 2*c.half {
		return string(c.whole())
	}
	where := ""
	if saved != "" {
		where = "; the whole output is in " + saved
	}
	return fmt.Sprintf("%s\n[… %d characters left out%s …]\n%s",
		strings.TrimSuffix(string(c.head), "\n"), c.total-2*c.half, where, lastRunes(c.tail, c.half))
}

// lastRunes returns the last n characters of p.
func lastRunes(p []byte, n int) []byte {
	i := len(p)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRune(p[:i])
		i -= size
	}
	return p[i:]
}

// savedFile is a 0600 file of output. A nil one takes and drops everything: saving is a convenience, no command fails by it.
type savedFile struct {
	f    *os.File
	size int
}

// save makes a file for output, or nil.
func (e effects) save(pattern string) *savedFile {
	dir := e.o.OutputDir
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil
	}
	return &savedFile{f: f}
}

func (s *savedFile) write(p []byte) {
	if s == nil || s.size > maxSaved {
		return
	}
	if s.size += len(p); s.size > maxSaved {
		p = []byte("\n[… the rest was not kept …]\n")
	}
	if _, err := s.f.Write(p); err != nil {
		s.size = maxSaved + 1
	}
}

func (s *savedFile) name() string {
	if s == nil {
		return ""
	}
	return s.f.Name()
}

func (s *savedFile) close() {
	if s != nil {
		_ = s.f.Close()
	}
}
