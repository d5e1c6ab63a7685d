package tools

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"anchor/internal/gate"
	"anchor/internal/tool"
)

const (
	listDepth = 2
	listMax   = 500 // entries shown in all,
	listTop   = 200 // and, where there are more, of the directory itself
	listBelow = 20  // and of each one below it
)

type listArgs struct {
	Path    string `json:"path,omitempty"`
	Depth   int    `json:"depth,omitempty" jsonschema:"levels, default 2"`
	Ignored bool   `json:"ignored,omitempty" jsonschema:"show what .gitignore hides"`
}

func listDir() tool.Tool {
	return tool.Of(spec("list_dir", true, "List a directory as a tree, with sizes. .git, ignored and secret files are left out, here and in glob and grep."),
		func(a listArgs) string { return here(a.Path) },
		func(ctx context.Context, env tool.Env, a listArgs) (tool.Result, error) {
			if a.Depth <= 0 {
				a.Depth = listDepth
			}
			var found []gate.Entry
			skipped, err := env.Gate.Walk(ctx, here(a.Path), gate.WalkOptions{Ignored: a.Ignored, Depth: a.Depth}, func(e gate.Entry) error {
				found = append(found, e)
				return nil
			})
			if err != nil {
				return tool.Failure(ctx, err)
			}
			return tool.Done(tree(found) + leftOut(skipped)), nil
		})
}

// tree draws entries by indentation. Of many, each directory shows its first ones.
func tree(found []gate.Entry) string {
	var out strings.Builder
	c := chooser{few: len(found) <= listMax, seen: map[string]int{}, hidden: map[string]bool{}}
	dirs := 0
	for _, e := range found {
		if e.Type.IsDir() {
			dirs++
		}
		if c.shows(e) {
			fmt.Fprintf(&out, "%s%s\n", strings.Repeat("  ", e.Depth-1), label(e))
		}
	}
	if c.shown < len(found) {
		fmt.Fprintf(&out, "[%d more entries: list a directory by itself, or use glob]\n", len(found)-c.shown)
	}
	fmt.Fprintf(&out, "[%d files, %d directories]\n", len(found)-dirs, dirs)
	return out.String()
}

// chooser picks the entries that are shown. It is asked about each one, in the order of the walk.
type chooser struct {
	few    bool
	shown  int
	seen   map[string]int // entries by directory
	hidden map[string]bool
}

func (c *chooser) shows(e gate.Entry) bool {
	parent, limit := path.Dir(e.Rel), listBelow
	if e.Depth == 1 {
		limit = listTop
	}
	c.seen[parent]++
	if c.few || !c.hidden[parent] && c.seen[parent] <= limit && c.shown < listMax {
		c.shown++
		return true
	}
	c.hidden[e.Rel] = e.Type.IsDir()
	return false
}

func label(e gate.Entry) string {
	name := path.Base(e.Rel)
	switch {
	case e.Type.IsDir():
		return name + "/"
	case e.Type&fs.ModeSymlink != 0:
		return name + " (link)"
	case !e.Type.IsRegular():
		return name + " (special file)"
	}
	return name + "  " + size(e.Size)
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
