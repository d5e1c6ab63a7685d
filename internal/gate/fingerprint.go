package gate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"anchor/internal/policy"
)

// Fingerprint is the state of the directory's files and of the commit that is checked out. What an ignored directory holds is left out,
// since builds and tests write there, and so is what git and anchor keep. Protected are the files that match the protect globs, wherever
// they lie, with the mode and the hash of the content of each.
type Fingerprint struct {
	Sum       [32]byte
	Protected map[string]string
}

// Fingerprint takes the state of the directory. A file counts with its name, number, size, times and mode: whoever writes it in place
// within one tick of the clock, by the same number of bytes, goes unseen.
func (g *Gate) Fingerprint(ctx context.Context, protect []string) (Fingerprint, error) {
	p := g.resolve(g.dir)
	return pass(ctx, g, policy.Read{Path: p.Path}, "Read "+p.shown(), nothing, func(ctx context.Context, e effects) (Fingerprint, error) {
		return e.fingerprint(ctx, p, protect)
	})
}

// fingerprint goes through the tree once.
func (l looks) fingerprint(ctx context.Context, p place, protect []string) (Fingerprint, error) {
	out, h := Fingerprint{Protected: map[string]string{}}, sha256.New()
	var line []byte
	own, _ := below(filepath.Dir(resolved(l.o.OutputDir)), l.dir)
	s := scan{looks: l, o: WalkOptions{Secret: true, marked: true, output: len(protect) > 0}}
	s.visit = func(e Entry) error {
		if l.o.OutputDir != "" && (e.Name == own || strings.HasPrefix(e.Name, own+"/")) {
			return nil
		}
		if !e.Type.IsDir() && matchesAny(protect, e.Name) {
			out.Protected[e.Name] = fmt.Sprintf("%o %s", e.mode, l.contentSum(e.Name))
		}
		if e.output {
			return nil
		}
		line = append(append(line[:0], e.Name...), 0)
		line = binary.LittleEndian.AppendUint32(line, e.mode)
		if !e.Type.IsDir() { // a directory's time tells no more than the names in it
			for _, n := range [...]int64{e.Size, e.Mod.UnixNano(), e.changed, e.number} {
				line = binary.LittleEndian.AppendUint64(line, uint64(n))
			}
		}
		h.Write(line)
		return nil
	}
	err := s.tree(ctx, p)
	if r, ok := findRepo(l.dir); ok { // git's log of what was checked out grows with each commit, and by nothing else
		if info, err := os.Stat(filepath.Join(r.gitDir, "logs", "HEAD")); err == nil {
			fmt.Fprint(h, info.Size(), info.ModTime().UnixNano())
		}
	}
	h.Sum(out.Sum[:0])
	return out, err
}

// contentSum is where a link leads, and the hash of the content there, or why there is none. Nobody gets to see the content.
func (l looks) contentSum(name string) string {
	target, _ := os.Readlink(filepath.Join(l.dir, filepath.FromSlash(name)))
	h := sha256.New()
	f, _, err := l.open(l.resolve(name))
	if err == nil {
		defer f.Close()
		_, err = io.Copy(h, f)
	}
	if err != nil {
		return target + " " + err.Error()
	}
	return fmt.Sprintf("%s %x", target, h.Sum(nil))
}

// ProtectGlobs returns globs as Protect and Fingerprint take them, relative to the directory and without a link in their fixed part; or an
// error that says which one can't be held to: it is broken, or names files outside or in .git.
func (g *Gate) ProtectGlobs(globs []string) (out []string, err error) {
	for _, glob := range globs {
		base, rest := doublestar.SplitPattern(strings.TrimSuffix(filepath.ToSlash(glob), "/"))
		p, parts := g.resolve(base), strings.Split(rest, "/")
		switch {
		case glob == "" || !doublestar.ValidatePattern(glob):
			return nil, fmt.Errorf("%q is no valid glob", glob)
		case g.resolve(glob).Rel == ".":
			glob = "**"
		case !p.Inside || slices.Contains(parts, ".."):
			return nil, fmt.Errorf("%q names files outside the directory, which can't be watched; it takes a glob inside %s", glob, g.dir)
		case slices.Contains(append(parts, strings.Split(p.Rel, "/")...), ".git"):
			return nil, fmt.Errorf("%q names files in .git, which git changes by itself; it takes a glob of other files", glob)
		case base != ".":
			fixed := strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, `\`, `\\`).Replace(p.Rel)
			glob = "./" + path.Join(fixed, rest)
		}
		out = append(out, glob)
	}
	return out, nil
}

// matchesAny says whether a name relative to the directory matches one of the globs: as a whole, or one of the folders it lies in does; a
// glob without a slash in front of a name matches at any depth.
func matchesAny(globs []string, name string) bool {
	for _, glob := range globs {
		glob = strings.TrimSuffix(glob, "/")
		anywhere := !strings.Contains(glob, "/")
		glob = strings.TrimPrefix(glob, "./")
		for end := len(name); end > 0; {
			what, slash := name[:end], strings.LastIndexByte(name[:end], '/')
			if anywhere {
				what = name[slash+1 : end]
			}
			if doublestar.MatchUnvalidated(glob, what) {
				return true
			}
			end = slash
		}
	}
	return false
}
