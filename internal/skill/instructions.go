package skill

import (
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
	// maxInstructions bounds all instructions together, in bytes.
	maxInstructions = 32 << 10
	// maxDepth bounds how deep includes go.
	maxDepth = 5
)

// instructions reads AGENTS.md from Config, then AGENTS.md (or CLAUDE.md where there is none) of every project directory.
func (f Finder) instructions(ctx context.Context, out *Found) {
	r := reader{ctx: ctx, gate: f.Gate, home: f.Home, out: out}
	if f.Config != "" {
		r.first(f.Config, f.Config, "AGENTS.md")
	}
	for _, dir := range f.Dirs {
		r.first(f.Dirs[0], dir, "AGENTS.md", "CLAUDE.md")
	}
	out.Instructions = r.text.String()
	if len(out.Instructions) > maxInstructions {
		out.Instructions = cut(out.Instructions, maxInstructions)
		out.Notices = append(out.Notices, fmt.Sprintf("the instructions of %s are over 32 KiB together; the rest was cut", strings.Join(out.Sources, ", ")))
	}
}

// reader gathers instruction files.
type reader struct {
	ctx  context.Context
	gate *gate.Gate
	home string
	out  *Found
	text strings.Builder
	open []string // the real files being read, against loops
}

// first adds the first of the names that exists in dir.
func (r *reader) first(root, dir string, names ...string) {
	for _, name := range names {
		file := filepath.Join(dir, name)
		err := r.add(root, file, 0)
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
func (r *reader) add(root, file string, depth int) error {
	data, real, err := r.gate.ReadOwn(r.ctx, root, file, maxFile)
	if err != nil {
		return err
	}
	if slices.Contains(r.open, real) {
		return errors.New("includes itself; left out")
	}
	r.open = append(r.open, real)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	r.out.Sources = append(r.out.Sources, file)
	text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
	fmt.Fprintf(&r.text, "Instructions from %s:\n\n%s\n\n", file, text)
	for _, name := range includes(text) {
		r.include(root, filepath.Dir(file), name, depth+1)
	}
	return nil
}

// include adds an included file, or says why not. A word that merely looks like an include (@someone) is no fault.
func (r *reader) include(root, dir, name string, depth int) {
	path := name
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		path = filepath.Join(r.home, rest)
	} else if !filepath.IsAbs(name) {
		path = filepath.Join(dir, name)
	}
	err := errors.New("includes go too deep; left out")
	if depth <= maxDepth {
		err = r.add(root, path, depth)
	}
	if err != nil && (!errors.Is(err, gate.ErrNoFile) || strings.ContainsAny(name, "/.")) {
		r.out.notice(path, err)
	}
}

// an include is a word that starts with @, as CLAUDE.md files have it.
var include = regexp.MustCompile(`(?:^|[\s(])@([^\s@()<>"'` + "`" + `,;:]+)`)

// includes finds the @path words of a text outside code spans and fenced code.
func includes(text string) []string {
	var out []string
	fenced := false
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		for i, part := range strings.Split(line, "`") {
			if i%2 == 1 {
				continue
			}
			for _, m := range include.FindAllStringSubmatch(part, -1) {
				name := strings.TrimRight(m[1], ".!?")
				if name != "" && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}
