package skill

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"anchor/internal/gate"
)

// Skill is a folder with a SKILL.md, as the Agent Skills specification has it (agentskills.io/specification). What else stands in
// the front matter, allowed-tools too, is read past: a skill grants nothing.
type Skill struct {
	Name        string
	Description string
	Dir         string // the real folder, absolute
	File        string // its SKILL.md, as found
	// Manual skills are not offered to the model; the user calls them by /NAME.
	Manual bool `yaml:"disable-model-invocation"`
}

// parse checks a SKILL.md against the specification's limits.
func parse(text, folder string) (Skill, error) {
	var f struct {
		Skill         `yaml:",inline"`
		Compatibility string
	}
	if _, err := split(text, &f); err != nil {
		return Skill{}, err
	}
	switch {
	case f.Name == "":
		return Skill{}, errors.New("name is missing in the front matter")
	case utf8.RuneCountInString(f.Name) > 64 || !legalName().MatchString(f.Name):
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

// listingSize is about how many characters a listing takes at the most, whatever the number of skills.
const listingSize = 6000

// Listing names the skills that the model may load, a line each, for the system prompt. With many, descriptions are cut to
// an equal share of the room. Empty without skills.
func Listing(skills []Skill) string {
	for share := 1024; ; share = share * 3 / 4 {
		var b strings.Builder
		for _, s := range skills {
			if !s.Manual {
				fmt.Fprintf(&b, "- %s: %s\n", s.Name, cut(s.Description, share))
			}
		}
		if b.Len() <= listingSize || share == 0 {
			return b.String()
		}
	}
}

// cut shortens s to at most n bytes, whole characters, with a mark.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(0, n-len("…"))], "") + "…"
}

// Set loads skills by name. It is what the skill tool and /NAME use.
type Set struct {
	Gate   *gate.Gate
	Skills []Skill
}

// Load returns a skill's body for the model, with the folder its other files are in. Of those that only the user may call it knows
// nothing; the error names the others.
func (s Set) Load(ctx context.Context, name string) (string, error) {
	s.Skills = slices.DeleteFunc(slices.Clone(s.Skills), func(k Skill) bool { return k.Manual })
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
		text, _, err := s.Gate.ReadOwn(ctx, k.Dir, filepath.Join(k.Dir, "SKILL.md"), maxFile)
		if err != nil {
			return "", err
		}
		body, err := split(text, &struct{}{})
		if err != nil {
			return "", err
		}
		if strings.Contains(body, "$ARGUMENTS") {
			body = strings.ReplaceAll(body, "$ARGUMENTS", arguments)
		} else if arguments != "" {
			body = strings.TrimRight(body, "\n") + "\n\nArguments: " + arguments + "\n"
		}
		return fmt.Sprintf("Skill %s. Its files are in %s.\n\n%s", k.Name, k.Dir, body), nil
	}
	return "", fmt.Errorf("no skill %q; there are: %s", name, strings.Join(names, ", "))
}
