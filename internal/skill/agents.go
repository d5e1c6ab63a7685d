package skill

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Agent is the definition of a named sub-agent: NAME.md with front matter (description, tools, model); the body is its
// prompt. Tools are the names of the tools it may use; nil for all.
type Agent struct {
	Name, Description, Model, Prompt, File string
	Tools                                  []string
}

// builtin are the tools that a definition may name, foreign those of definitions written for Claude Code.
var (
	builtin = []string{"read_file", "list_dir", "glob", "grep", "write_file", "edit_file", "shell", "skill"}
	foreign = map[string]string{"Read": "read_file", "LS": "list_dir", "Glob": "glob", "Grep": "grep", "Write": "write_file",
		"Edit": "edit_file", "MultiEdit": "edit_file", "Bash": "shell", "Skill": "skill"}
	families = map[string]string{"opus": "claude-opus-5", "sonnet": "claude-sonnet-5", "haiku": "claude-haiku-4-5", "inherit": "", "": ""}
)

// toolWord is one in a list of tools, written as YAML's list or in one line.
var toolWord = regexp.MustCompile(`[\w-]+(\([^)]*\))?`)

// define reads a definition and says what of it was dropped.
func define(text, name string) (a Agent, dropped []string, err error) {
	var f struct {
		Description, Model string
		Tools              any
	}
	body, err := split(text, &f)
	switch {
	case err != nil:
		return a, nil, err
	case !legalName().MatchString(name) || len(name) > 64:
		return a, nil, fmt.Errorf("the file's name %q must be lowercase letters, digits and single hyphens", name)
	case strings.TrimSpace(f.Description) == "":
		return a, nil, errors.New("description is missing in the front matter")
	}
	a = Agent{Name: name, Description: strings.Join(strings.Fields(f.Description), " "), Model: f.Model, Prompt: strings.TrimSpace(body)}
	if f.Tools != nil {
		a.Tools = []string{}
		for _, t := range toolWord.FindAllString(fmt.Sprint(f.Tools), -1) {
			if known, ok := toolName(t); ok && !slices.Contains(a.Tools, known) {
				a.Tools = append(a.Tools, known)
			} else if !ok {
				dropped = append(dropped, fmt.Sprintf("the unknown tool %q", t))
			}
		}
	}
	if mapped, ok := families[f.Model]; ok {
		a.Model = mapped
	} else if strings.HasPrefix(f.Model, "script:") {
		dropped, a.Model = append(dropped, fmt.Sprintf("model %q, which only the command line may name,", f.Model)), ""
	}
	return a, dropped, nil
}

// toolName maps a name to that of a tool a sub-agent may have. Bash(git:*) narrows by command, which is the gate's affair.
func toolName(t string) (string, bool) {
	name, _, _ := strings.Cut(t, "(")
	if m := foreign[name]; m != "" {
		return m, true
	}
	return name, slices.Contains(builtin, name) || strings.HasPrefix(name, "mcp__")
}
