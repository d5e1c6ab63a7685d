package agent

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"
)

// Prompt is what the system prompt is made of. It does not change while a session runs, so that it is read from the cache.
type Prompt struct {
	// Base replaces the text of anchor's own; empty for that. Extra comes last.
	Base, Extra string
	// Dir is the directory, Platform the system ("linux/amd64"), Date the day; Git says that Dir is in a repository.
	Dir, Platform, Date string
	Git                 bool
	// Instructions are the user's and the project's, Skills the listing of skills; each may be empty.
	Instructions, Skills string
	Agents               []Definition
}

//go:embed prompt.md
var basePrompt string

// String is the system prompt.
func (p Prompt) String() string {
	git := "none"
	if p.Git {
		git = "git"
	}
	var agents strings.Builder
	for _, a := range p.Agents {
		fmt.Fprintf(&agents, "- %s: %s\n", a.Name, oneLine(a.Description, 300))
	}
	out := strings.TrimSpace(cmp.Or(strings.TrimSpace(p.Base), basePrompt)) + "\n"
	section := func(title, text string) {
		if !blank(text) {
			out += "\n# " + title + "\n" + strings.TrimSpace(text) + "\n"
		}
	}
	section("Environment", fmt.Sprintf("- Directory: %s\n- Repository: %s\n- System: %s\n- Date: %s", p.Dir, git, p.Platform, p.Date))
	section("Instructions of the user and the project", p.Instructions)
	section("Skills", p.Skills)
	section("Sub-agents by name", agents.String())
	section("More instructions", p.Extra)
	return out
}
