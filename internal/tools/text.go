package tools

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	bom       = "\xef\xbb\xbf"
	headSize  = 8 << 10 // how much of a file tells whether it is text
	maxColumn = 2000    // bytes of a line that are shown
)

// encoding is how a file holds its text.
type encoding string

const (
	utf8Text encoding = "UTF-8"
	utf16LE  encoding = "UTF-16 LE"
	utf16BE  encoding = "UTF-16 BE"
	latin1   encoding = "Latin-1"
	notText  encoding = ""
)

// encodingOf tells how a file holds its text. What has a NUL early on is no text, unless it is UTF-16; what is no valid
// UTF-8 is Latin-1, unless there is more good UTF-8 in it than bad bytes, or control characters.
func encodingOf(data []byte) encoding {
	head := data[:min(len(data), headSize)]
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return utf16LE
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return utf16BE
	case bytes.IndexByte(head, 0) >= 0:
		odd := func(r rune) bool { return isControl(r) || r > 0xff }
		for _, unmarked := range []encoding{utf16LE, utf16BE} {
			if len(data)%2 == 0 && !strings.ContainsFunc(unmarked.text(head), odd) {
				return unmarked
			}
		}
		return notText
	case utf8.Valid(data):
		return utf8Text
	}
	counts := map[bool]int{} // of characters that are no ASCII, by whether they are good UTF-8
	controls := 0
	for _, r := range string(data) {
		if r > 0x7e {
			counts[r != utf8.RuneError]++
		} else if isControl(r) {
			controls++
		}
	}
	switch {
	case controls*50 > len(data):
		return notText
	case counts[true] > counts[false]:
		return utf8Text
	}
	return latin1
}

func isControl(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1b", r) }

// text returns the text of a file in its encoding as valid UTF-8, without a byte order mark.
func (e encoding) text(data []byte) string {
	switch e {
	case utf16LE:
		return decodeUTF16(data, binary.LittleEndian)
	case utf16BE:
		return decodeUTF16(data, binary.BigEndian)
	case latin1:
		runes := make([]rune, len(data))
		for i, c := range data {
			runes[i] = rune(c)
		}
		return string(runes)
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(data), bom), "\ufffd")
}

func decodeUTF16(data []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff")
}

// bytes returns text as a file in this encoding holds it.
func (e encoding) bytes(text string) ([]byte, error) {
	switch e {
	case utf16LE, utf16BE:
		return nil, fmt.Errorf("the file is %s, which is not changed as text: convert it with a command, or leave it", e)
	case latin1:
		out := make([]byte, 0, len(text))
		for _, r := range text {
			if r > 0xff {
				return nil, fmt.Errorf("the file is Latin-1, which has no %q: convert the file to UTF-8 first, or use other characters", r)
			}
			out = append(out, byte(r))
		}
		return out, nil
	}
	return []byte(text), nil
}

// lineEnd returns the line ending of a text: "\r\n" or "\n" if all its lines end so, else "".
func lineEnd(text string) string {
	switch all, crlf := strings.Count(text, "\n"), strings.Count(text, "\r\n"); {
	case all == 0:
		return ""
	case crlf == 0:
		return "\n"
	case crlf == all:
		return "\r\n"
	}
	return ""
}

// withEnds gives the lines of text another ending; "" leaves them.
func withEnds(text, end string) string {
	if end == "" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", end)
}

// splitLines splits text into lines without their ends. A final newline starts no further line.
func splitLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, unended(line))
	}
	return lines
}

// unended takes the line ending off the end of a text.
func unended(text string) string { return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r") }

// cutLine shortens a line to a number of bytes, at a character's end, and says so.
func cutLine(line string, limit int) (short string, cut bool) {
	if len(line) <= limit {
		return line, false
	}
	return fmt.Sprintf("%s… [line cut: it has %d bytes]", strings.ToValidUTF8(line[:limit], ""), len(line)), true
}
