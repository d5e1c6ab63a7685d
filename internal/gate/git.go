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

// maxSmall bounds what is read of a git or ignore file, in bytes.
const maxSmall = 1 << 20

// repo is where a repository keeps its things; all folders with links resolved.
type repo struct{ top, gitDir, common string }

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

// pointed reads a path from a file as git does, relative to base; empty if there is none.
func pointed(file, prefix, base string) string {
	text, _, _ := strings.Cut(string(readSmall(file)), "\x00")
	if line, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), prefix); ok && line != "" {
		return resolved(join(base, line))
	}
	return ""
}

// gitPrograms returns the dangerous keys in the configuration of the repositories of some directories, and says which are others': a .git
// may lead to a repository elsewhere that does not name the directory as its working tree (git-worktree(1)).
func gitPrograms(dirs []string) (keys []string) {
	var done []repo
	for _, dir := range dirs {
		r, ok := findRepo(dir)
		if !ok || slices.Contains(done, r) {
			continue
		}
		done = append(done, r)
		_, ours := below(r.gitDir, r.top)
		ours = ours || pointed(filepath.Join(r.gitDir, "gitdir"), "", r.gitDir) == filepath.Join(r.top, ".git")
		files := []string{filepath.Join(r.gitDir, "config"), filepath.Join(r.common, "config"), filepath.Join(r.gitDir, "config.worktree")}
		for i, file := range append(files, submoduleConfigs(filepath.Join(r.common, "modules"))...) {
			for _, e := range readGitConfig(file) {
				if e.key == "core.worktree" { // a submodule's names its own tree
					back := resolved(join(filepath.Dir(file), e.value)) == r.top
					if ours = ours || back; back || i >= len(files) {
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
		case err != nil || len(out) > 1000 || d.IsDir() && listed(d.Name(), "objects refs logs"):
			return fs.SkipDir
		case listed(d.Name(), "config config.worktree"):
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
	if len(text) >= maxSmall {
		out = append(out, gitSetting{key: "?"})
	}
	for text != "" {
		m := gitConfig.FindStringSubmatch(text)
		switch {
		case m == nil:
			return append(out, gitSetting{key: "?"})
		case m[1] != "":
			section = strings.TrimSuffix(strings.ToLower(m[1])+"."+m[2], ".")
		case m[3] != "":
			out = append(out, gitSetting{section + "." + strings.ToLower(m[3]), strings.Trim(strings.TrimSpace(m[4]), `"`)})
		}
		text = text[len(m[0]):]
	}
	return out
}

// gitFiles are the user's own configuration and, beside them, what git reads where they name nothing else.
func (s *shared) gitFiles() (configs []string, ignore, attributes string) {
	dir := filepath.Join(cmp.Or(s.variable("XDG_CONFIG_HOME"), filepath.Join(s.o.Home, ".config")), "git")
	configs = []string{filepath.Join(dir, "config"), filepath.Join(s.o.Home, ".gitconfig")}
	if own := s.variable("GIT_CONFIG_GLOBAL"); own != "" {
		configs = []string{own}
	}
	return configs, filepath.Join(dir, "ignore"), filepath.Join(dir, "attributes")
}

// userGitSettings returns, as NAME=VALUE, what a command that runs unasked gets instead of the user's own configuration where that names a
// program for diffs: without these, since git writes files for such a program, which the command may not.
func (s *shared) userGitSettings() (settings []string, instead bool) {
	configs, _, _ := s.gitFiles()
	for _, file := range configs {
		for _, e := range readGitConfig(file) {
			instead = instead || listed(e.key, "diff.external diff.*command diff.*textconv")
			if e.value != "" && !listed(e.key, dangerousKeys) && !strings.ContainsAny(e.value, `\"`) {
				settings = append(settings, e.key+"="+e.value)
			}
		}
	}
	if !instead {
		return nil, false
	}
	return settings, true
}

// variable returns a variable of anchor's own environment. It does not settle what commands get, as vars does.
func (s *shared) variable(name string) string {
	for _, kv := range slices.Backward(s.o.Env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// gitReads are the paths outside the directory that git needs: of its own repository the top, its folders, and where else its objects are;
// the user's own settings, and what these include.
func (s *shared) gitReads() []string {
	configs, ignore, attributes := s.gitFiles()
	out := append(configs, ignore, attributes)
	for _, file := range configs {
		for _, e := range readGitConfig(file) {
			if listed(e.key, "include.path includeif.*.path core.excludesfile core.attributesfile") {
				out = append(out, join(s.o.Home, strings.TrimPrefix(e.value, "~/")))
			}
		}
	}
	if r, ok := findRepo(s.dir); ok {
		out = append(out, r.top, r.gitDir, r.common)
		out = append(out, strings.Fields(string(readSmall(filepath.Join(r.common, "objects/info/alternates"))))...)
	}
	return out
}

// globalExcludes returns the content of the ignore file that the user's own git configuration names for all repositories, or of its
// default (gitignore(5)).
func (s *shared) globalExcludes() []byte {
	configs, file, _ := s.gitFiles()
	for _, source := range configs {
		for _, e := range readGitConfig(source) {
			if e.key == "core.excludesfile" && e.value != "" {
				file = strings.ReplaceAll(e.value, `\\`, `\`)
			}
		}
	}
	return readSmall(join(s.o.Home, strings.TrimPrefix(file, "~/")))
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
		return nil // to open a device may do something
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, _ := io.ReadAll(io.LimitReader(f, maxSmall))
	return data
}
