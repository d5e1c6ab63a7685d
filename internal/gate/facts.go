package gate

import (
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

// execAction reads a command and finds out what it names.
func (g *Gate) execAction(command string) policy.Exec {
	a := policy.Exec{Command: command, Reading: shellread.Read(command), Found: denial.Scan(command, denial.Env{Home: g.o.Home, Dir: g.dir, Vars: g.vars()})}
	a.Facts = policy.Facts{Suspects: g.places(a.Found.Suspects, g.resolve), Written: g.places(a.Found.Written, g.resolve)}
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
		for _, p := range slices.Concat(slices.Concat(a.Facts.Parts...)...) {
			if p.Dir {
				dirs = append(dirs, p.Abs)
			}
		}
		a.Facts.GitPrograms = gitPrograms(dirs)
	}
	return a
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

// maxMatches bounds what a glob of a command is expanded to.
const maxMatches = 10_000

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
			if next = append(next, g.matches(dir, part)...); len(next) > maxMatches {
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
	clever := strings.Contains(part, "[:") || strings.Contains(part, "[.") || strings.Contains(part, "[=")
	entries, _ := os.ReadDir(g.resolve(dir + ".").Abs)
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(strings.TrimPrefix(part, `\`), ".")
		ok, err := path.Match(strings.ReplaceAll(part, "[!", "[^"), e.Name())
		if !hidden && (ok || err != nil || clever) {
			out = append(out, dir+e.Name())
		}
	}
	return out
}

// unescaped removes the backslashes that quote characters of a pattern.
func unescaped(pattern string) string {
	return regexp.MustCompile(`\\(?s:(.))`).ReplaceAllString(pattern, "$1")
}

// planted says whether PATH leads for a program to a file inside the directory, or through a relative entry.
func (g *Gate) planted(name string) (yes bool) {
	if known, ok := g.programs[name]; ok {
		return known
	}
	if g.programs != nil {
		defer func() { g.programs[name] = yes }()
	}
	for _, entry := range g.searchPath() {
		if file := lookPath(name, []string{join(g.dir, entry)}); file != "" {
			_, inside := g.within(resolved(file))
			return (inside || !filepath.IsAbs(entry)) && !strings.ContainsRune(name, '/')
		}
	}
	return false
}

// Batch returns a gate that looks for each program only once: to judge the lines at hand, one after the other, not to run any.
func (g *Gate) Batch() *Gate {
	b := *g
	b.programs = map[string]bool{}
	return &b
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
		case err != nil, d.IsDir() && listed(d.Name(), ".git node_modules vendor .venv target __pycache__"):
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
