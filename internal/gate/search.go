package gate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"anchor/internal/policy"
)

// binaryHead is how much of a file is looked at for a NUL, as git does.
const binaryHead = 8 << 10

// Search walks as Walk does and hands the content of every regular text file that o.Want takes to look, side by side on
// several goroutines, in no order; secret files, binaries and files that a rule of the user's denies are left out and
// counted. UTF-16 with a byte order mark is text. Of the entry, the mode and time are not known. data is only valid during
// the call. A root that is a file is searched alone. look may return fs.SkipAll to end the search.
func (g *Gate) Search(ctx context.Context, root string, o WalkOptions, look func(e Entry, data []byte) error) (Skipped, error) {
	p := g.resolve(root)
	if p.info != nil && !p.Dir {
		return g.searchFile(ctx, root, look)
	}
	return pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), nothing, func(ctx context.Context, e effects) (Skipped, error) {
		s := scan{o: o, look: look}
		err := e.scan(ctx, p, &s)
		return s.skipped, unless(err, fs.SkipAll)
	})
}

func (g *Gate) searchFile(ctx context.Context, name string, look func(Entry, []byte) error) (Skipped, error) {
	f, err := g.Read(ctx, name, 0)
	switch {
	case err != nil:
		return Skipped{}, err
	case f.Size > int64(len(f.Data)):
		return Skipped{Large: 1}, nil
	case isBinary(f.Data):
		return Skipped{Binary: 1}, nil
	}
	return Skipped{}, unless(look(Entry{Name: f.Name, Rel: filepath.Base(f.Abs), Mode: f.Mode, Size: f.Size, Depth: 1}, f.Data), fs.SkipAll)
}

// unless returns err, or nil if it is the one that only ends the work.
func unless(err, end error) error {
	if errors.Is(err, end) {
		return nil
	}
	return err
}

// denied says whether a rule of the user's denies the reading of a file.
func (g *Gate) denied(abs string) bool {
	g.mu.Lock()
	any := slices.ContainsFunc(g.rules.Deny, func(s policy.Sourced) bool { return s.Rule.Kind == "read" })
	g.mu.Unlock()
	return any && g.decide(policy.Read{Path: g.resolve(abs).Path}).Verdict == policy.Deny
}

// search reads files of a directory and hands each to look.
func (s *scan) search(open func(string) (io.ReadCloser, int64, error), files []Entry) (out Skipped) {
	buffer, _ := s.buffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new(make([]byte, 0, 64<<10))
	}
	defer s.buffers.Put(buffer)
	for _, e := range files {
		if s.ctx.Err() != nil {
			break
		}
		switch data, size, err := readText(open, path.Base(e.Rel), buffer); {
		case err != nil:
			out.Unreadable++
		case size > readLimit:
			out.Large++
		case data == nil:
			out.Binary++
		default:
			e.Size = size
			if err := s.look(e, data); err != nil {
				s.end(err)
			}
		}
	}
	return out
}

// readText reads a file into a buffer that it may grow. data is nil if the file is too large, or no text.
func readText(open func(string) (io.ReadCloser, int64, error), name string, buffer *[]byte) (data []byte, size int64, err error) {
	f, size, err := open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if size > readLimit {
		return nil, size, nil
	}
	*buffer = slices.Grow((*buffer)[:0], int(size))
	data = (*buffer)[:size]
	n, err := io.ReadAtLeast(f, data, min(len(data), binaryHead))
	if isBinary(data[:n]) {
		return nil, size, nil
	}
	if err == nil {
		rest := 0
		rest, err = io.ReadFull(f, data[n:])
		n += rest
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // it has become shorter
		err = nil
	}
	return data[:n], size, err
}

// isBinary says whether a file that starts so is no text.
func isBinary(data []byte) bool {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return false
	}
	return bytes.IndexByte(data[:min(len(data), binaryHead)], 0) >= 0
}
