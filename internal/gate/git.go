package gate

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

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

// maxIgnoreFile bounds what is read of one ignore file, in bytes.
const maxIgnoreFile = 1 << 20

// repositoryTop returns the top of the git repository that dir lies in, or "".
func repositoryTop(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// globalExcludes returns the content of the file that the user's own git configuration names for all repositories, or of
// its default (gitignore(5)).
func (l looks) globalExcludes() []byte {
	config := cmp.Or(l.variable("XDG_CONFIG_HOME"), filepath.Join(l.o.Home, ".config"))
	file := filepath.Join(config, "git", "ignore")
	sources := []string{filepath.Join(config, "git", "config"), filepath.Join(l.o.Home, ".gitconfig")}
	if own := l.variable("GIT_CONFIG_GLOBAL"); own != "" {
		sources = []string{own}
	}
	for _, source := range sources {
		for _, e := range readGitConfig(source) {
			if e.key == "core.excludesfile" && e.value != "" {
				file = strings.ReplaceAll(e.value, `\\`, `\`)
			}
		}
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(l.o.Home, rest)
	}
	return readSmall(file)
}

func join(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// readSmall returns the start of a regular file, nil if there is none that can be read.
func readSmall(name string) []byte {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, _ := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	return data
}
