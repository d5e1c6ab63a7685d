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
	Depth   int    `json:"depth,omitempty" about:"levels, default 2"`
	Ignored bool   `json:"ignored,omitempty" about:"show what .gitignore hides"`
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
			return tool.Done(tree(found) + leftOut(skipped)), err
		})
}

// tree draws entries by indentation. Of many, each directory shows its first ones.
func tree(found []gate.Entry) string {
	var out strings.Builder
	seen, hidden := map[string]int{}, map[string]bool{} // by directory
	shown, dirs := 0, 0
	for _, e := range found {
		if e.Type.IsDir() {
			dirs++
		}
		parent, most := path.Dir(e.Rel), listBelow
		if e.Depth == 1 {
			most = listTop
		}
		seen[parent]++
		if len(found) > listMax && (hidden[parent] || seen[parent] > most || shown == listMax) {
			hidden[e.Rel] = true
			continue
		}
		shown++
		fmt.Fprintf(&out, "%s%s\n", strings.Repeat("  ", e.Depth-1), label(e))
	}
	if shown < len(found) {
		fmt.Fprintf(&out, "[%d more entries: list a directory by itself, or use glob]\n", len(found)-shown)
	}
	fmt.Fprintf(&out, "[%d files, %d directories]\n", len(found)-dirs, dirs)
	return out.String()
}

func label(e gate.Entry) string {
	name := gate.OneLine(path.Base(e.Rel))
	switch {
	case e.Type.IsDir():
		return name + "/"
	case e.Type&fs.ModeSymlink != 0:
		return name + " (link)"
	case !e.Type.IsRegular():
		return name + " (special file)"
	case e.Size < 1<<10:
		return fmt.Sprintf("%s  %d B", name, e.Size)
	case e.Size < 1<<20:
		return fmt.Sprintf("%s  %.1f KB", name, float64(e.Size)/(1<<10))
	}
	return fmt.Sprintf("%s  %.1f MB", name, float64(e.Size)/(1<<20))
}
