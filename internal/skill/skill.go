package skill

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"anchor/internal/gate"
)

// maxFile bounds a SKILL.md, a definition or an instruction file, in bytes.
const maxFile = 256 << 10

// Skill is a folder with a SKILL.md, as the Agent Skills specification has it (agentskills.io/specification).
type Skill struct {
	Name        string
	Description string
	Dir         string // the real folder, absolute
	File        string // its SKILL.md, as found
	// Manual skills (disable-model-invocation) are not offered to the model; the user calls them by /NAME.
	Manual bool
}

// front is the front matter of a SKILL.md. allowed-tools and whatever else stands there is read past: a skill grants nothing.
type front struct {
	Name          string `yaml:"name"`
	Description   string `yaml:"description"`
	Compatibility string `yaml:"compatibility"`
	Manual        bool   `yaml:"disable-model-invocation"`
}

// skills fills out.Skills. The first place with a name wins; later ones are told of.
func (f Finder) skills(ctx context.Context, out *Found) {
	dirs := []string{".anchor/skills", ".agents/skills", ".claude/skills"}
	for _, p := range f.places(dirs, "skills", dirs[1:]) {
		names, err := f.Gate.ListOwn(ctx, p.root, p.dir)
		if err != nil {
			continue // most places do not exist
		}
		for _, name := range names {
			f.skill(ctx, p, name, out)
		}
	}
}

// skill reads one folder. A user's folder may be a link to elsewhere (many keep their skills in one repository): it is then
// its own root.
func (f Finder) skill(ctx context.Context, p place, name string, out *Found) {
	dir := filepath.Join(p.dir, name)
	root := p.root
	if root == p.dir {
		root = dir
	}
	file := filepath.Join(dir, "SKILL.md")
	data, real, err := f.Gate.ReadOwn(ctx, root, file, maxFile)
	if errors.Is(err, gate.ErrNoFile) {
		return // a folder or file that is no skill
	}
	if err != nil {
		out.notice(file, err)
		return
	}
	s, err := parse(data, name)
	if err != nil {
		out.notice(file, err)
		return
	}
	s.File, s.Dir = file, filepath.Dir(real)
	if i := slices.IndexFunc(out.Skills, func(have Skill) bool { return have.Name == s.Name }); i >= 0 {
		if out.Skills[i].Dir != s.Dir {
			out.notice(file, fmt.Errorf("skill %s is already taken from %s", s.Name, out.Skills[i].File))
		}
		return
	}
	f.Gate.Own(s.Dir)
	out.Skills = append(out.Skills, s)
}

var legalName = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$`)

// parse checks a SKILL.md against the specification's limits.
func parse(data []byte, folder string) (Skill, error) {
	var f front
	if _, err := split(data, &f); err != nil {
		return Skill{}, err
	}
	switch {
	case f.Name == "":
		return Skill{}, errors.New("name is missing in the front matter")
	case utf8.RuneCountInString(f.Name) > 64 || !legalName.MatchString(f.Name):
		return Skill{}, fmt.Errorf("name %q must be 1 to 64 lowercase letters, digits and single hyphens", f.Name)
	case f.Name != folder:
		return Skill{}, fmt.Errorf("name %q must be the name of its folder, %q", f.Name, folder)
	case strings.TrimSpace(f.Description) == "":
		return Skill{}, errors.New("description is missing in the front matter")
	case utf8.RuneCountInString(f.Description) > 1024:
		return Skill{}, errors.New("description is over 1,024 characters")
	case utf8.RuneCountInString(f.Compatibility) > 500:
		return Skill{}, errors.New("compatibility is over 500 characters")
	}
	return Skill{Name: f.Name, Description: strings.Join(strings.Fields(f.Description), " "), Manual: f.Manual}, nil
}

// listingSize is how many characters a listing takes at the most, whatever the number of skills.
const listingSize = 6000

// Listing names the skills that the model may load, a line each, for the system prompt. With many, descriptions are cut to
// an equal share of the room. Empty without skills.
func Listing(skills []Skill) string {
	var offered []Skill
	total := 0
	for _, s := range skills {
		if !s.Manual {
			offered = append(offered, s)
			total += len(s.Name) + len(s.Description) + 5
		}
	}
	share := 1024
	if total > listingSize {
		share = 0
		if n := len(offered); n > 0 {
			names := 0
			for _, s := range offered {
				names += len(s.Name) + 5
			}
			share = max(0, (listingSize-names)/n)
		}
	}
	var b strings.Builder
	for _, s := range offered {
		b.WriteString("- " + s.Name)
		if d := cut(s.Description, share); d != "" {
			b.WriteString(": " + d)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// cut shortens s to at most n bytes, whole characters, with a mark.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	if n <= 0 {
		return ""
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Set loads skills by name. It is what the skill tool and /NAME use.
type Set struct {
	Gate   *gate.Gate
	Skills []Skill
}

// Load returns a skill's body for the model, with the folder its other files are in. Skills that only the user may call are
// refused; the error names those that exist.
func (s Set) Load(ctx context.Context, name string) (string, error) {
	for _, k := range s.Skills {
		if k.Name == name && k.Manual {
			return "", fmt.Errorf("skill %s can only be called by the user, as /%s", name, name)
		}
	}
	return s.Use(ctx, name, "")
}

// Use returns a skill's body as the user calls it by /NAME arguments: $ARGUMENTS in it is replaced, or the arguments follow.
func (s Set) Use(ctx context.Context, name, arguments string) (string, error) {
	var names []string
	for _, k := range s.Skills {
		names = append(names, k.Name)
		if k.Name != name {
			continue
		}
		data, _, err := s.Gate.ReadOwn(ctx, k.Dir, filepath.Join(k.Dir, "SKILL.md"), maxFile)
		if err != nil {
			return "", err
		}
		body, err := split(data, &front{})
		if err != nil {
			return "", err
		}
		switch {
		case strings.Contains(body, "$ARGUMENTS"):
			body = strings.ReplaceAll(body, "$ARGUMENTS", arguments)
		case arguments != "":
			body = strings.TrimRight(body, "\n") + "\n\nArguments: " + arguments + "\n"
		}
		return fmt.Sprintf("Skill %s. Its files are in %s.\n\n%s", k.Name, k.Dir, body), nil
	}
	return "", fmt.Errorf("no skill %q; there are: %s", name, strings.Join(names, ", "))
}
