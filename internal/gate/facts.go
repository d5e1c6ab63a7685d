package gate

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	a := policy.Exec{Command: command, Reading: shellread.Read(command)}
	a.Denial, a.Reading.Suspects = denial.Scan(command, denial.Env{Home: g.o.Home, Dir: g.dir})
	a.Facts = policy.Facts{
		Paths:    g.places(a.Reading.Paths),
		Suspects: g.places(a.Reading.Suspects),
		Planted:  g.planted(a.Reading.Programs),
	}
	for _, part := range a.Reading.Parts {
		a.Facts.Parts = append(a.Facts.Parts, g.places(part.Paths))
	}
	if a.Reading.Git {
		a.Facts.GitPrograms = gitPrograms(g.folders(a.Facts))
	}
	return a
}

// places finds out what path operands stand for on disk.
func (g *Gate) places(paths []shellread.Path) [][]policy.Path {
	out := make([][]policy.Path, 0, len(paths))
	for _, p := range paths {
		names := []string{p.Text}
		var fault string
		if p.Glob {
			names, fault = g.expandGlob(p.Text)
		}
		found := make([]policy.Path, 0, len(names))
		for _, name := range names {
			at := g.resolve(name).Path
			if at.Fault == "" {
				at.Fault = fault
			}
			found = append(found, at)
		}
		out = append(out, found)
	}
	return out
}

// folders returns the directory and all others that a command names, where it may run git.
func (g *Gate) folders(f policy.Facts) []string {
	dirs := []string{g.dir}
	for _, list := range append(slices.Clone(f.Parts), f.Paths) {
		for _, paths := range list {
			for _, p := range paths {
				if p.Dir && !slices.Contains(dirs, p.Abs) {
					dirs = append(dirs, p.Abs)
				}
			}
		}
	}
	return dirs
}

// expandGlob expands a pattern as bash does without options: * and ? match no leading dot, a pattern without a match is
// itself. Where the set of characters is too clever for us, it matches everything, so nothing is overlooked. Over the
// bound it returns a fault.
func (g *Gate) expandGlob(pattern string) (names []string, fault string) {
	prefix := ""
	if strings.HasPrefix(pattern, "/") {
		prefix = "/"
	}
	names = []string{prefix}
	for _, part := range strings.Split(strings.TrimPrefix(pattern, "/"), "/") {
		var next []string
		for _, name := range names {
			next = append(next, g.matches(name, part)...)
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

// matches returns the names in a folder that match one part of a pattern, with the folder in front.
func (g *Gate) matches(dir, part string) []string {
	at := func(name string) string {
		if dir == "" || strings.HasSuffix(dir, "/") {
			return dir + name
		}
		return dir + "/" + name
	}
	if !strings.ContainsAny(part, `*?[`) {
		name := at(unescaped(part))
		if p := g.resolve(name); !p.Exists || part == "" && !p.Dir {
			return nil
		}
		return []string{name}
	}
	entries, err := os.ReadDir(g.resolve(at(".")).Abs)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if bashMatch(part, e.Name()) {
			out = append(out, at(e.Name()))
		}
	}
	return out
}

// unescaped removes the backslashes that quote characters of a pattern.
func unescaped(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
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

// planted returns the programs that PATH leads to inside the directory, or through a relative entry.
func (g *Gate) planted(programs []string) []string {
	var out []string
	for _, name := range programs {
		if strings.ContainsRune(name, '/') {
			continue
		}
		for _, entry := range g.searchPath() {
			from := entry
			if !filepath.IsAbs(from) {
				from = filepath.Join(g.dir, from)
			}
			file := lookPath(name, []string{from})
			if file == "" {
				continue
			}
			if _, inside := g.within(resolved(file)); inside || !filepath.IsAbs(entry) {
				out = append(out, name)
			}
			break
		}
	}
	return out
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

// learnSecrets teaches the masker the values in the directory's secret files, ignored ones included. Folders of other
// people's code and of history are left out.
func (l looks) learnSecrets() {
	count := 0
	_ = filepath.WalkDir(l.dir, func(name string, d fs.DirEntry, err error) error {
		if count++; count > maxSecretEntries {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return fs.SkipDir
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", "vendor", ".venv", "target", "__pycache__"}, d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		if isSecret(name) {
			l.learnFile(name)
		}
		return nil
	})
}

// learnFile teaches the masker one secret file.
func (l looks) learnFile(name string) {
	p := l.resolve(name)
	if f, err := l.read(p, maxSecretFile); err == nil {
		l.masker.AddFile(p.shown(), f.Data)
	}
}
