package gate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"anchor/internal/policy"
)

const (
	batch      = 64      // files that one goroutine reads before others get a turn
	binaryHead = 8 << 10 // how much of a file is looked at for a NUL, as git does
)

// Search walks as Walk does and hands the content of every regular text file that o.Want takes to look, side by side on
// several goroutines, in no order; secret files, binaries and files that a rule of the user's denies are left out and
// counted. UTF-16 with a byte order mark is text. Of the entry, the mode and time are not known. data is only valid during the call. A root that is a file is searched alone. look may
// return fs.SkipAll to end the search.
func (g *Gate) Search(ctx context.Context, root string, o WalkOptions, look func(e Entry, data []byte) error) (Skipped, error) {
	p := g.resolve(root)
	if p.info != nil && !p.Dir {
		return g.searchFile(ctx, root, look)
	}
	return pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), nothing, func(ctx context.Context, e effects) (Skipped, error) {
		s, err := e.scan(p, o)
		if err != nil {
			return Skipped{}, err
		}
		denied := g.deniedReads()
		s.files = func(b *branch) { s.search(b, denied, look) }
		err = s.run(ctx)
		return s.skipped, unless(err, fs.SkipAll)
	})
}

func (g *Gate) searchFile(ctx context.Context, name string, look func(e Entry, data []byte) error) (Skipped, error) {
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

// deniedReads returns what says whether a rule of the user's denies the reading of a file inside the directory; nil if there
// is no such rule.
func (g *Gate) deniedReads() func(abs string) bool {
	g.mu.Lock()
	rules := g.rules
	g.mu.Unlock()
	if !slices.ContainsFunc(rules.Deny, func(s policy.Sourced) bool { return s.Rule.Kind == "read" }) {
		return nil
	}
	return func(abs string) bool {
		rel, inside := below(abs, g.dir)
		p := policy.Path{Name: abs, Abs: abs, Lexical: abs, Inside: inside, Exists: true}
		if inside {
			p.Rel = rel
		}
		return policy.Decide(policy.Read{Path: p}, rules).Verdict == policy.Deny
	}
}

// search sees to it that the wanted files of a directory are read.
func (s *scan) search(b *branch, denied func(abs string) bool, look func(Entry, []byte) error) {
	var files []found
	for _, e := range b.entries {
		switch {
		case !e.wanted || !e.Type.IsRegular():
		case denied != nil && denied(filepath.Join(b.abs, filepath.Base(e.Rel))):
			s.skip(Skipped{Denied: 1})
		default:
			files = append(files, e)
		}
	}
	for part := range slices.Chunk(files, batch) {
		s.use(b, 1)
		s.push(func(buf *[]byte) error {
			defer s.use(b, -1)
			for _, e := range part {
				out, err := s.lookAt(b, e.Entry, buf, look)
				s.skip(out)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// lookAt reads one file and hands it to look.
func (s *scan) lookAt(b *branch, e Entry, buf *[]byte, look func(Entry, []byte) error) (Skipped, error) {
	f, size, err := b.dir.open(filepath.Base(e.Rel))
	if err != nil {
		return Skipped{Unreadable: 1}, nil
	}
	defer f.Close()
	if e.Size = size; size > readLimit {
		return Skipped{Large: 1}, nil
	}
	*buf = slices.Grow((*buf)[:0], int(e.Size)+1)
	data := (*buf)[:e.Size+1] // one more byte: so the end is seen with the first read
	head, err := io.ReadAtLeast(f, data, min(len(data), binaryHead))
	if isBinary(data[:head]) {
		return Skipped{Binary: 1}, nil
	}
	rest := 0
	if err == nil {
		rest, err = io.ReadFull(f, data[head:])
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Skipped{Unreadable: 1}, nil
	}
	return Skipped{}, look(e, data[:min(head+rest, len(data))])
}

// isBinary says whether a file that starts so is no text.
func isBinary(data []byte) bool {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return false
	}
	return bytes.IndexByte(data[:min(len(data), binaryHead)], 0) >= 0
}
