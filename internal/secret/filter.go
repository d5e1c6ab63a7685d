package secret

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// The filter takes a text apart into units: lines, and pieces of lines that are longer than window. A unit's end depends on
// the text alone, never on how it came, so a stream and a whole text give the same. A long line is cut behind a separator and
// never inside a secret.
//
// Private keys go over many lines. After the BEGIN line of one, lines that look like its body are masked until one does not,
// with END or without. Body lines without a BEGIN (the tail of a file) are held back until an END line says what they were,
// at most heldMax bytes.

const (
	window  = 64 << 10
	overlap = 4 << 10
	ahead   = 128 // longer than a BEGIN or END
	heldMax = 16 << 10
)

type filter struct {
	m      *Masker
	out    []byte
	inKey  bool
	inLine bool // within a private key that began on this very line
	held   []string
	size   int // of held
}

func (f *filter) take() []byte {
	out := f.out
	f.out = nil
	return out
}

// run filters what of s is complete, all if it is the end of the text, and returns how much that was.
func (f *filter) run(s string, final bool) int {
	pos := 0
	for pos < len(s) {
		rest := s[pos:]
		n := strings.IndexByte(rest[:min(len(rest), window)], '\n') + 1
		switch {
		case n > 0:
		case len(rest) > window:
			n = f.cut(rest)
		case !final:
			return pos
		default:
			n = len(rest)
		}
		f.line(rest[:n])
		pos += n
	}
	if final {
		f.release(false)
	}
	return pos
}

// cut says where the first piece of a long line ends.
func (f *filter) cut(s string) int {
	end := window - ahead
	for end > window-ahead-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	n := end
	if i := strings.LastIndexAny(s[end-overlap:end], " \t,;}"); i >= 0 {
		n = end - overlap + i + 1
	}
	whole := f.m.table.Load().hits(s[:end])
	if strings.Contains(s[:window], "PRIVATE KEY") {
		for _, at := range keyMark.FindAllStringIndex(s[:window], -1) {
			whole = append(whole, hit{from: at[0], end: at[1]})
		}
	}
	for _, h := range whole {
		if h.from < n && n < h.end {
			n = h.end
		}
	}
	return n
}

// line filters one unit.
func (f *filter) line(s string) {
	if f.inKey {
		if a, b, ok := keyBody(s, 1); ok {
			f.emit(s[:a] + f.m.mask(keyLabel) + s[b:])
			return
		}
		if f.inKey = keyHeader(s); f.inKey {
			f.emit(s)
			return
		}
	}
	if maybeBody(s) {
		if _, _, ok := keyBody(s, 40); ok {
			f.hold(s)
			return
		}
	}
	tail := false
	if f.inLine || strings.Contains(s, "PRIVATE KEY") {
		s, tail = f.keyLine(s)
	} else if strings.HasPrefix(s, "Private-Lines: ") { // PuTTY
		f.inKey = true
	}
	f.release(tail)
	f.emit(s)
}

func (f *filter) emit(s string) { f.out = append(f.out, f.m.unit(s)...) }

func (f *filter) hold(s string) {
	f.held = append(f.held, s)
	for f.size += len(s); f.size > heldMax; f.held = f.held[1:] {
		f.size -= len(f.held[0])
		f.emit(f.held[0])
	}
}

// release lets the held lines out, masked if they were the tail of a private key.
func (f *filter) release(key bool) {
	for _, s := range f.held {
		if a, b, ok := keyBody(s, 1); key && ok {
			s = s[:a] + f.m.mask(keyLabel) + s[b:]
		}
		f.emit(s)
	}
	f.held, f.size = nil, 0
}

const keyLabel = "private key"

var (
	keyMark = regexp.MustCompile(`-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)? ?-{4,5}`)
	// A run of a key's letters, with line ends written as \n or blanks.
	keyRun  = regexp.MustCompile(`[A-Za-z0-9+/=\\]{20,}(?:[ \t]+[A-Za-z0-9+/=\\]+)*`)
	tailRun = regexp.MustCompile(`[A-Za-z0-9+/=\\]{16,}$`)
	// A body line may stand behind a file name, a line number, a diff or quote mark, and in quotes.
	bodyLine   = regexp.MustCompile(`^((?:[^\s:\[\]]*:)?[\s\d:|>#*."'-]*?\+?[\s\d|"']*?)([A-Za-z0-9+/=]{1,80})(?:(?:\\[nr])*["',;\\)\s+]*)$`)
	headerLine = regexp.MustCompile(`^[\s\d:|>#+-]*((Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Private-MAC): .*)?\s*$`)
)

// keyBody finds the run of base64 in a line of a private key that has at least least characters of it.
func keyBody(s string, least int) (start, end int, ok bool) {
	if len(s) > 400 {
		return 0, 0, false
	}
	m := bodyLine.FindStringSubmatchIndex(s)
	if m == nil || m[5]-m[4] < least {
		return 0, 0, false
	}
	return m[4], m[5], true
}

func keyHeader(s string) bool { return len(s) < 400 && headerLine.MatchString(s) }

// maybeBody is a quick look before keyBody: 40 signs of base64 at the end of the line.
func maybeBody(s string) bool {
	end := len(s)
	for end > 0 && end > len(s)-8 && !is(s[end-1], base64Set) {
		end--
	}
	if end < 40 {
		return false
	}
	for _, c := range []byte(s[end-40 : end]) {
		if !is(c, base64Set) {
			return false
		}
	}
	return true
}

// keyLine masks what a line with the BEGIN or END of a private key has of the key, and says whether the lines before it were
// the key's tail. It sets inKey if the key goes on.
func (f *filter) keyLine(s string) (masked string, tail bool) {
	var out strings.Builder
	t := f.m.table.Load()
	hide := func(part string, re *regexp.Regexp) (hidden bool) {
		for {
			a, b := t.nextMask(part, 0)
			if a < 0 {
				a, b = len(part), len(part)
			}
			// The tail of a key is what stands right before its END.
			if text := part[:a]; (re == keyRun || a == len(part)) && re.MatchString(text) {
				hidden = true
				out.WriteString(re.ReplaceAllLiteralString(text, f.m.mask(keyLabel)))
			} else {
				out.WriteString(text)
			}
			out.WriteString(part[a:b])
			if part = part[b:]; part == "" {
				return hidden
			}
		}
	}
	pos := 0
	for _, at := range keyMark.FindAllStringSubmatchIndex(s, -1) {
		part, begins := s[pos:at[0]], s[at[2]:at[3]] == "BEGIN"
		switch {
		case f.inLine:
			hide(part, keyRun)
		case !begins: // the end of a key that began before
			tail = tail || pos == 0
			hide(part, tailRun)
		default:
			out.WriteString(part)
		}
		out.WriteString(s[at[0]:at[1]])
		f.inLine, pos = begins, at[1]
	}
	f.inKey = false
	if !f.inLine {
		out.WriteString(s[pos:])
		return out.String(), tail
	}
	rest := s[pos:]
	f.inKey = hide(rest, keyRun) || strings.Trim(rest, " \t\r\n\\nr\"'+") == ""
	f.inLine = !strings.HasSuffix(s, "\n")
	return out.String(), tail
}
