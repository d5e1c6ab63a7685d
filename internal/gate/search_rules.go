package gate

import (
	"io"
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
	for dir := top; dir != root; {
		rel, _ := filepath.Rel(top, dir)
		if rel == "." {
			rel = ""
		}
		rules = rules.With(filepath.ToSlash(rel), map[ignore.Kind]ignore.List{
			ignore.Exclude:   ignore.Parse(repositoryExcludes(dir)),
			ignore.Gitignore: ignore.Parse(readSmall(filepath.Join(dir, ".gitignore"))),
			ignore.Ignore:    ignore.Parse(readSmall(filepath.Join(dir, ".ignore"))),
		})
		below, _ := filepath.Rel(dir, root)
		next, _, _ := strings.Cut(below, string(filepath.Separator))
		dir = filepath.Join(dir, next)
	}
	return top, rules
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
	home := l.o.Home
	config := l.variable("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	file := filepath.Join(config, "git", "ignore")
	sources := []string{filepath.Join(config, "git", "config"), filepath.Join(home, ".gitconfig")}
	if own := l.variable("GIT_CONFIG_GLOBAL"); own != "" {
		sources = []string{own}
	}
	for _, source := range sources {
		if name := ignore.ExcludesFile(readSmall(source)); name != "" {
			file = name
		}
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(home, rest)
	}
	return readSmall(file)
}

// repositoryExcludes returns info/exclude of the repository whose top is dir. In a linked working tree, .git is a file that
// names a folder, which names the common one (gitrepository-layout(5)).
func repositoryExcludes(dir string) []byte {
	git := filepath.Join(dir, ".git")
	if link, ok := strings.CutPrefix(string(readSmall(git)), "gitdir: "); ok {
		git = join(dir, strings.TrimSpace(link))
		if common := strings.TrimSpace(string(readSmall(filepath.Join(git, "commondir")))); common != "" {
			git = join(git, common)
		}
	}
	return readSmall(filepath.Join(git, "info", "exclude"))
}

func join(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// readSmall returns the start of a regular file, nil if there is none that can be read.
func readSmall(name string) []byte {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, _ := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	return data
}
