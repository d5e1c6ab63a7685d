package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"anchor/internal/gate"
	"anchor/internal/home"
)

// A project's server starts only as the user has seen it. Trust is a hash on the user's side, of the whole definition but its off switch,
// and of the files of the project that it runs: those that its command line names, in whole or in part, and those by which a known
// runner finds out what to run. A file outside the project is not the project's to change.

// maxOwn bounds the files of trust and of sign-ins, in bytes.
const maxOwn = 4 << 20

// trustFile holds, by directory and name, the hash of what was trusted.
func (o Options) trustFile() string { return filepath.Join(o.State, "mcp-trust.json") }

func (o Options) trusts() (map[string]map[string]string, error) {
	out := map[string]map[string]string{}
	data, err := home.Read(o.trustFile(), maxOwn)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("%s can't be read, so no project's server is trusted: %w", o.trustFile(), err)
	}
	return out, nil
}

// Trusted says whether the user has trusted a project's definition as it is now. The user's own needs no trust.
func (o Options) Trusted(ctx context.Context, d Definition) (bool, error) {
	if d.Dir == "" {
		return true, nil
	}
	if o.State == "" {
		return false, errors.New("there is no home directory to keep trust in")
	}
	all, err := o.trusts()
	if err != nil {
		return false, err
	}
	sum, _, err := o.sum(ctx, d)
	return err == nil && all[d.Dir][d.Name] == sum, err
}

// Trust keeps that the user has trusted a definition as it is now.
func (o Options) Trust(ctx context.Context, d Definition) error {
	if o.State == "" {
		return errors.New("there is no home directory to keep trust in: set HOME")
	}
	sum, _, err := o.sum(ctx, d)
	if err != nil {
		return err
	}
	return o.locked(ctx, o.trustFile(), func() error {
		all, err := o.trusts()
		if err != nil {
			return err
		}
		if all[d.Dir] == nil {
			all[d.Dir] = map[string]string{}
		}
		all[d.Dir][d.Name] = sum
		return home.Write(o.trustFile(), encode(all))
	})
}

// Files are the files of the project that trust in a definition covers.
func (o Options) Files(ctx context.Context, d Definition) ([]string, error) {
	_, files, err := o.sum(ctx, d)
	return files, err
}

// sum is what trust is bound to.
func (o Options) sum(ctx context.Context, d Definition) (string, []string, error) {
	var m map[string]any
	if err := json.Unmarshal(d.Raw, &m); err != nil {
		return "", nil, err
	}
	delete(m, "disabled")
	h := sha256.New()
	h.Write(encode(m))
	var files []string
	for _, name := range o.candidates(d) {
		sum, err := o.Gate.SumOwn(ctx, d.Dir, name)
		if errors.Is(err, gate.ErrNoFile) {
			continue
		}
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		if err != nil {
			sum = err.Error()
		} else if len(sum) == sha256.Size*2 {
			files = append(files, name)
		}
		fmt.Fprintf(h, "\n%q %q", name, sum)
	}
	return hex.EncodeToString(h.Sum(nil)), files, nil
}

var (
	between = regexp.MustCompile("[\\s\"'`;&|()<>=,:]+")
	// manifests are what runners read to find out what to run.
	runner    = regexp.MustCompile(`(?:^|/)(?:(?:p?np[mx]|pnpx|yarn|bunx?|node|tsx|uvx?|poetry|pdm|pipx|hatch|g?make|just|task|deno|cargo|go|rake)|docker(?:-compose)?|python[0-9.]*)$`)
	manifests = strings.Fields(`package.json .npmrc .yarnrc.yml bunfig.toml deno.json deno.jsonc pyproject.toml uv.toml setup.py GNUmakefile makefile Makefile
		justfile Justfile Taskfile.yml Rakefile Cargo.toml go.mod docker-compose.yml docker-compose.yaml compose.yml compose.yaml Dockerfile`)
	inFolder = strings.Fields("package.json index.js index.ts index.mjs __main__.py __init__.py pyproject.toml main.go Cargo.toml")
)

// candidates are the names of files that a definition may run, sorted.
func (o Options) candidates(d Definition) (out []string) {
	if full, err := d.expand(o.Getenv); err == nil {
		d = full
	}
	add := func(names ...string) {
		for _, name := range names {
			if name = filepath.FromSlash(name); !filepath.IsAbs(name) {
				name = filepath.Join(d.folder(""), name)
			}
			out = append(out, name)
		}
	}
	var parts []string
	for _, word := range append([]string{d.Command}, d.Args...) {
		for _, part := range append(between.Split(word, -1), word) {
			if part == "" || part == "." {
				continue
			}
			parts = append(parts, part)
			module := strings.ReplaceAll(part, ".", "/")
			add(part, part+".py", part+".js", module+".py", module+"/__main__.py")
			for _, name := range inFolder {
				add(part + "/" + name)
			}
			if runner.MatchString(part) {
				add(manifests...)
			}
		}
	}
	for _, dir := range parts[:min(len(parts), 40)] { // "cd sub && ./run.sh" names sub/run.sh
		for _, name := range parts[:min(len(parts), 40)] {
			add(dir + "/" + name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
