package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"anchor/internal/gate"
)

// A project's server starts only as the user has seen it. Trust is a hash on the user's side, of the whole definition but its off switch,
// and of the files of the project that its command line names, in whole or in part. What such a file loads in its turn is not followed,
// nor what a runner such as npm or make reads by itself. A file outside the project is not the project's to change.

// trustKey is under what the hash of a definition is kept.
func trustKey(d Definition) string { return fmt.Sprintf("%q in %q", d.Name, d.Dir) }

// Trusted says whether the user has trusted a project's definition as it is now. The user's own needs no trust.
func (o Options) Trusted(ctx context.Context, d Definition) (bool, error) {
	if d.Dir == "" {
		return true, nil
	}
	all, err := read[string](o, trustFile)
	if err != nil {
		return false, err
	}
	sum, _, err := o.Sum(ctx, d)
	return err == nil && all[trustKey(d)] == sum, err
}

// Trust keeps that the user has trusted a definition as it is now.
func (o Options) Trust(ctx context.Context, d Definition) error {
	sum, _, err := o.Sum(ctx, d)
	if err != nil {
		return err
	}
	return update(ctx, o, trustFile, func(all map[string]string) error {
		all[trustKey(d)] = sum
		return nil
	})
}

// Sum is what trust is bound to, and the files of the project in it.
func (o Options) Sum(ctx context.Context, d Definition) (sum string, files []string, err error) {
	var m map[string]any
	if err := json.Unmarshal(d.Raw, &m); err != nil {
		return "", nil, err
	}
	delete(m, "disabled")
	h := sha256.New()
	h.Write(encode(m))
	for _, name := range o.candidates(d) {
		content, err := o.Gate.SumOwn(ctx, d.Dir, name)
		switch {
		case errors.Is(err, gate.ErrNoFile):
			continue
		case ctx.Err() != nil:
			return "", nil, ctx.Err()
		case err != nil:
			content = err.Error()
		case len(content) == sha256.Size*2:
			files = append(files, name)
		}
		fmt.Fprintf(h, "\n%q %q", name, content)
	}
	return hex.EncodeToString(h.Sum(nil)), files, nil
}

var between = regexp.MustCompile("[\\s\"'`;&|()<>=,:]+")

// candidates are the names of files that a definition may run, sorted.
func (o Options) candidates(d Definition) (out []string) {
	if full, err := d.expand(o.Getenv); err == nil {
		d = full
	}
	var parts []string
	for _, word := range append([]string{d.Command}, d.Args...) {
		parts = append(append(parts, word), between.Split(word, -1)...)
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	for i, part := range parts {
		module := strings.ReplaceAll(part, ".", "/")
		out = append(out, part, part+".py", part+".js", module+".py", module+"/__main__.py", part+"/__main__.py", part+"/index.js", part+"/package.json")
		for _, other := range parts[max(0, i-40):min(len(parts), i+40)] {
			out = append(out, part+"/"+other) // "cd sub && ./run.sh" names sub/run.sh
		}
	}
	for i, name := range out {
		if out[i] = filepath.FromSlash(name); !filepath.IsAbs(out[i]) {
			out[i] = filepath.Join(d.folder(""), name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
