package gate

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"anchor/internal/denial"
	"anchor/internal/policy"
	"anchor/internal/shellread"
)

// maxMatches bounds what a glob of a command is expanded to.
const maxMatches = 10_000

// execAction reads a command and finds out what it names.
func (g *Gate) execAction(command string) policy.Exec {
	a := policy.Exec{Command: command, Reading: shellread.Read(command), Found: denial.Scan(command, denial.Env{Home: g.o.Home, Dir: g.dir, Vars: g.vars()})}
	a.Facts = policy.Facts{Paths: g.places(a.Reading.Paths, g.resolve), Suspects: g.places(a.Found.Suspects, g.resolve), Written: g.places(a.Found.Written, g.resolve)}
	if len(a.Found.Doomed) > 0 {
		a.Facts.Doomed, a.Facts.Home = g.places(a.Found.Doomed, g.itself), resolved(g.o.Home)
	}
	for _, name := range a.Reading.Programs {
		if g.planted(name) {
			a.Facts.Planted = append(a.Facts.Planted, name)
		}
	}
	for _, part := range a.Reading.Parts {
		a.Facts.Parts = append(a.Facts.Parts, g.places(part.Paths, g.resolve))
	}
	if a.Reading.Git { // it may run in each directory that is named
		dirs := []string{g.dir}
		for _, p := range slices.Concat(slices.Concat(append(a.Facts.Parts, a.Facts.Paths)...)...) {
			if p.Dir {
				dirs = append(dirs, p.Abs)
			}
		}
		a.Facts.GitPrograms = gitPrograms(dirs)
	}
	return a
}

// commandVars are the variables that a command starts with.
func (s *shared) commandVars() map[string]string {
	vars := map[string]string{}
	for _, kv := range s.env() {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
	return vars
}

// itself resolves a name but for its last part: a link there is removed, not what it leads to.
func (g *Gate) itself(name string) place {
	dir, base := path.Split(name)
	if base == "." || base == ".." {
		return g.resolve(name)
	}
	p := g.resolve(dir + ".")
	p.Name, p.Abs = name, filepath.Join(p.Abs, base)
	return p
}

// places finds out what path operands stand for on disk.
func (g *Gate) places(paths []shellread.Path, resolve func(string) place) [][]policy.Path {
	out := make([][]policy.Path, len(paths))
	for i, p := range paths {
		names, fault := []string{p.Text}, ""
		if p.Glob {
			names, fault = g.expandGlob(p.Text)
		}
		for _, name := range names {
			at := resolve(name).Path
			if at.Fault == "" {
				at.Fault = fault
			}
			out[i] = append(out[i], at)
		}
	}
	return out
}

// expandGlob expands a pattern as bash does without options: * and ? match no leading dot, a pattern without a match is itself. Where the
// set of characters is too clever for us, it matches everything, so nothing is overlooked. Over the bound it returns a fault.
func (g *Gate) expandGlob(pattern string) (names []string, fault string) {
	names = []string{""}
	for i, part := range strings.Split(pattern, "/") {
		var next []string
		for _, dir := range names {
			if i > 0 {
				dir += "/"
			}
			next = append(next, g.matches(dir, part)...)
			if len(next) > maxMatches {
				return []string{pattern}, "it matches too many files to look at each"
			}
		}
		names = next
	}
	if len(names) == 0 {
		return []string{unescaped(pattern)}, ""
	}
	return names, ""
}

// matches returns the names that one part of a pattern stands for behind dir, which ends in a slash or is empty.
func (g *Gate) matches(dir, part string) (out []string) {
	if !strings.ContainsAny(part, `*?[`) {
		name := dir + unescaped(part)
		if p := g.resolve(name); name == "" || p.Exists && (part != "" || p.Dir) {
			return []string{name}
		}
		return nil
	}
	entries, _ := os.ReadDir(g.resolve(dir + ".").Abs)
	for _, e := range entries {
		if bashMatch(part, e.Name()) {
			out = append(out, dir+e.Name())
		}
	}
	return out
}

// unescaped removes the backslashes that quote characters of a pattern.
func unescaped(pattern string) string {
	return regexp.MustCompile(`\\(?s:(.))`).ReplaceAllString(pattern, "$1")
}

// bashMatch says whether a name matches one part of a pattern.
func bashMatch(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") && !strings.HasPrefix(pattern, `\.`) {
		return false
	}
	if strings.Contains(pattern, "[:") || strings.Contains(pattern, "[.") || strings.Contains(pattern, "[=") {
		return true
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), name)
	return ok || err != nil
}

// planted says whether PATH leads for a program to a file inside the directory, or through a relative entry.
func (g *Gate) planted(name string) bool {
	for _, entry := range g.searchPath() {
		if file := lookPath(name, []string{join(g.dir, entry)}); file != "" {
			_, inside := g.within(resolved(file))
			return (inside || !filepath.IsAbs(entry)) && !strings.ContainsRune(name, '/')
		}
	}
	return false
}

// Judge says what would become of an action, for anchor policy. Nothing is carried out. One of the arguments is set.
func (g *Gate) Judge(command, read, write, mcp string) policy.Decision {
	switch {
	case command != "":
		return g.decide(g.execAction(command))
	case read != "":
		return g.decide(policy.Read{Path: g.resolve(read).Path})
	case write != "":
		return g.decide(policy.Write{Path: g.resolve(write).Path})
	}
	server, tool, _ := strings.Cut(mcp, "/")
	return g.decide(policy.MCP{Server: server, Tool: tool})
}

// How far the directory's own secret files are looked for, so that their values can be masked.
const (
	maxSecretEntries = 50_000
	maxSecretFile    = 256 << 10
)

// learnSecrets teaches the masker the values in the directory's secret files, ignored ones included. Folders of other people's code and
// of history are left out. Nobody gets to see the content.
func (s *shared) learnSecrets(ctx context.Context) {
	defer close(s.learned)
	count := 0
	_ = filepath.WalkDir(s.dir, func(name string, d fs.DirEntry, err error) error {
		switch count++; {
		case count > maxSecretEntries || ctx.Err() != nil:
			return fs.SkipAll
		case err != nil, d.IsDir() && slices.Contains([]string{".git", "node_modules", "vendor", ".venv", "target", "__pycache__"}, d.Name()):
			return fs.SkipDir
		}
		if d.Type().IsRegular() && isSecret(name) {
			data := readSmall(name)
			rel, _ := below(name, s.dir)
			s.masker.AddFile(rel, data[:min(len(data), maxSecretFile)])
		}
		return nil
	})
}

// Git runs programs that a repository's own configuration names, also for commands that only read. fsmonitor, hooks, pagers and editors
// are overridden in the environment (exec.go), and so is the use of a bare repository that lies in the tree and fetching. The other keys
// that name programs, or lead to further configuration or another tree, are found here and asked about.

// dangerousKeys are those keys, each with at most one star. What could not be read has the key "?".
const dangerousKeys = `? include.* includeif.* gpg.* filter.*clean filter.*smudge filter.*process diff.external diff.*command diff.*textconv
	log.showsignature format.pretty pretty.* core.worktree core.attributesfile core.alternaterefscommand`

// repo is where a repository keeps its things; all folders with links resolved.
type repo struct{ top, gitDir, common string }

// findRepo finds the repository that a directory lies in. In a linked working tree, .git is a file that names a folder, which names the
// common one (gitrepository-layout(5)).
func findRepo(dir string) (r repo, ok bool) {
	if r.top = repositoryTop(dir); r.top == "" {
		return r, false
	}
	dot := filepath.Join(r.top, ".git")
	r.gitDir = cmp.Or(pointed(dot, "gitdir: ", r.top), resolved(dot))
	r.common = cmp.Or(pointed(filepath.Join(r.gitDir, "commondir"), "", r.gitDir), r.gitDir)
	return r, true
}

// own says whether the .git of a directory leads to a repository that is this directory's: below it, or one that names it as its working
// tree (git-worktree(1)).
func (r repo) own() bool {
	_, under := below(r.gitDir, r.top)
	return under || pointed(filepath.Join(r.gitDir, "gitdir"), "", r.gitDir) == filepath.Join(r.top, ".git")
}

// pointed reads a path from a file as git does, relative to base; empty if there is none.
func pointed(file, prefix, base string) string {
	text, _, _ := strings.Cut(string(readSmall(file)), "\x00")
	if line, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), prefix); ok && line != "" {
		return resolved(join(base, line))
	}
	return ""
}

// gitPrograms returns the dangerous keys in the configuration of the repositories of some directories.
func gitPrograms(dirs []string) (keys []string) {
	var done []repo
	for _, dir := range dirs {
		r, ok := findRepo(dir)
		if !ok || slices.Contains(done, r) {
			continue
		}
		done = append(done, r)
		ours := r.own()
		files := []string{filepath.Join(r.gitDir, "config"), filepath.Join(r.common, "config"), filepath.Join(r.gitDir, "config.worktree")}
		for i, file := range append(files, submoduleConfigs(filepath.Join(r.common, "modules"))...) {
			for _, e := range readGitConfig(file) {
				if e.key == "core.worktree" { // a submodule's names its own tree
					back := resolved(join(filepath.Dir(file), e.value)) == r.top
					ours = ours || back
					if back || i >= len(files) {
						continue
					}
				}
				if listed(e.key, dangerousKeys) {
					keys = append(keys, e.key)
				}
			}
		}
		if !ours {
			keys = append(keys, ".git of another repository")
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// submoduleConfigs returns the configuration files of submodules, which git status and diff go into.
func submoduleConfigs(modules string) (out []string) {
	_ = filepath.WalkDir(modules, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || len(out) > 1000 || d.IsDir() && slices.Contains([]string{"objects", "refs", "logs"}, d.Name()):
			return fs.SkipDir
		case d.Name() == "config" || d.Name() == "config.worktree":
			out = append(out, path)
		}
		return nil
	})
	return out
}

// gitSetting is one entry of a configuration file. In its key, section and name are in lower case, as git compares them.
type gitSetting struct{ key, value string }

// gitConfig matches the next thing in a file of git's configuration format, as git itself reads it (git-config(1), "Syntax"): space or a
// comment; the header of a section (1, 2); or a name (3) with its value (4), which goes on in the next line behind a backslash and ends
// at a comment.
var gitConfig = regexp.MustCompile(`^(?:[ \t\r\n]+|[#;][^\n]*|` +
	`\[([-.A-Za-z0-9]+)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\]|` +
	`([A-Za-z][-A-Za-z0-9]*)[ \t\r]*(?:=((?:[^\\"\n#;]|\\\r\n|\\(?s:.)|"(?:[^"\\\n]|\\\r\n|\\(?s:.))*")*))?(?:[#;][^\n]*)?(?:\n|$))`)

// readGitConfig reads a file in git's configuration format. From what it does not understand on it returns the key "?".
func readGitConfig(file string) (out []gitSetting) {
	section := ""
	text := strings.TrimPrefix(string(readSmall(file)), "\ufeff")
	if len(text) >= maxIgnoreFile {
		out = append(out, gitSetting{key: "?"})
	}
	for text != "" {
		m := gitConfig.FindStringSubmatch(text)
		switch {
		case m == nil:
			return append(out, gitSetting{key: "?"})
		case m[1] != "":
			section = strings.ToLower(m[1])
			if m[2] != "" {
				section += "." + m[2]
			}
		case m[3] != "":
			out = append(out, gitSetting{section + "." + strings.ToLower(m[3]), strings.Trim(strings.TrimSpace(m[4]), `"`)})
		}
		text = text[len(m[0]):]
	}
	return out
}

// gitReads are the paths outside the directory that git needs for its own repository: its top, its folders, where else its objects are,
// and what the user's own settings include.
func (s *shared) gitReads() (out []string) {
	if r, ok := findRepo(s.dir); ok {
		out = append(out, r.top, r.gitDir, r.common)
		out = append(out, strings.Fields(string(readSmall(filepath.Join(r.common, "objects/info/alternates"))))...)
	}
	for _, file := range []string{".gitconfig", ".config/git/config"} {
		for _, e := range readGitConfig(filepath.Join(s.o.Home, file)) {
			if listed(e.key, "include.path includeif.*.path core.excludesfile core.attributesfile") {
				out = append(out, join(s.o.Home, strings.TrimPrefix(e.value, "~/")))
			}
		}
	}
	return out
}
