// Package config holds the settings: layers of files, variables and flags in one struct, each value with the place it came
// from. It judges bytes: files are read by who may, and handed in. Later layers win:
//
//	New → User (the user's file) → Project (only narrows) → Environment → flags, which the caller sets
package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
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
	Model            string                     `json:"model"`
	Effort           Effort                     `json:"effort"`
	Providers        map[string]Provider        `json:"providers"`
	AllowRules       []string                   `json:"allow"`
	DenyRules        []string                   `json:"deny"`
	PassEnv          []string                   `json:"passEnv"`
	CompactAt        Share                      `json:"compactAt"`
	StallTimeout     Duration                   `json:"stallTimeout"`
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
	return &Settings{File: File{Providers: builtIn(), CompactAt: 0.8, StallTimeout: "120s"}, From: map[string]string{}}
}

// User lays the user's own file over the settings. dir is the directory to work in, for what is kept for it alone. An error
// is an [*Error].
func (s *Settings) User(file string, data []byte, dir string) error {
	d, err := decode(file, data, &s.File)
	if err != nil {
		return err
	}
	for _, path := range d.set {
		s.From[path] = file
	}
	s.unknown = d.unknown
	s.warn(d)
	s.Allow = append(From(file, s.AllowRules), From(file, s.Directories[dir].Allow)...)
	s.Deny, s.Instructions = From(file, s.DenyRules), From(file, s.InstructionFiles)
	for _, name := range s.PassEnv {
		if name == "" || strings.ContainsAny(name, " =$\t\n") {
			return &Error{File: file, Message: fmt.Sprintf("passEnv takes names of variables, and %q is none", name)}
		}
	}
	for path := range s.Directories {
		if !filepath.IsAbs(path) {
			return &Error{File: file, Message: fmt.Sprintf("directories takes absolute paths, and %q is none", path)}
		}
	}
	for name, p := range s.Providers {
		if p.Name = name; p.Type == "" {
			p.Type = OpenAI
		}
		if p.BaseURL == "" {
			hint := meant(p)
			if hint != "" {
				hint = fmt.Sprintf("; did you mean %q?", hint)
			}
			return &Error{File: file, Message: fmt.Sprintf(`provider %q has no "baseURL"%s`, name, hint)}
		}
		if s.From["providers."+name+".baseURL"] != "" {
			p.redirect(p.BaseURL)
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
	ignored := map[string]bool{}
	for _, path := range d.set {
		if key, _, _ := strings.Cut(path, "."); key != "model" && key != "deny" && key != "instructions" {
			ignored[key] = true
		}
	}
	if len(ignored) > 0 {
		s.Notices = append(s.Notices, fmt.Sprintf("%s: a project may set only model, deny and instructions; ignored: %s", file, strings.Join(slices.Sorted(maps.Keys(ignored)), ", ")))
	}
	s.warn(d)
	s.Deny = append(s.Deny, From(file, p.DenyRules)...)
	s.Instructions = append(s.Instructions, From(file, p.InstructionFiles)...)
	provider, _, named := strings.Cut(p.Model, "/")
	switch has, known := s.Providers[provider]; {
	case p.Model == "":
	case strings.HasPrefix(p.Model, "script:"):
		s.Notices = append(s.Notices, file+": a project may not name a script as its model; ignored")
	case named && known && !has.Usable(getenv) && !has.Local:
		s.Notices = append(s.Notices, fmt.Sprintf("%s: the model %s is ignored: you have no key for the provider %s", file, p.Model, provider))
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
		s.Model, s.From["model"] = m, "ANCHOR_MODEL"
	}
	for name, p := range s.Providers {
		base := URL(strings.TrimSpace(getenv(p.addressVariable)))
		if base == "" {
			continue
		}
		if what, ok := base.check(); !ok {
			return &Error{File: p.addressVariable, Message: "takes " + what}
		}
		p.redirect(base)
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
	if p.rank < 0 {
		return ""
	}
	name := nearest(p.Name, slices.Sorted(maps.Keys(builtIn())))
	if plain(name) != plain(p.Name) && strings.ContainsAny(p.Name, "0123456789-_.") {
		return ""
	}
	return name
}

// List returns every setting that matters as key, value and source, secrets as set or unset. Providers that nothing speaks of
// are left out.
func (s *Settings) List(getenv func(string) string) [][]string {
	var out [][]string
	add := func(key, value string) { out = append(out, []string{key, value, s.From[key]}) }
	add("model", s.Model)
	add("effort", string(s.Effort))
	add("compactAt", fmt.Sprint(float64(s.CompactAt)))
	add("stallTimeout", string(s.StallTimeout))
	add("passEnv", strings.Join(s.PassEnv, ", "))
	list := func(key string, all []Sourced) {
		for _, e := range all {
			out = append(out, []string{key, e.Text, e.Source})
		}
	}
	list("instructions", s.Instructions)
	list("allow", s.Allow)
	list("deny", s.Deny)
	set := slices.Sorted(maps.Keys(s.From))
	for _, p := range s.Ordered() {
		at := "providers." + p.Name + "."
		spoken := slices.DeleteFunc(slices.Clone(set), func(path string) bool { return !strings.HasPrefix(path, at) })
		if len(spoken) == 0 && !p.Usable(getenv) {
			continue
		}
		add(at+"baseURL", string(p.BaseURL))
		if p.KeyEnv != "" {
			state := map[bool]string{true: "set", false: "unset"}[strings.TrimSpace(getenv(p.KeyEnv)) != ""]
			out = append(out, []string{at + "key", state, p.KeyEnv})
		}
		for _, path := range spoken {
			if key := path[len(at):]; key == "keyCommand" || strings.HasPrefix(key, "headers.") {
				add(path, "set")
			}
		}
		for _, m := range slices.Sorted(maps.Keys(p.Models)) {
			out = append(out, []string{at + "models." + m, fmt.Sprintf("window %d, output %d", p.Models[m].ContextWindow, p.Models[m].MaxOutput), s.From[at+"models."+m+".contextWindow"]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.MCPServers)) {
		add("mcpServers."+name, "set")
	}
	return out
}

// Edit returns a settings file with one value changed, comments and layout kept. path is the keys from the top; missing
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
		what := any(struct{}{})
		if i == len(path)-1 {
			what = value
		} else if v.Find(at) != nil {
			continue
		}
		patch, err := json.Marshal([]map[string]any{{"op": "add", "path": at, "value": what}})
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
