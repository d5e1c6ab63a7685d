package gate

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Git runs programs that a repository's own configuration names, also for commands that only read. fsmonitor, hooks, pagers
// and editors are overridden in the environment (env.go), and so is the use of a bare repository that lies in the tree. The
// other keys that name programs, or lead to further configuration, are found here and asked about.

// repo is where a repository keeps its things; all folders with links resolved.
type repo struct{ top, gitDir, common string }

// findRepo finds the repository that a directory lies in.
func findRepo(dir string) (repo, bool) {
	top := repositoryTop(dir)
	if top == "" {
		return repo{}, false
	}
	dot := filepath.Join(top, ".git")
	r := repo{top: top, gitDir: resolved(dot)}
	if info, err := os.Stat(dot); err == nil && !info.IsDir() {
		r.gitDir = pointed(dot, "gitdir: ", top)
	}
	r.common = r.gitDir
	if common := pointed(filepath.Join(r.gitDir, "commondir"), "", r.gitDir); common != "" {
		r.common = common
	}
	return r, true
}

// elsewhere says whether the .git of a directory leads to a repository that is not this directory's: neither below it, nor
// one that names it as its working tree (git-worktree(1)).
func (r repo) elsewhere() bool {
	_, under := below(r.gitDir, r.top)
	return !under && pointed(filepath.Join(r.gitDir, "gitdir"), "", r.gitDir) != filepath.Join(r.top, ".git")
}

// pointed reads a path from a file of one line, relative to base; empty if there is none.
func pointed(file, prefix, base string) string {
	line, ok := strings.CutPrefix(strings.TrimRight(string(readSmall(file)), "\n"), prefix)
	if !ok || line == "" {
		return ""
	}
	if !filepath.IsAbs(line) {
		line = filepath.Join(base, line)
	}
	return resolved(line)
}

// gitPrograms returns the keys of the configuration of the repositories of some directories that name programs.
func gitPrograms(dirs []string) []string {
	var keys []string
	add := func(key string) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, r := range repos(dirs) {
		ours := !r.elsewhere()
		files := []string{filepath.Join(r.gitDir, "config"), filepath.Join(r.common, "config"), filepath.Join(r.gitDir, "config.worktree")}
		for i, file := range append(files, submoduleConfigs(filepath.Join(r.common, "modules"))...) {
			for _, e := range readGitConfig(file) {
				if e.key() == "core.worktree" {
					// A submodule's names its own tree.
					back := resolved(join(filepath.Dir(file), e.value)) == r.top
					ours = ours || back
					if back || i >= len(files) {
						continue
					}
				}
				if e.program() {
					add(e.key())
				}
			}
		}
		if !ours {
			add(".git of another repository")
		}
	}
	return keys
}

// repos returns the repositories of some directories, each once.
func repos(dirs []string) []repo {
	var out []repo
	for _, dir := range dirs {
		if r, ok := findRepo(dir); ok && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// submoduleConfigs returns the configuration files of submodules, which git status and diff go into.
func submoduleConfigs(modules string) []string {
	var out []string
	_ = filepath.WalkDir(modules, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || len(out) > 1000:
			return fs.SkipDir
		case d.IsDir() && (d.Name() == "objects" || d.Name() == "refs" || d.Name() == "logs"):
			return fs.SkipDir
		case d.Name() == "config" || d.Name() == "config.worktree":
			out = append(out, path)
		}
		return nil
	})
	return out
}

// gitSetting is one entry of a configuration file. Section and name are in lower case, as git compares them.
type gitSetting struct{ section, sub, name, value string }

func (e gitSetting) key() string {
	if e.sub != "" {
		return e.section + "." + e.sub + "." + e.name
	}
	return e.section + "." + e.name
}

// program says whether the entry makes a reading git command run a program, read other configuration, or look at another tree.
func (e gitSetting) program() bool {
	switch e.section {
	case "include", "includeif", "gpg", "filter":
		return e.name != "required"
	case "diff":
		return e.name == "external" || e.name == "command" || e.name == "textconv"
	case "log":
		return e.name == "showsignature"
	case "core":
		return e.name == "worktree" || e.name == "attributesfile" || e.name == "alternaterefscommand"
	case "?":
		return true
	}
	return false
}

// readGitConfig reads a file in git's configuration format (git-config(1), "Syntax"). What it does not understand becomes an entry
// of the section "?".
func readGitConfig(file string) []gitSetting {
	var out []gitSetting
	var at gitSetting
	data := readSmall(file)
	if len(data) == maxIgnoreFile {
		out = append(out, gitSetting{section: "?", name: "too long"})
	}
	lines := bufio.NewScanner(strings.NewReader(strings.ReplaceAll(string(data), "\\\n", "")))
	lines.Buffer(nil, maxIgnoreFile+1)
	for lines.Scan() {
		line := strings.TrimLeft(lines.Text(), "\ufeff \t\r")
		if strings.HasPrefix(line, "[") {
			end := sectionEnd(line)
			if end < 0 {
				out = append(out, gitSetting{section: "?", name: line})
				continue
			}
			section, sub, _ := strings.Cut(line[1:end], " ")
			if dot, rest, ok := strings.Cut(section, "."); ok {
				section, sub = dot, rest
			}
			at = gitSetting{section: strings.ToLower(section), sub: strings.Trim(strings.TrimSpace(sub), `"`)}
			line = strings.TrimLeft(line[end+1:], " \t\r")
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		e := at
		e.name, e.value = strings.ToLower(strings.TrimSpace(name)), strings.Trim(strings.TrimSpace(value), `"`)
		out = append(out, e)
	}
	return out
}

// sectionEnd finds the bracket that closes a section's header; one inside the quotes does not.
func sectionEnd(line string) int {
	quoted := false
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quoted:
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ']' && !quoted:
			return i
		}
	}
	return -1
}

// gitReads are the paths outside the directory that git needs for its own repository: its top, its folders, where else its
// objects are, and what the user's own settings include.
func (s *shared) gitReads() []string {
	var out []string
	if r, ok := findRepo(s.dir); ok {
		out = append(out, r.top, r.gitDir, r.common)
		alternates := string(readSmall(filepath.Join(r.common, "objects/info/alternates")))
		out = append(out, strings.Fields(alternates)...)
	}
	for _, file := range []string{".gitconfig", ".config/git/config"} {
		for _, e := range readGitConfig(filepath.Join(s.o.Home, file)) {
			if (e.section == "include" || e.section == "includeif") && e.name == "path" || e.section == "core" && (e.name == "excludesfile" || e.name == "attributesfile") {
				path, home := strings.CutPrefix(e.value, "~/")
				if home || !filepath.IsAbs(path) {
					path = filepath.Join(s.o.Home, path)
				}
				out = append(out, path)
			}
		}
	}
	return out
}
