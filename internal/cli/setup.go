package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"anchor/internal/config"
	"anchor/internal/gate"
	"anchor/internal/home"
	"anchor/internal/policy"
	"anchor/internal/provider/script"
	"anchor/internal/skill"
)

// maxSettings bounds a settings file, in bytes.
const maxSettings = 1 << 20

// setup is what most commands need: where anchor's own files are, the gate, the settings. Close its gate.
type setup struct {
	sh      shell
	o       *options
	dirs    home.Dirs // all empty without a home directory
	gate    *gate.Gate
	dir     string // the directory to work in, absolute, links resolved
	set     *config.Settings
	notices []string
	script  *script.Script // the model, if it is one
}

// prepare makes the gate, reads the settings layer by layer through it, and gives it the rules. face is what of the gate
// depends on the front. Errors are for exit code 2.
func prepare(ctx context.Context, sh shell, o *options, face gate.Options) (*setup, error) {
	b := &setup{sh: sh, o: o, set: config.New()}
	var err error
	if b.dirs, err = home.Find(sh.getenv); err != nil {
		b.notices = append(b.notices, err.Error()+"; settings are not read and the session is not saved")
	} else {
		face.OutputDir = filepath.Join(b.dirs.State, "output")
	}
	face.Dir, face.Home, face.Env = cmp.Or(o.dir, "."), b.dirs.Home, sh.env
	if b.gate, err = gate.New(face); err != nil {
		return nil, usageError{err.Error()}
	}
	b.dir = b.gate.Dir()
	rules, err := b.settings(ctx)
	if err != nil {
		b.gate.Close()
		return nil, err
	}
	b.gate.Configure(rules, b.set.PassEnv)
	b.notices = append(b.notices, b.set.Notices...)
	return b, nil
}

// settings lays all layers over each other, and reads the rules in them.
func (b *setup) settings(ctx context.Context) (rules policy.Rules, err error) {
	if b.dirs.Config != "" {
		data, err := home.Read(b.userFile(), maxSettings)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return rules, unreadable(b.userFile(), err)
		}
		if err := b.set.User(b.userFile(), data, b.dir); err != nil {
			return rules, err
		}
	}
	project := b.gate.ProjectDirs()
	for _, dir := range project {
		file := filepath.Join(dir, ".anchor", "config.json")
		text, _, err := b.gate.ReadOwn(ctx, project[0], file, maxSettings)
		if errors.Is(err, gate.ErrNoFile) {
			continue
		}
		if err != nil {
			return rules, unreadable(file, err)
		}
		if err := b.set.Project(file, []byte(text), b.sh.getenv); err != nil {
			return rules, err
		}
	}
	if err := b.set.Environment(b.sh.getenv); err != nil {
		return rules, err
	}
	if b.o.model != "" {
		b.set.Model, b.set.From["model"] = b.o.model, "--model"
	}
	if b.o.effort != "" {
		b.set.Effort, b.set.From["effort"] = b.o.effort, "--effort"
	}
	rules.Yolo = b.o.yolo
	allow, err := parsed(b.set.Allow, "--allow", b.o.allow)
	if err != nil {
		return rules, err
	}
	deny, err := parsed(b.set.Deny, "--deny", b.o.deny)
	rules.Allow, rules.Deny = allow, deny
	return rules, err
}

func (b *setup) userFile() string { return filepath.Join(b.dirs.Config, "config.json") }

// unreadable is the error of a settings file, which its text names once.
func unreadable(file string, err error) error {
	return &config.Error{File: file, Message: "can't be read: " + reason(err)}
}

// reason is an error without the path that the message names already.
func reason(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// parsed reads the rules of the settings, and those of a flag.
func parsed(list []config.Sourced, flag string, more []string) (out []policy.Sourced, err error) {
	for _, text := range more {
		list = append(list, config.Sourced{Text: text, Source: flag})
	}
	for _, r := range list {
		rule, err := policy.ParseRule(r.Text)
		if err != nil {
			return nil, &config.Error{File: r.Source, Message: fmt.Sprintf("the rule %q: %v", r.Text, err)}
		}
		out = append(out, policy.Sourced{Rule: rule, Source: r.Source})
	}
	return out, nil
}

// find looks for skills, sub-agents and instructions. A path in the user's settings counts from their folder, one in a project's
// from the directory that .anchor is in.
func (b *setup) find(ctx context.Context) (skill.Found, error) {
	f := skill.Finder{Gate: b.gate, Config: b.dirs.Config, Home: b.dirs.Home}
	for _, i := range b.set.Instructions {
		file := skill.File{Path: i.Text, Dir: filepath.Dir(i.Source)}
		if i.Source != b.userFile() {
			file.Dir, file.Root = filepath.Dir(file.Dir), b.gate.ProjectDirs()[0]
		}
		f.Files = append(f.Files, file)
	}
	return f.Find(ctx)
}

// userText reads a file that a flag names.
func userText(flag, path string) (string, error) {
	data, err := home.Read(path, 4<<20)
	if err != nil {
		return "", usagef("%s: %s can't be read: %s", flag, path, reason(err))
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}
