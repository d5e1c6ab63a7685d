package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"anchor/internal/gate"
)

const (
	maxInstructions = 32 << 10 // of all together, in bytes
	maxDepth        = 5        // of includes
)

// instructions reads AGENTS.md from Config, then AGENTS.md (or CLAUDE.md where there is none) of every project directory, then
// Files.
func (f Finder) instructions(ctx context.Context, dirs []string, out *Found) {
	r := reader{ctx: ctx, f: f, out: out}
	if f.Config != "" {
		r.first(f.Config, f.Config, "AGENTS.md")
	}
	for _, dir := range dirs {
		r.first(dirs[0], dir, "AGENTS.md", "CLAUDE.md")
	}
	for _, file := range f.Files {
		path := f.at(file.Path, file.Dir)
		if err := r.add(cmp.Or(file.Root, filepath.Dir(path)), path); err != nil {
			out.notice(path, err)
		}
	}
	if r.text.Len() > maxInstructions {
		out.Notices = append(out.Notices, fmt.Sprintf("the instructions of %s are over 32 KiB together; the rest was cut", strings.Join(out.Sources, ", ")))
	}
	out.Instructions = cut(r.text.String(), maxInstructions)
}

// reader gathers instruction files. open are the real files being read, against loops.
type reader struct {
	ctx  context.Context
	f    Finder
	out  *Found
	text strings.Builder
	open []string
}

// first adds the first of the names that exists in dir.
func (r *reader) first(root, dir string, names ...string) {
	for _, name := range names {
		file := filepath.Join(dir, name)
		err := r.add(root, file)
		if errors.Is(err, gate.ErrNoFile) {
			continue
		}
		if err != nil {
			r.out.notice(file, err)
		}
		return
	}
}

// add appends a file and what it includes.
func (r *reader) add(root, file string) error {
	if len(r.open) > maxDepth {
		return errors.New("is included too deep; left out")
	}
	text, real, err := r.f.Gate.ReadOwn(r.ctx, root, file, maxFile)
	if err != nil {
		return err
	}
	if slices.Contains(r.open, real) {
		return errors.New("includes itself; left out")
	}
	r.open = append(r.open, real)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	r.out.Sources = append(r.out.Sources, file)
	fmt.Fprintf(&r.text, "Instructions from %s:\n\n%s\n\n", file, strings.TrimSpace(text))
	for _, name := range includes(text) {
		path := r.f.at(name, filepath.Dir(file))
		// A word that merely looks like an include (@someone) is no fault.
		if err := r.add(root, path); err != nil && (!errors.Is(err, gate.ErrNoFile) || strings.ContainsAny(name, "/.")) {
			r.out.notice(path, err)
		}
	}
	return nil
}

// at says what a name in a file of dir means.
func (f Finder) at(name, dir string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(f.Home, rest)
	} else if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

var (
	// An include is a word that starts with @, as CLAUDE.md files have it, outside code.
	include = regexp.MustCompile("(?:^|[\\s(])@([^\\s@()<>\"'`,;:]+)")
	code    = regexp.MustCompile("(?s)(?:^|\n)[ \t]*```.*?(?:\n[ \t]*```|$)|`[^`\n]*`")
)

// includes finds the @path words of a text.
func includes(text string) []string {
	var out []string
	for _, m := range include.FindAllStringSubmatch(code.ReplaceAllString(text, " "), -1) {
		if name := strings.TrimRight(m[1], ".!?"); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
