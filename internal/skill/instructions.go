package skill

import (
	"cmp"
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

// instructions reads AGENTS.md from Config, then AGENTS.md (or CLAUDE.md where there is none) of every project directory, then Files.
func (s *search) instructions() {
	if s.Config != "" {
		s.first(s.Config, s.Config, "AGENTS.md")
	}
	for _, dir := range s.dirs {
		s.first(s.dirs[0], dir, "AGENTS.md", "CLAUDE.md")
	}
	for _, file := range s.Files {
		path := s.at(file.Path, file.Dir)
		if err := s.add(cmp.Or(file.Root, filepath.Dir(path)), path); err != nil {
			s.notice(path, err)
		}
	}
	if s.text.Len() > maxInstructions {
		s.Notices = append(s.Notices, fmt.Sprintf("the instructions of %s are over 32 KiB together; the rest was cut", strings.Join(s.Sources, ", ")))
	}
	s.Instructions = cut(s.text.String(), maxInstructions)
}

// first adds the first of the names that exists in dir.
func (s *search) first(root, dir string, names ...string) {
	for _, name := range names {
		err := s.add(root, filepath.Join(dir, name))
		if errors.Is(err, gate.ErrNoFile) {
			continue
		}
		if err != nil {
			s.notice(filepath.Join(dir, name), err)
		}
		return
	}
}

// add appends a file and what it includes.
func (s *search) add(root, file string) error {
	if len(s.open) > maxDepth {
		return errors.New("is included too deep; left out")
	}
	text, real, err := s.Gate.ReadOwn(s.ctx, root, file, maxFile)
	if err != nil {
		return err
	}
	if slices.Contains(s.open, real) {
		return errors.New("includes itself; left out")
	}
	s.open = append(s.open, real)
	defer func() { s.open = s.open[:len(s.open)-1] }()
	s.Sources = append(s.Sources, file)
	fmt.Fprintf(&s.text, "Instructions from %s:\n\n%s\n\n", file, strings.TrimSpace(text))
	for _, name := range includes(text) {
		path := s.at(name, filepath.Dir(file))
		// A word that merely looks like an include (@someone) is no fault.
		if err := s.add(root, path); err != nil && (!errors.Is(err, gate.ErrNoFile) || strings.ContainsAny(name, "/.")) {
			s.notice(path, err)
		}
	}
	return nil
}

// at says what a name in a file of dir means.
func (f Finder) at(name, dir string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(f.Home, rest)
	}
	if filepath.IsAbs(name) {
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
