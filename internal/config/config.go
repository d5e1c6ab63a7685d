// Package config holds the settings: layers of files, variables and flags in one struct, each value with the place it came
// from. It judges bytes: files are read by who may, and handed in. Later layers win:
//
//	New → User (the user's file) → Project (only narrows) → Environment → flags (Set)
package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Settings are what is in force.
type Settings struct {
	Model        string                     `json:"model"`
	Effort       Effort                     `json:"effort"`
	Providers    map[string]Provider        `json:"providers"`
	PassEnv      []string                   `json:"passEnv"`
	CompactAt    Share                      `json:"compactAt"`
	StallTimeout Duration                   `json:"stallTimeout"`
	Instructions []string                   `json:"instructions"`
	MCPServers   map[string]json.RawMessage `json:"mcpServers"`
	AllowRules   []string                   `json:"allow"`
	DenyRules    []string                   `json:"deny"`
	Directories  map[string]Directory       `json:"directories"`

	// Allow and Deny are the rules of all layers with their sources.
	Allow, Deny []Rule `json:"-"`
	// From says where each value came from, by its path: "model", "providers.work.baseURL". What is missing is built in.
	From map[string]string `json:"-"`
	// Notices are for the user: unknown keys, what a project's file may not set.
	Notices []string `json:"-"`

	unknown []unknown
}

// Directory is what the user keeps for one directory, by its absolute path.
type Directory struct {
	Allow []string `json:"allow"`
}

// Rule is an allow or deny rule as it was written, and where.
type Rule struct{ Text, Source string }

// New returns the built-in settings.
func New() *Settings {
	s := &Settings{Providers: map[string]Provider{}, CompactAt: 0.8, StallTimeout: "120s", From: map[string]string{}}
	for _, p := range builtIn() {
		s.Providers[p.Name] = p
	}
	return s
}

// User lays the user's own file over the settings. dir is the directory to work in, for what is kept for it alone. An error
// is an [*Error].
func (s *Settings) User(file string, data []byte, dir string) error {
	d, err := decode(file, data, s)
	if err != nil {
		return err
	}
	s.note(d)
	s.rules(file, s.AllowRules, s.DenyRules)
	s.rules(file, s.Directories[dir].Allow, nil)
	for name, p := range s.Providers {
		p.Name = name
		for _, path := range d.set {
			if strings.HasPrefix(path, "providers."+name+".") {
				p.configured = true
				p.Redirected = p.Redirected || path == "providers."+name+".baseURL"
			}
		}
		if p.Type == "" {
			p.Type = OpenAI
		}
		if p.BaseURL == "" {
			return &Error{File: file, Message: fmt.Sprintf(`provider %q has no "baseURL"`, name)}
		}
		p.BaseURL = address(p.Type, p.BaseURL)
		s.Providers[name] = p
	}
	return nil
}

// note keeps the sources and warnings of a file that was read.
func (s *Settings) note(d *decoder) {
	for _, path := range d.set {
		s.From[path] = d.file
	}
	s.unknown = append(s.unknown, d.unknown...)
	for _, u := range d.unknown {
		s.Notices = append(s.Notices, u.text)
	}
}

func (s *Settings) rules(source string, allow, deny []string) {
	for _, r := range allow {
		s.Allow = append(s.Allow, Rule{r, source})
	}
	for _, r := range deny {
		s.Deny = append(s.Deny, Rule{r, source})
	}
}

// Project lays a project's file over the settings. It can only narrow: it may name a model of a provider that the user has,
// deny, and add instructions. All else in it is ignored with a notice.
func (s *Settings) Project(file string, data []byte, getenv func(string) string) error {
	var p Settings
	d, err := decode(file, data, &p)
	if err != nil {
		return err
	}
	for _, u := range d.unknown {
		s.Notices = append(s.Notices, u.text)
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
	s.rules(file, nil, p.DenyRules)
	if p.Instructions != nil {
		s.Instructions = append(s.Instructions, p.Instructions...)
		s.From["instructions"] = file
	}
	s.projectModel(file, p.Model, getenv)
	return nil
}

// projectModel takes a project's wish for a model only where it names a provider that the user can use already.
func (s *Settings) projectModel(file, model string, getenv func(string) string) {
	if model == "" {
		return
	}
	if strings.HasPrefix(model, "script:") {
		s.Notices = append(s.Notices, file+": a project may not name a script as its model; ignored")
		return
	}
	if name, _, ok := strings.Cut(model, "/"); ok {
		p, known := s.Providers[name]
		if known && !p.Usable(getenv) && !p.Local {
			s.Notices = append(s.Notices, fmt.Sprintf("%s: the model %s is ignored: you have no key for the provider %s", file, model, name))
			return
		}
	}
	s.Model, s.From["model"] = model, file
}

// Environment lays the variables over the settings: ANCHOR_MODEL and the addresses of providers. Keys stay where they are
// until a request needs one.
func (s *Settings) Environment(getenv func(string) string) error {
	if m := strings.TrimSpace(getenv("ANCHOR_MODEL")); m != "" {
		if strings.HasPrefix(m, "script:") {
			return &Error{File: "ANCHOR_MODEL", Message: "a script is taken from the flag only: -m " + m}
		}
		s.Set("model", m, "ANCHOR_MODEL")
	}
	for name, p := range s.Providers {
		base := strings.TrimSpace(getenv(p.addressVariable))
		if p.addressVariable == "" || base == "" {
			continue
		}
		if what, ok := URL(base).check(); !ok {
			return &Error{File: p.addressVariable, Message: "takes " + what}
		}
		p.BaseURL, p.Redirected, p.configured = address(p.Type, URL(base)), true, true
		s.From["providers."+name+".baseURL"] = p.addressVariable
		s.Providers[name] = p
	}
	return nil
}

// Set overrides the model or the effort; source is the flag or the variable.
func (s *Settings) Set(key, value, source string) {
	switch key {
	case "model":
		s.Model = value
	case "effort":
		s.Effort = Effort(value)
	default:
		panic("config: no setting " + key)
	}
	s.From[key] = source
}

// Misplaced returns a complaint if a key that looks like a mistyped or misplaced base URL may have been meant for this
// provider, whose address is still the built-in one: prompt and key would go to the wrong place.
func (s *Settings) Misplaced(p Provider) string {
	if p.Redirected {
		return ""
	}
	for _, u := range s.unknown {
		if u.near == "baseURL" && (!strings.Contains(u.path, ".") || strings.HasPrefix(u.path, "providers."+p.Name+".")) {
			return fmt.Sprintf("%s. Nothing is sent to %s until that is mended", u.text, p.BaseURL)
		}
	}
	return ""
}

// Setting is one line of what is in force.
type Setting struct{ Key, Value, Source string }

// List returns every setting that matters, secrets as set or unset. Providers that nothing speaks of are left out.
func (s *Settings) List(getenv func(string) string) []Setting {
	out := []Setting{{"model", s.Model, s.From["model"]}, {"effort", string(s.Effort), s.From["effort"]},
		{"compactAt", fmt.Sprint(float64(s.CompactAt)), s.From["compactAt"]},
		{"stallTimeout", string(s.StallTimeout), s.From["stallTimeout"]},
		{"passEnv", strings.Join(s.PassEnv, ", "), s.From["passEnv"]},
		{"instructions", strings.Join(s.Instructions, ", "), s.From["instructions"]}}
	for _, r := range s.Allow {
		out = append(out, Setting{"allow", r.Text, r.Source})
	}
	for _, r := range s.Deny {
		out = append(out, Setting{"deny", r.Text, r.Source})
	}
	for _, p := range s.Ordered() {
		out = append(out, s.provider(p, getenv)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.MCPServers)) {
		out = append(out, Setting{"mcpServers." + name, "set", s.From["mcpServers."+name]})
	}
	return out
}

func (s *Settings) provider(p Provider, getenv func(string) string) []Setting {
	if !p.configured && !p.Usable(getenv) {
		return nil
	}
	at := "providers." + p.Name + "."
	out := []Setting{{at + "baseURL", string(p.BaseURL), s.From[at+"baseURL"]}}
	if p.KeyEnv != "" {
		state := "unset"
		if strings.TrimSpace(getenv(p.KeyEnv)) != "" {
			state = "set"
		}
		out = append(out, Setting{at + "key", state, p.KeyEnv})
	}
	if p.KeyCommand != "" {
		out = append(out, Setting{at + "keyCommand", "set", s.From[at+"keyCommand"]})
	}
	for _, h := range slices.Sorted(maps.Keys(p.Headers)) {
		out = append(out, Setting{at + "headers." + h, "set", s.From[at+"headers."+h]})
	}
	for _, m := range slices.Sorted(maps.Keys(p.Models)) {
		out = append(out, Setting{at + "models." + m, fmt.Sprintf("window %d, output %d", p.Models[m].ContextWindow, p.Models[m].MaxOutput), s.From[at+"models."+m+".contextWindow"]})
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
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	at := ""
	for i, key := range path {
		at += "/" + escape.Replace(key)
		last := i == len(path)-1
		if v.Find(at) != nil && !last {
			continue
		}
		what := any(struct{}{})
		if last {
			what = value
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
