package tools

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"anchor/internal/gate"
)

const (
	bom      = "\xef\xbb\xbf"
	headSize = 8 << 10 // how much of a file tells whether it is text
)

// encoding is how a file holds its text.
type encoding string

const (
	utf8Text  encoding = "UTF-8"
	utf16LE   encoding = "UTF-16 LE"
	utf16BE   encoding = "UTF-16 BE"
	latin1    encoding = "Latin-1"
	notText   encoding = ""
	maxColumn          = 2000 // characters of a line that are shown
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
		return unmarkedUTF16(head, len(data))
	case utf8.Valid(data):
		return utf8Text
	}
	controls := 0
	for _, c := range head {
		if c < ' ' && !bytes.ContainsRune([]byte("\t\n\v\f\r\b\x1b"), rune(c)) || c == 0x7f {
			controls++
		}
	}
	if controls*50 > len(head) {
		return notText
	}
	good, bad := 0, 0
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			bad++
		} else if size > 1 {
			good++
		}
		rest = rest[size:]
	}
	if good > bad {
		return utf8Text
	}
	return latin1
}

// unmarkedUTF16 looks for UTF-16 without a mark: nearly all of the one half of the bytes are NUL, none of the other half.
func unmarkedUTF16(head []byte, size int) encoding {
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	switch many := len(head) * 2 / 5; {
	case size%2 != 0:
		return notText
	case zeros[0] == 0 && zeros[1] > many:
		return utf16LE
	case zeros[1] == 0 && zeros[0] > many:
		return utf16BE
	}
	return notText
}

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
func (e encoding) bytes(text string) (string, error) {
	switch e {
	case utf16LE, utf16BE:
		return "", fmt.Errorf("the file is %s, which is not changed as text: convert it with a command, or leave it", e)
	case latin1:
		var out strings.Builder
		for _, r := range text {
			if r > 0xff {
				return "", fmt.Errorf("the file is Latin-1, which has no %q: convert the file to UTF-8 first, or use other characters", r)
			}
			out.WriteByte(byte(r))
		}
		return out.String(), nil
	}
	return text, nil
}

// lineEnd returns the line ending of a text: "\r\n" or "\n" if all its lines end so, else "".
func lineEnd(text string) string {
	all, crlf := strings.Count(text, "\n"), strings.Count(text, "\r\n")
	switch {
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
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if end == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", end)
}

// splitLines splits text into lines without their ends. A final newline starts no further line.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// maskedLines returns the lines of text with secrets masked, as many as there were: a secret of several lines leaves a mask
// on its last line and a short mark on the others.
func maskedLines(g *gate.Gate, text string) []string {
	plain, masked := splitLines(text), splitLines(g.Mask(text))
	if len(plain) == len(masked) {
		return masked
	}
	stream := g.Masker().Stream()
	for i, line := range plain {
		out := string(stream.Next([]byte(line + "\n")))
		if i == len(plain)-1 {
			out += string(stream.Rest())
		}
		shown := splitLines(out)
		if plain[i] = "[masked]"; len(shown) > 0 {
			plain[i] = shown[len(shown)-1]
		}
	}
	return plain
}

// cutLine shortens a line to a number of bytes, at a character's end, and says so.
func cutLine(line string, limit int) (short string, cut bool) {
	if len(line) <= limit {
		return line, false
	}
	end := limit
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return fmt.Sprintf("%s… [line cut: it has %d bytes]", line[:end], len(line)), true
}
