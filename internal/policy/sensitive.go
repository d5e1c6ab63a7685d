package policy

import (
	"path"
	"slices"
	"strings"
)

// Files that run without being asked for: git's own, hooks, start-up files of shells, settings that start programs.
var (
	sensitiveDirs = map[string]string{
		".git": "part of a git repository", ".anchor": "part of anchor's settings", ".husky": "a git hook", ".githooks": "a git hook",
		".vscode": "an editor's settings that can start programs", ".claude": "an agent's settings", ".cursor": "an agent's settings", ".codex": "an agent's settings",
	}
	sensitiveNames = map[string]string{
		".mcp.json": "a list of servers to start", ".gitconfig": "git's settings", ".gitmodules": "git's settings",
		".bashrc": startUp, ".bash_profile": startUp, ".bash_login": startUp, ".bash_logout": startUp, ".bash_aliases": startUp, ".profile": startUp,
		".zshrc": startUp, ".zshenv": startUp, ".zprofile": startUp, ".zlogin": startUp, ".zlogout": startUp, ".kshrc": startUp, ".mkshrc": startUp,
		".cshrc": startUp, ".tcshrc": startUp, ".login": startUp, ".logout": startUp, ".xprofile": startUp, ".xinitrc": startUp, ".xsession": startUp,
		".inputrc": startUp, ".xsessionrc": startUp, "config.fish": startUp, ".pam_environment": startUp,
	}
)

const startUp = "a start-up file of a shell"

// sensitive says what a path is whose writing is asked about each time; empty for an ordinary one. Case does not count,
// since on some disks .GIT and .git are one.
func (r Rules) sensitive(p Path) string {
	for _, name := range []string{p.Abs, p.Lexical} {
		name = strings.TrimPrefix(name, r.Dir+"/") // the directory itself may lie in such a place
		parts := strings.Split(strings.ToLower(path.Clean(name)), "/")
		i := slices.IndexFunc(parts, func(s string) bool { return sensitiveDirs[s] != "" || strings.HasSuffix(s, ".git") && s != ".git" })
		switch {
		case i >= 0 && sensitiveDirs[parts[i]] != "":
			return sensitiveDirs[parts[i]]
		case i >= 0 && i < len(parts)-1:
			return sensitiveDirs[".git"]
		}
		if what := sensitiveNames[parts[len(parts)-1]]; what != "" {
			return what
		}
	}
	return ""
}
