package gate

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"anchor/internal/ignore"
)

// maxIgnoreFile bounds what is read of one ignore file, in bytes.
const maxIgnoreFile = 1 << 20

// ignoreRules returns the top directory that the rules of a tree start from (the repository that root lies in; else the
// gate's directory, or root itself outside of it) and the rules of root's parents.
func (l looks) ignoreRules(root string) (top string, rules *ignore.Rules) {
	top = repositoryTop(root)
	if top == "" {
		top = root
		if _, inside := below(root, l.dir); inside {
			top = l.dir
		}
	}
	rules = rules.With("", map[ignore.Kind]ignore.List{ignore.Global: ignore.Parse(l.globalExcludes())})
	parts := components(strings.TrimPrefix(root, top))
	for i := range parts {
		at := strings.Join(parts[:i], "/")
		dir := filepath.Join(top, at)
		names, _ := os.ReadDir(dir)
		rules = with(rules, dir, at, names)
	}
	return top, rules
}

// with adds the rules that the files of a directory give; at is its name as the rules see it.
func with(rules *ignore.Rules, dir, at string, names []fs.DirEntry) *ignore.Rules {
	lists := map[ignore.Kind]ignore.List{}
	for _, d := range names {
		switch d.Name() {
		case ".git":
			rules = rules.Repository()
			if r, ok := findRepo(dir); ok && r.common != "" {
				lists[ignore.Exclude] = ignore.Parse(readSmall(filepath.Join(r.common, "info", "exclude")))
			}
		case ".gitignore":
			lists[ignore.Gitignore] = ignore.Parse(readSmall(filepath.Join(dir, d.Name())))
		case ".ignore":
			lists[ignore.Ignore] = ignore.Parse(readSmall(filepath.Join(dir, d.Name())))
		}
	}
	if len(lists) == 0 {
		return rules
	}
	return rules.With(strings.TrimSuffix(at, "/"), lists)
}

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
