package gate

import (
	"context"
	"io"
	"io/fs"

	"anchor/internal/policy"
)

// readLimit bounds what is read of one file.
const readLimit = 64 << 20

// File is a regular file that was read.
type File struct {
	Name string // as shown: relative to the directory with slashes, or absolute outside it
	Abs  string
	Data []byte
	Mode fs.FileMode
	Size int64 // may be larger than len(Data) if Read was bounded
}

// NotRegular is the error of reading what is no regular file. Kind is "directory", "named pipe", "device" or "socket".
type NotRegular struct{ Path, Kind string }

func (e *NotRegular) Error() string { return e.Path + " is a " + e.Kind }

// Read reads a regular file. name is relative to the directory, absolute, or starts with ~/. At most max bytes are read
// (0: 64 MB). Errors: *Refusal, *NotRegular, fs.ErrNotExist and the like with the name as given, or ctx's.
func (g *Gate) Read(ctx context.Context, name string, max int64) (File, error) {
	if max <= 0 || max > readLimit {
		max = readLimit
	}
	p := g.resolve(name)
	return pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), p.regular, func(_ context.Context, e effects) (File, error) {
		return e.read(p, max)
	})
}

// regular is the look at a place that must be a regular file, if it is anything: a device is no question.
func (p place) regular(looks) (string, error) {
	if p.info == nil {
		return "", nil
	}
	return "", irregular(p.info, p.shown())
}

// irregular is the error of what is no regular file, or nil.
func irregular(info fs.FileInfo, shown string) error {
	m := info.Mode()
	switch {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return &NotRegular{shown, "directory"}
	case m&fs.ModeNamedPipe != 0:
		return &NotRegular{shown, "named pipe"}
	case m&fs.ModeSocket != 0:
		return &NotRegular{shown, "socket"}
	}
	return &NotRegular{shown, "device"}
}

// read reads at most max bytes of a file.
func (l looks) read(p place, max int64) (File, error) {
	f, info, err := l.open(p)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max))
	return File{Name: p.shown(), Abs: p.Abs, Data: data, Mode: info.Mode(), Size: info.Size()}, named(err, p)
}
