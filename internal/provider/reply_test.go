package provider

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// all reads every event of a stream.
func all(r io.Reader) (out []string, err error) {
	s := newEvents(r)
	for {
		data, err := s.next()
		if err != nil {
			return out, err
		}
		out = append(out, string(data))
	}
}

func TestSSE(t *testing.T) {
	const events = "data: a\n\ndata:b\ndata: c\n\n: comment\nevent: x\nid\n\n\ndata: d é€😀\n\ndata: last"
	want := "a|b\nc|d é€😀|last"
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		text := strings.ReplaceAll(events, "\n", end)
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(text), "by the byte": iotest.OneByteReader(strings.NewReader(text)), "with EOF": iotest.DataErrReader(strings.NewReader(text))} {
			got, err := all(r)
			if strings.Join(got, "|") != want || err != io.EOF {
				t.Errorf("%s, %s: %q, %v", name, how, got, err)
			}
		}
	}
	if _, err := all(iotest.TimeoutReader(strings.NewReader("data: a\n"))); err != iotest.ErrTimeout {
		t.Errorf("a fault of the reader: %v", err)
	}
	if _, err := all(io.LimitReader(endless{}, maxLine+100_000)); err != bufio.ErrTooLong {
		t.Errorf("a line without an end: %v", err)
	}
}

// endless sends one line for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzSSE(f *testing.F) {
	f.Add("data: a\r\n\r\ndata: b\r\rdata: c\n\n", 3)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		whole, _ := all(strings.NewReader(text))
		pieces, _ := all(iotest.OneByteReader(strings.NewReader(text)))
		if strings.Join(whole, "\x00") != strings.Join(pieces, "\x00") {
			t.Errorf("%q gives %q, by the byte %q", text, whole, pieces)
		}
	})
}
