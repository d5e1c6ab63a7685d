package gate

import (
	"context"
	"io/fs"
	"time"
)

// Entry is a file or directory that a walk found.
type Entry struct {
	Name  string // relative to the directory with slashes (absolute if the walk is outside), as shown
	Rel   string // relative to the walk's root
	Type  fs.FileMode
	Size  int64
	Mod   time.Time
	Depth int // 1 for the root's own entries
}

// WalkOptions: Ignored shows what ignore files leave out; Depth bounds the depth (0: none).
type WalkOptions struct {
	Ignored bool
	Depth   int
}

// Skipped counts what a walk left out.
type Skipped struct {
	Ignored, Secret, Unreadable int
}

// Walk visits what is below a directory in lexical order, .git left out, ignore files honoured, links never followed. A
// root that is itself ignored is walked since it was named. visit may return fs.SkipDir or fs.SkipAll.
func (g *Gate) Walk(ctx context.Context, root string, o WalkOptions, visit func(Entry) error) (Skipped, error) {
	panic("not built")
}

// Search walks as Walk does and hands the content of every regular text file that accept takes to look, side by side on
// several goroutines; secret files and binaries are left out and counted. data is only valid during the call. A root that
// is a file is searched alone. look may return fs.SkipAll to end the search.
func (g *Gate) Search(ctx context.Context, root string, o WalkOptions, accept func(Entry) bool, look func(e Entry, data []byte) error) (Skipped, error) {
	panic("not built")
}
