// Package skill finds and reads what a user or a project tells the model in files: skills, definitions of sub-agents, and
// instructions. It grants nothing: all it returns is text, names, and notices about what is wrong with a file.
//
// Every file is read through the gate, judged by where it really is: a regular file below the place it was found in, and no secret.
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
	"sync"

	"go.yaml.in/yaml/v3"

	"anchor/internal/gate"
)

// maxFile bounds a SKILL.md, a definition or an instruction file, in bytes.
const maxFile = 256 << 10

// Finder looks for the files. Config is anchor's configuration directory and Home the user's home, each empty if there is none;
// the project's places are found by the gate.
type Finder struct {
	Gate         *gate.Gate
	Config, Home string
	Files        []File // more instructions
}

// File is a file of instructions that a settings file names. Path counts from Dir, where it is not absolute; the file must
// really lie in Root, or without one in the folder that Path says.
type File struct{ Path, Dir, Root string }

// Found is everything that was found, and a notice for each file that is broken.
type Found struct {
	Skills       []Skill
	Agents       []Agent
	Instructions string
	Sources      []string // the instruction files, in order
	Notices      []string
}

// search is one look through all places.
type search struct {
	Finder
	Found
	ctx   context.Context
	dirs  []string          // of the project
	taken map[string]string // kind and name to the file that has it
	text  strings.Builder   // of the instructions
	open  []string          // the real instruction files being read, against loops
}

// Find reads all places. It fails only when ctx ends.
func (f Finder) Find(ctx context.Context) (Found, error) {
	s := &search{Finder: f, ctx: ctx, dirs: f.Gate.ProjectDirs(), taken: map[string]string{}}
	for _, from := range s.sources("/SKILL.md", ".anchor/skills", ".agents/skills", ".claude/skills") {
		if skill, err := parse(from.text, from.name); s.takes("skill", from, err) {
			skill.File, skill.Dir = from.file, filepath.Dir(from.real)
			f.Gate.Own(skill.Dir)
			s.Skills = append(s.Skills, skill)
		}
	}
	for _, from := range s.sources(".md", ".anchor/agents", ".claude/agents") {
		if agent, dropped, err := define(from.text, from.name); s.takes("agent", from, err) {
			agent.File = from.file
			s.Agents = append(s.Agents, agent)
			for _, d := range dropped {
				s.notice(from.file, errors.New(d+" was left out"))
			}
		}
	}
	s.instructions()
	return s.Found, ctx.Err()
}

// source is the file of a skill or an agent: text, as it was found and where it really is. name is its folder's or its own.
type source struct{ name, file, real, text string }

// sources reads the files NAME+suffix of all places: subs in the project, the nearest first, then below Config (without .anchor/) and Home.
func (s *search) sources(suffix string, subs ...string) (out []source) {
	for _, dir := range slices.Backward(s.dirs) {
		for _, sub := range subs {
			out = append(out, s.place(filepath.Join(dir, sub), s.dirs[0], suffix)...)
		}
	}
	for _, sub := range subs {
		own, ok := strings.CutPrefix(sub, ".anchor/")
		base := s.Home
		if ok {
			base = s.Config
		}
		if base != "" {
			out = append(out, s.place(filepath.Join(base, own), "", suffix)...)
		}
	}
	return out
}

// place reads the files of a place. They may really be anywhere below root. In a user's own place, which has none, a folder may
// be a link to elsewhere (many keep their skills in one repository): it is then its own root.
func (s *search) place(dir, root, suffix string) (out []source) {
	names, _ := s.Gate.ListOwn(s.ctx, cmp.Or(root, dir), dir) // most places do not exist
	for _, entry := range names {
		name, named := strings.CutSuffix(entry, suffix)
		if suffix == ".md" && !named {
			continue
		}
		file := filepath.Join(dir, name+suffix)
		text, real, err := s.Gate.ReadOwn(s.ctx, cmp.Or(root, filepath.Dir(file)), file, maxFile)
		if err == nil {
			out = append(out, source{name, file, real, text})
		} else if !errors.Is(err, gate.ErrNoFile) {
			s.notice(file, err)
		}
	}
	return out
}

func (s *search) notice(file string, err error) {
	s.Notices = append(s.Notices, file+": "+err.Error())
}

// takes says whether a file is good and the first with its name, or tells why it is left out.
func (s *search) takes(kind string, from source, err error) bool {
	name := kind + " " + from.name
	if by, ok := s.taken[name]; ok && err == nil {
		err = fmt.Errorf("%s is already taken from %s", name, by)
	}
	if err != nil {
		s.notice(from.file, err)
		return false
	}
	s.taken[name] = from.file
	return true
}

var (
	// legalName is compiled where there is a skill: its classes are large, and most starts find none.
	legalName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$`)
	})
	fences = regexp.MustCompile(`(?s)\A---[ \t]*\n(.*?\n?)---[ \t]*(?:\n|\z)`)
)

// split separates the YAML front matter of a Markdown file, between two lines of three dashes, from its body, and decodes
// it into v. Unknown fields are left alone.
func split(text string, v any) (body string, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	m := fences.FindStringSubmatch(text)
	if m == nil {
		return "", errors.New(`no front matter: it stands at the top, between two lines "---"`)
	}
	if err := yaml.Unmarshal([]byte(m[1]), v); err != nil {
		return "", fmt.Errorf("front matter: %s", strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " "))
	}
	return strings.TrimLeft(text[len(m[0]):], "\n"), nil
}
