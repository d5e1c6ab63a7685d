// Package skill finds and reads what a user or a project tells the model in files: skills, definitions of sub-agents, and
// instructions. It grants nothing: all it returns is text, names, and notices about what is wrong with a file.
//
// Every file is read through the gate, judged by where it really is: a regular file below the place it was found in, and no
// secret.
package skill

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"anchor/internal/gate"
)

// maxFile bounds a SKILL.md, a definition or an instruction file, in bytes.
const maxFile = 256 << 10

// Finder looks for the files. Config is anchor's configuration directory and Home the user's home, each empty if there is
// none; the project's places are found by the gate.
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

// Find reads all places. It fails only when ctx ends.
func (f Finder) Find(ctx context.Context) (Found, error) {
	var out Found
	dirs := f.Gate.ProjectDirs()
	taken := map[string]string{}
	for _, p := range f.places(dirs, ".anchor/skills", ".agents/skills", ".claude/skills") {
		for _, name := range f.list(ctx, p) {
			f.skill(ctx, p, name, taken, &out)
		}
	}
	clear(taken)
	for _, p := range f.places(dirs, ".anchor/agents", ".claude/agents") {
		for _, name := range f.list(ctx, p) {
			if base, ok := strings.CutSuffix(name, ".md"); ok {
				f.agent(ctx, p, base, taken, &out)
			}
		}
	}
	f.instructions(ctx, dirs, &out)
	return out, ctx.Err()
}

// place is a directory with skills or agents in it; its files may really be anywhere below root.
type place struct{ dir, root string }

// places lists subs in every project directory, the nearest first, then below Config (where .anchor/ is not needed) and Home.
func (f Finder) places(dirs []string, subs ...string) []place {
	var out []place
	for i := len(dirs) - 1; i >= 0; i-- {
		for _, sub := range subs {
			out = append(out, place{filepath.Join(dirs[i], sub), dirs[0]})
		}
	}
	for _, sub := range subs {
		if own, ok := strings.CutPrefix(sub, ".anchor/"); ok && f.Config != "" {
			out = append(out, place{filepath.Join(f.Config, own), ""})
		} else if !ok && f.Home != "" {
			out = append(out, place{filepath.Join(f.Home, sub), ""})
		}
	}
	return out
}

// list names what is in a place. Most places do not exist.
func (f Finder) list(ctx context.Context, p place) []string {
	root := p.root
	if root == "" {
		root = p.dir
	}
	names, _ := f.Gate.ListOwn(ctx, root, p.dir)
	return names
}

// read reads a file of a place. In a user's own place a folder may be a link to elsewhere: many keep their skills in one
// repository. It is then its own root. A file that is not there is no fault; others are told of.
func (f Finder) read(ctx context.Context, p place, file string, out *Found) (text, real string, ok bool) {
	root := p.root
	if root == "" {
		root = filepath.Dir(file)
	}
	text, real, err := f.Gate.ReadOwn(ctx, root, file, maxFile)
	if err != nil && !errors.Is(err, gate.ErrNoFile) {
		out.notice(file, err)
	}
	return text, real, err == nil
}

func (o *Found) notice(file string, err error) { o.Notices = append(o.Notices, file+": "+err.Error()) }

// first says whether name is still free, and takes it for file; of a later one the user is told.
func (o *Found) first(taken map[string]string, kind, name, file string) bool {
	if by, ok := taken[name]; ok {
		o.notice(file, fmt.Errorf("%s %s is already taken from %s", kind, name, by))
		return false
	}
	taken[name] = file
	return true
}

var legalName = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$`)

var fences = regexp.MustCompile(`(?s)\A---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\z)`)

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

// list is a YAML list of words, or one string with the words parted by commas or blanks.
type list []string

// UnmarshalYAML reads either form.
func (l *list) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Decode((*[]string)(l))
	}
	*l = strings.FieldsFunc(n.Value, func(r rune) bool { return strings.ContainsRune(", \t\n", r) })
	return nil
}
