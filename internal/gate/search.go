package gate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"anchor/internal/policy"
)

const (
	binaryHead = 8 << 10 // how much of a file is looked at for a NUL, as git does
	readers    = 8       // at most
)

// batch is some files of one folder, for one reader.
type batch struct {
	folder
	files []Entry
}

// Search walks as Walk does and hands the content of every regular text file that o.Want takes to look, side by side on several
// goroutines, in no order; secret files, binaries and files that a rule of the user's denies are left out and counted. UTF-16 with a byte
// order mark is text. Of the entry, the time is not known. data is only valid during the call. A root that is a file is searched alone. An
// error of look ends the search.
func (g *Gate) Search(ctx context.Context, root string, o WalkOptions, look func(e Entry, data []byte) error) (Skipped, error) {
	p := g.resolve(root)
	if p.info != nil && !p.Dir {
		return g.searchFile(ctx, root, look)
	}
	return pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), nothing, func(ctx context.Context, e effects) (Skipped, error) {
		ctx, end := context.WithCancelCause(ctx)
		defer end(nil)
		batches := make(chan batch)
		s := scan{looks: e.looks, o: o, batches: batches}
		var mu sync.Mutex
		var all sync.WaitGroup
		var read Skipped
		for range min(runtime.GOMAXPROCS(0), readers) {
			all.Go(func() {
				buffer := make([]byte, 0, 64<<10)
				for b := range batches {
					out, err := b.search(ctx, &buffer, look)
					mu.Lock()
					read = Skipped{Unreadable: read.Unreadable + out.Unreadable, Binary: read.Binary + out.Binary, Large: read.Large + out.Large}
					mu.Unlock()
					if err != nil {
						end(err)
					}
				}
			})
		}
		err := s.tree(ctx, p)
		close(batches)
		all.Wait()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		s.skipped.Unreadable += read.Unreadable
		s.skipped.Binary, s.skipped.Large = read.Binary, read.Large
		return s.skipped, err
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
	return Skipped{}, look(Entry{Name: f.Name, Rel: filepath.Base(f.Abs), Size: f.Size, Depth: 1}, f.Data)
}

// denied says whether a rule of the user's denies the reading of a file.
func (g *Gate) denied(abs string) bool {
	g.mu.Lock()
	any := slices.ContainsFunc(g.rules.Deny, func(s policy.Sourced) bool { return s.Rule.Kind == "read" })
	g.mu.Unlock()
	return any && g.decide(policy.Read{Path: g.resolve(abs).Path}).Verdict == policy.Deny
}

// hand gives the wanted files of a directory to the readers, if there are any.
func (s *scan) hand(ctx context.Context, dir *os.Root, nodes []node) {
	var files []Entry
	for _, n := range nodes {
		if s.batches != nil && n.wanted {
			files = append(files, n.Entry)
		}
	}
	for part := range slices.Chunk(files, 64) {
		f, err := openFolder(dir)
		if err != nil {
			s.skipped.Unreadable += len(part)
			continue
		}
		select {
		case s.batches <- batch{f, part}:
		case <-ctx.Done():
			f.Close()
		}
	}
}

// search reads the files and hands each to look.
func (b batch) search(ctx context.Context, buffer *[]byte, look func(Entry, []byte) error) (out Skipped, err error) {
	defer b.Close()
	for _, e := range b.files {
		if ctx.Err() != nil || err != nil {
			break
		}
		switch data, size, failed := b.text(path.Base(e.Rel), buffer); {
		case failed != nil:
			out.Unreadable++
		case size > readLimit:
			out.Large++
		case data == nil:
			out.Binary++
		default:
			e.Size = size
			err = look(e, data)
		}
	}
	return out, err
}

// text reads a file into a buffer that it may grow. data is nil if the file is too large, or no text.
func (f folder) text(name string, buffer *[]byte) (data []byte, size int64, err error) {
	in, size, err := f.open(name)
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	if size > readLimit {
		return nil, size, nil
	}
	*buffer = slices.Grow((*buffer)[:0], int(size))
	data = (*buffer)[:size]
	n, err := io.ReadAtLeast(in, data, min(len(data), binaryHead))
	if isBinary(data[:n]) {
		return nil, size, nil
	}
	if err == nil {
		rest := 0
		rest, err = io.ReadFull(in, data[n:])
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
