package skill

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Agent is the definition of a named sub-agent: NAME.md with front matter (description, tools, model); the body is its prompt.
type Agent struct {
	Name        string
	Description string
	// Tools are the names of the tools it may use; nil for all.
	Tools  []string
	Model  string
	Prompt string
	File   string
}

// builtin are the tools that a definition may name.
var builtin = []string{"read_file", "list_dir", "glob", "grep", "write_file", "edit_file", "shell", "skill"}

// foreign maps the tool names of definitions written for Claude Code.
var foreign = map[string]string{
	"Read": "read_file", "LS": "list_dir", "Glob": "glob", "Grep": "grep", "Write": "write_file", "Edit": "edit_file", "MultiEdit": "edit_file",
	"Bash": "shell", "Skill": "skill",
}

// families maps the model names of such definitions; inherit is the main agent's.
var families = map[string]string{"opus": "claude-opus-5", "sonnet": "claude-sonnet-5", "haiku": "claude-haiku-4-5", "inherit": ""}

func (f Finder) agents(ctx context.Context, out *Found) {
	for _, p := range f.places([]string{".anchor/agents", ".claude/agents"}, "agents", []string{".claude/agents"}) {
		names, err := f.Gate.ListOwn(ctx, p.root, p.dir)
		if err != nil {
			continue
		}
		for _, name := range names {
			if base, ok := strings.CutSuffix(name, ".md"); ok {
				f.agent(ctx, p, base, out)
			}
		}
	}
}

// agent reads one definition. The first place with a name wins.
func (f Finder) agent(ctx context.Context, p place, name string, out *Found) {
	file := filepath.Join(p.dir, name+".md")
	data, _, err := f.Gate.ReadOwn(ctx, p.root, file, maxFile)
	if err != nil {
		out.notice(file, err)
		return
	}
	a, dropped, err := define(data, name)
	if err != nil {
		out.notice(file, err)
		return
	}
	a.File = file
	if i := slices.IndexFunc(out.Agents, func(have Agent) bool { return have.Name == a.Name }); i >= 0 {
		out.notice(file, fmt.Errorf("agent %s is already taken from %s", a.Name, out.Agents[i].File))
		return
	}
	for _, d := range dropped {
		out.notice(file, errors.New(d))
	}
	out.Agents = append(out.Agents, a)
}

// define reads a definition and says what of it was dropped.
func define(data []byte, name string) (Agent, []string, error) {
	var f struct {
		Description string `yaml:"description"`
		Tools       *list  `yaml:"tools"`
		Model       string `yaml:"model"`
	}
	body, err := split(data, &f)
	if err != nil {
		return Agent{}, nil, err
	}
	if !legalName.MatchString(name) || len(name) > 64 {
		return Agent{}, nil, fmt.Errorf("the file's name %q must be lowercase letters, digits and single hyphens", name)
	}
	if strings.TrimSpace(f.Description) == "" {
		return Agent{}, nil, errors.New("description is missing in the front matter")
	}
	a := Agent{Name: name, Description: strings.Join(strings.Fields(f.Description), " "), Prompt: strings.TrimSpace(body)}
	var dropped []string
	if f.Tools != nil {
		a.Tools = []string{}
		for _, t := range *f.Tools {
			if known, ok := toolName(t); !ok {
				dropped = append(dropped, fmt.Sprintf("tool %q is unknown and was left out", t))
			} else if !slices.Contains(a.Tools, known) {
				a.Tools = append(a.Tools, known)
			}
		}
	}
	mapped, alias := families[f.Model]
	switch {
	case alias:
		a.Model = mapped
	case strings.HasPrefix(f.Model, "script:"):
		dropped = append(dropped, fmt.Sprintf("model %q may only come from the command line and was left out", f.Model))
	default:
		a.Model = f.Model
	}
	return a, dropped, nil
}

// toolName maps a name to that of a tool a sub-agent may have.
func toolName(t string) (string, bool) {
	name, _, _ := strings.Cut(t, "(") // Bash(git:*) narrows by command, which is the gate's affair
	if m := foreign[name]; m != "" {
		return m, true
	}
	return name, slices.Contains(builtin, name) || strings.HasPrefix(name, "mcp__")
}

// AgentListing names the definitions, a line each, for the system prompt.
func AgentListing(agents []Agent) string {
	var b strings.Builder
	for _, a := range agents {
		fmt.Fprintf(&b, "- %s: %s\n", a.Name, cut(a.Description, 300))
	}
	return b.String()
}
