// Package config holds the settings: layers of files, variables and flags in one struct, each value with the place it came
// from. It judges bytes: files are read by who may, and handed in. Later layers win:
//
//	New → User (the user's file) → Project (only narrows) → Environment → flags, which the caller sets
package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"anchor/internal/model"
)

// Settings are what is in force.
type Settings struct {
	File

	// Allow, Deny and Instructions are those of all layers with their sources.
	Allow, Deny, Instructions []Sourced
	// From says where each value came from, by its path: "model", "providers.work.baseURL". What is missing is built in.
	From map[string]string
	// Notices are for the user: unknown keys, what a project's file may not set.
	Notices []string

	unknown []unknown // keys of the user's file
}

// File is what a settings file may hold. Its lists stand in Settings too, with those of other files.
type File struct {
	Model            Name                       `json:"model"`
	Effort           Effort                     `json:"effort"`
	Providers        map[string]Provider        `json:"providers"`
	AllowRules       []string                   `json:"allow"`
	DenyRules        []string                   `json:"deny"`
	PassEnv          []string                   `json:"passEnv"`
	CompactAt        Share                      `json:"compactAt"`
	StallTimeout     Duration                   `json:"stallTimeout"`
	Bell             bool                       `json:"bell"`
	InstructionFiles []string                   `json:"instructions"`
	MCPServers       map[string]json.RawMessage `json:"mcpServers"`
	Directories      map[string]Directory       `json:"directories"`
}

// Directory is what the user keeps for one directory, by its absolute path.
type Directory struct {
	Allow []string `json:"allow"`
}

// Sourced is an entry of a list as it was written, and the file, variable or flag it came from.
type Sourced struct{ Text, Source string }

// From gives a list its source.
func From(source string, list []string) (out []Sourced) {
	for _, text := range list {
		out = append(out, Sourced{text, source})
	}
	return out
}

// New returns the built-in settings.
func New() *Settings {
	return &Settings{File: File{Providers: builtIn(), CompactAt: 0.8, StallTimeout: "120s", Bell: true}, From: map[string]string{}}
}

// User lays the user's own file over the settings. dir is the directory to work in, for what is kept for it alone. An error
// is an [*Error].
func (s *Settings) User(file string, data []byte, dir string) error {
	d, err := decode(file, data, &s.File)
	if err != nil {
		return err
	}
	for path := range d.set {
		s.From[path] = file
	}
	s.unknown = d.unknown
	s.warn(d)
	s.Allow = append(From(file, s.AllowRules), From(file, s.Directories[dir].Allow)...)
	s.Deny, s.Instructions = From(file, s.DenyRules), From(file, s.InstructionFiles)
	for _, name := range s.PassEnv {
		if _, ok := Variable(name).check(); !ok || name == "" {
			return d.at(d.set["passEnv"], "passEnv takes names of variables, and %q is none", name)
		}
	}
	for path := range s.Directories {
		if !filepath.IsAbs(path) {
			return d.at(d.set["directories"], "directories takes absolute paths, and %q is none", path)
		}
	}
	for name, p := range s.Providers {
		at := "providers." + name
		p.Name, p.Type, p.Redirected = name, cmp.Or(p.Type, OpenAI), s.From[at+".baseURL"] != ""
		if hint := meant(p); p.BaseURL == "" && hint != "" {
			return d.at(d.set[at], `provider %q has no "baseURL"; did you mean %q?`, name, hint)
		} else if p.BaseURL == "" {
			return d.at(d.set[at], `provider %q has no "baseURL"`, name)
		}
		s.Providers[name] = p
	}
	return nil
}

func (s *Settings) warn(d *decoder) {
	for _, u := range d.unknown {
		s.Notices = append(s.Notices, u.text)
	}
}

// Project lays a project's file over the settings. It can only narrow: it may name a model of a provider that the user has,
// deny, and add instructions. All else in it is ignored with a notice.
func (s *Settings) Project(file string, data []byte, getenv func(string) string) error {
	var p File
	d, err := decode(file, data, &p)
	if err != nil {
		return err
	}
	ignore := func(format string, args ...any) {
		s.Notices = append(s.Notices, file+": "+fmt.Sprintf(format, args...))
	}
	var ignored []string
	for path := range d.set {
		if !strings.Contains(path, ".") && !slices.Contains(strings.Fields("model deny instructions"), path) && path != "" {
			ignored = append(ignored, path)
		}
	}
	if slices.Sort(ignored); ignored != nil {
		ignore("a project may set only model, deny and instructions; ignored: %s", strings.Join(ignored, ", "))
	}
	s.warn(d)
	s.Deny = append(s.Deny, From(file, p.DenyRules)...)
	s.Instructions = append(s.Instructions, From(file, p.InstructionFiles)...)
	provider, _, named := strings.Cut(string(p.Model), "/")
	switch has, known := s.Providers[provider]; {
	case p.Model == "":
	case strings.HasPrefix(string(p.Model), "script:"):
		ignore("a project may not name a script as its model; ignored")
	case named && known && !has.Usable(getenv) && !has.Local:
		ignore("the model %s is ignored: you have no key for the provider %s", p.Model, provider)
	default:
		s.Model, s.From["model"] = p.Model, file
	}
	return nil
}

// Environment lays the variables over the settings: ANCHOR_MODEL and the addresses of providers. Keys stay where they are
// until a request needs one.
func (s *Settings) Environment(getenv func(string) string) error {
	if m := strings.TrimSpace(getenv("ANCHOR_MODEL")); strings.HasPrefix(m, "script:") {
		return &Error{File: "ANCHOR_MODEL", Message: "a script is taken from the flag only: -m " + m}
	} else if m != "" {
		s.Model, s.From["model"] = Name(m), "ANCHOR_MODEL"
	}
	for name, p := range s.Providers {
		base := URL(strings.TrimSpace(getenv(p.addressVariable)))
		if base == "" {
			continue
		}
		if what, ok := base.check(); !ok {
			return &Error{File: p.addressVariable, Message: "takes " + what}
		}
		p.BaseURL, p.Redirected = base, true
		s.From["providers."+name+".baseURL"], s.Providers[name] = p.addressVariable, p
	}
	return nil
}

// Misplaced returns a complaint if something in the user's file looks like a mistyped or misplaced address that may have been meant for
// this provider, whose address is still the built-in one: prompt and key would go to the wrong place.
func (s *Settings) Misplaced(p Provider) string {
	if p.Redirected {
		return ""
	}
	for _, u := range s.unknown {
		if u.redirect && (!strings.HasPrefix(u.path, "providers.") || strings.HasPrefix(u.path, "providers."+p.Name+".")) {
			return fmt.Sprintf("%s. Nothing is sent to %s until that is mended", u.text, p.BaseURL)
		}
	}
	for _, other := range s.Ordered() {
		if meant(other) == p.Name {
			return fmt.Sprintf("%s: the provider %q looks like a mistyped %q, so nothing is sent to %s. Correct the name, or give %q a \"baseURL\" of its own",
				s.From["providers."+other.Name+".baseURL"], other.Name, p.Name, p.BaseURL, p.Name)
		}
	}
	return ""
}

// meant returns the built-in provider whose name a provider of the user's own seems to be a slip of; "openai2" and "openai-eu" are none.
func meant(p Provider) string {
	name := model.Nearest(p.Name, builtInNames(), sure)
	if p.rank < 0 || strings.ContainsAny(p.Name, "0123456789-_.") && model.Nearest(p.Name, builtInNames(), 0.99) == "" {
		return ""
	}
	return name
}

// List returns every setting that matters as key, value and source, secrets as set or unset. Providers that nothing speaks of
// are left out.
func (s *Settings) List(getenv func(string) string) [][]string {
	var out [][]string
	add := func(key, value, source string) { out = append(out, []string{key, value, source}) }
	for key, value := range map[string]any{"model": s.Model, "effort": s.Effort, "compactAt": s.CompactAt, "stallTimeout": s.StallTimeout, "bell": s.Bell, "passEnv": strings.Join(s.PassEnv, ", ")} {
		add(key, fmt.Sprint(value), s.From[key])
	}
	for key, all := range map[string][]Sourced{"instructions": s.Instructions, "allow": s.Allow, "deny": s.Deny} {
		for _, e := range all {
			add(key, e.Text, e.Source)
		}
	}
	for name, p := range s.Providers {
		at := "providers." + name
		if s.From[at] == "" && !p.Redirected && !p.Usable(getenv) {
			continue
		}
		add(at+".baseURL", string(p.BaseURL), s.From[at+".baseURL"])
		if p.KeyEnv != "" {
			add(at+".key", map[bool]string{true: "set", false: "unset"}[strings.TrimSpace(getenv(string(p.KeyEnv))) != ""], string(p.KeyEnv))
		}
		if p.KeyCommand != "" {
			add(at+".keyCommand", "set", s.From[at+".keyCommand"])
		}
		for h := range p.Headers {
			add(at+".headers."+h, "set", s.From[at+".headers"])
		}
		for name, m := range p.Models {
			add(at+".models."+name, fmt.Sprintf("window %d, output %d", m.ContextWindow, m.MaxOutput), s.From[at+".models"])
		}
	}
	for name := range s.MCPServers {
		add("mcpServers."+name, "set", s.From["mcpServers"])
	}
	slices.SortStableFunc(out, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return out
}

// Edit returns a settings file with one value changed, nil removes it, comments and layout kept. path is the keys from the top; missing
// objects on the way are made.
func Edit(file string, data []byte, path []string, value any) ([]byte, error) {
	if len(strings.TrimSpace(string(data))) == 0 {
		data = []byte("{}\n")
	}
	v, err := hujson.Parse(data)
	if err != nil {
		return nil, (&decoder{file: file}).syntax(err)
	}
	at := ""
	for i, key := range path {
		at += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		what, op := any(struct{}{}), "add"
		if i == len(path)-1 && value == nil {
			op = "remove"
		} else if i == len(path)-1 {
			what = value
		} else if v.Find(at) != nil {
			continue
		}
		patch, err := json.Marshal([]map[string]any{{"op": op, "path": at, "value": what}})
		if err != nil {
			return nil, err
		}
		if err := v.Patch(patch); err != nil {
			return nil, &Error{File: file, Message: err.Error()}
		}
	}
	v.Format()
	return v.Pack(), nil
}
