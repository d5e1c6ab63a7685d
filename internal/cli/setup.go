package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"anchor/internal/config"
	"anchor/internal/gate"
	"anchor/internal/home"
	"anchor/internal/policy"
	"anchor/internal/provider/script"
)

// maxSettings bounds a settings file, in bytes.
const maxSettings = 1 << 20

// setup is what is known before anything is started: where anchor's own files are, the settings, the rules.
type setup struct {
	sh      shell
	o       *options
	dirs    home.Dirs // all empty without a home directory
	set     *config.Settings
	rules   policy.Rules
	dir     string   // the directory to work in, absolute, links resolved
	project []string // the project's directories, from the repository's root down to dir
	git     bool     // dir lies in a repository
	notices []string
	script  *script.Script // the model, if it is one
}

// prepare finds the directories, reads the settings layer by layer, and makes the rules. Errors are for exit code 2.
func prepare(ctx context.Context, sh shell, o *options) (*setup, error) {
	b := &setup{sh: sh, o: o, set: config.New()}
	var err error
	if b.dirs, err = home.Find(sh.getenv); err != nil {
		b.notices = append(b.notices, err.Error()+"; settings are not read and the session is not saved")
	}
	// This gate only looks for the project's settings: the rules they add are not known yet.
	g, err := gate.New(gate.Options{Dir: or(o.dir, "."), Home: b.dirs.Home, Env: sh.env})
	if err != nil {
		return nil, usageError{err.Error()}
	}
	defer g.Close()
	b.dir, b.project = g.Dir(), g.ProjectDirs()
	_, err = os.Lstat(filepath.Join(b.project[0], ".git"))
	b.git = err == nil
	if err := b.userSettings(); err != nil {
		return nil, err
	}
	for _, dir := range b.project {
		if err := b.projectSettings(ctx, g, filepath.Join(dir, ".anchor", "config.json")); err != nil {
			return nil, err
		}
	}
	if err := b.set.Environment(sh.getenv); err != nil {
		return nil, err
	}
	if o.model != "" {
		b.set.Set("model", o.model, "--model")
	}
	if o.effort != "" {
		b.set.Set("effort", o.effort, "--effort")
	}
	b.notices = append(b.notices, b.set.Notices...)
	return b, b.makeRules()
}

func (b *setup) userFile() string { return filepath.Join(b.dirs.Config, "config.json") }

func (b *setup) userSettings() error {
	if b.dirs.Config == "" {
		return nil
	}
	data, err := home.Read(b.userFile(), maxSettings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return &config.Error{File: b.userFile(), Message: "can't be read: " + reason(err)}
	}
	return b.set.User(b.userFile(), data, b.dir)
}

func (b *setup) projectSettings(ctx context.Context, g *gate.Gate, file string) error {
	text, _, err := g.ReadOwn(ctx, b.project[0], file, maxSettings)
	switch {
	case errors.Is(err, gate.ErrNoFile):
		return nil
	case err != nil:
		return &config.Error{File: file, Message: "can't be read: " + reason(err)}
	}
	return b.set.Project(file, []byte(text), b.sh.getenv)
}

// reason is an error without the path that the message names already.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func (b *setup) makeRules() error {
	add := func(to *[]policy.Sourced, rules []config.Rule) error {
		for _, r := range rules {
			parsed, err := policy.ParseRule(r.Text)
			if err != nil {
				return &config.Error{File: r.Source, Message: fmt.Sprintf("the rule %q: %v", r.Text, err)}
			}
			*to = append(*to, policy.Sourced{Rule: parsed, Source: r.Source})
		}
		return nil
	}
	if err := errors.Join(add(&b.rules.Allow, b.set.Allow), add(&b.rules.Deny, b.set.Deny)); err != nil {
		return err
	}
	for _, r := range b.o.allow {
		b.rules.Allow = append(b.rules.Allow, policy.Sourced{Rule: r, Source: "--allow"})
	}
	for _, r := range b.o.deny {
		b.rules.Deny = append(b.rules.Deny, policy.Sourced{Rule: r, Source: "--deny"})
	}
	b.rules.Yolo, b.rules.Dir, b.rules.Home = b.o.yolo, b.dir, b.dirs.Home
	return nil
}

// newGate makes the gate of the session. extra gives what depends on the face: approver, sink, record.
func (b *setup) newGate(extra gate.Options) (*gate.Gate, error) {
	extra.Dir, extra.Home, extra.Env = b.dir, b.dirs.Home, b.sh.env
	extra.Rules, extra.PassEnv = b.rules, b.set.PassEnv
	if b.dirs.State != "" {
		extra.OutputDir = filepath.Join(b.dirs.State, "output")
	}
	g, err := gate.New(extra)
	if err != nil {
		return nil, usageError{err.Error()}
	}
	return g, nil
}

// userText reads a file that a flag names.
func userText(flag, path string) (string, error) {
	data, err := home.Read(path, 4<<20)
	if err != nil {
		return "", usagef("%s: %s can't be read: %s", flag, path, reason(err))
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}
