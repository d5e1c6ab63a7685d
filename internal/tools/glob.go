package tools

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"anchor/internal/gate"
	"anchor/internal/tool"
)

// globMax is how many names glob shows.
const globMax = 500

type globArgs struct {
	Pattern string `json:"pattern" about:"such as src/**/*.{ts,tsx}; without a slash it matches names at any depth"`
	Path    string `json:"path,omitempty"`
	Ignored bool   `json:"ignored,omitempty"`
}

func glob() tool.Tool {
	return tool.Of(spec("glob", true, "Find files by name, newest first."),
		func(a globArgs) string { return a.Pattern },
		func(ctx context.Context, env tool.Env, a globArgs) (tool.Result, error) {
			want, err := matcher(a.Pattern)
			if err != nil {
				return tool.Result{}, err
			}
			var found []gate.Entry
			skipped, err := env.Gate.Walk(ctx, here(a.Path), gate.WalkOptions{Ignored: a.Ignored, Want: want}, func(e gate.Entry) error {
				found = append(found, e)
				return nil
			})
			return tool.Done(newest(found) + leftOut(skipped)), err
		})
}

// matcher returns what says whether an entry fits a pattern: files, or directories for a pattern that ends with a slash. A
// pattern without another slash is matched against the last part of the name.
func matcher(pattern string) (func(gate.Entry) bool, error) {
	if pattern == "" {
		return nil, fmt.Errorf("pattern is empty: ** matches every file")
	}
	plain, dirs := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/")
	if _, err := doublestar.Match(plain, ""); err != nil || !doublestar.ValidatePattern(plain) {
		return nil, fmt.Errorf("the pattern %q is broken: %w (look for a [, { or \\ without its end)", pattern, doublestar.ErrBadPattern)
	}
	whole := strings.Contains(plain, "/")
	return func(e gate.Entry) bool {
		if e.Type.IsDir() != dirs {
			return false
		}
		name := e.Rel
		if !whole {
			name = path.Base(name)
		}
		return doublestar.MatchUnvalidated(plain, name)
	}, nil
}

// newest lists names, the last changed first.
func newest(found []gate.Entry) string {
	if len(found) == 0 {
		return "No files match.\n"
	}
	slices.SortFunc(found, func(a, b gate.Entry) int { return cmp.Or(b.Mod.Compare(a.Mod), cmp.Compare(a.Name, b.Name)) })
	var out strings.Builder
	for _, e := range found[:min(len(found), globMax)] {
		out.WriteString(gate.OneLine(e.Name) + "\n")
	}
	if n := len(found) - globMax; n > 0 {
		fmt.Fprintf(&out, "[%d more: narrow the pattern]\n", n)
	}
	return out.String()
}
