package provider

import (
	"bytes"
	"errors"
	"io"
)

// maxLine bounds one line of a stream and one event, in bytes.
const maxLine = 32 << 20

// errLongLine is a stream that sends no end of line.
var errLongLine = errors.New("a line of over 32 MB")

// sse reads server-sent events. It takes what servers send, not only what the standard says: lines end by LF, CRLF or CR,
// the blank after the colon may be missing, comments are skipped, several data lines are joined by LF, and an event at the
// very end of the stream needs no empty line after it.
type sse struct {
	r      io.Reader
	buf    []byte // read and not yet taken: buf[at:]
	at     int
	data   []byte
	eof    bool
	skipLF bool // the last line ended by CR: an LF right after it belongs to it
}

// next returns the data of the next event that has any. It is valid until the next call. At the end it returns io.EOF.
func (s *sse) next() ([]byte, error) {
	s.data = s.data[:0]
	some := false
	for {
		line, err := s.line()
		if err != nil {
			if some && err == io.EOF {
				return s.data, nil
			}
			return nil, err
		}
		if len(line) == 0 {
			if some {
				return s.data, nil
			}
			continue
		}
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		if some {
			s.data = append(s.data, '\n')
		}
		some = true
		s.data = append(s.data, bytes.TrimPrefix(value, []byte(" "))...)
		if len(s.data) > maxLine {
			return nil, errLongLine
		}
	}
}

// line returns the next line without its end.
func (s *sse) line() ([]byte, error) {
	for searched := 0; ; {
		if s.skipLF && s.at < len(s.buf) {
			if s.buf[s.at] == '\n' {
				s.at++
			}
			s.skipLF = false
		}
		rest := s.buf[s.at:]
		if i := endOfLine(rest[searched:]); i >= 0 {
			i += searched
			s.skipLF = rest[i] == '\r'
			s.at += i + 1
			return rest[:i], nil
		}
		searched = len(rest)
		switch {
		case s.eof && len(rest) == 0:
			return nil, io.EOF
		case s.eof:
			s.at = len(s.buf)
			return rest, nil
		case len(rest) > maxLine:
			return nil, errLongLine
		}
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
}

// endOfLine returns where the first LF or CR is, or -1.
func endOfLine(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// fill reads once. The taken part of the buffer is given back first.
func (s *sse) fill() error {
	if s.at > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[s.at:])]
		s.at = 0
	}
	if len(s.buf) == cap(s.buf) {
		grown := make([]byte, len(s.buf), max(16<<10, 2*cap(s.buf)))
		copy(grown, s.buf)
		s.buf = grown
	}
	n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	if err == io.EOF {
		s.eof = true
		return nil
	}
	return err
}
