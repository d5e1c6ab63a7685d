package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// Definition is one server, in the mcpServers form that other tools use too.
type Definition struct {
	Name   string          `json:"-"`
	Source string          `json:"-"` // the file it stands in
	Dir    string          `json:"-"` // the directory of the project whose file that is; empty for the user's own
	Raw    json.RawMessage `json:"-"` // as it was written; trust is bound to it
	Fault  error           `json:"-"` // why it can't be used

	Type     string            `json:"type"` // stdio or http; worked out if missing
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	CWD      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Disabled bool              `json:"disabled"`
	Timeout  Timeout           `json:"timeout"` // of a call without progress
	OAuth    OAuth             `json:"oauth"`
}

// OAuth is a client that was registered by hand, for servers that register none themselves.
type OAuth struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	CallbackPort int    `json:"callbackPort"`
}

// Timeout is a length of time, written as "90s" or in milliseconds.
type Timeout time.Duration

// UnmarshalJSON reads both forms.
func (t *Timeout) UnmarshalJSON(data []byte) error {
	var ms float64
	if json.Unmarshal(data, &ms) == nil && ms > 0 {
		*t = Timeout(ms * float64(time.Millisecond))
		return nil
	}
	d, err := time.ParseDuration(strings.Trim(string(data), `"`))
	if err != nil || d <= 0 {
		return errors.New(`timeout takes "90s" or milliseconds`)
	}
	*t = Timeout(d)
	return nil
}

// Define reads definitions. dir is the project's directory, empty for the user's own. What can't be used has its Fault set.
func Define(source, dir string, servers map[string]json.RawMessage) (out []Definition) {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		raw, err := hujson.Standardize(slices.Clone(servers[name]))
		d := Definition{}
		if err == nil {
			err = json.Unmarshal(raw, &d)
		}
		d.Name, d.Source, d.Dir, d.Raw = name, source, dir, raw
		d.Fault = cmp.Or(err, d.check())
		out = append(out, d)
	}
	return out
}

// DefineFile reads a project's file. An error says what is wrong with the file as a whole.
func DefineFile(source, dir string, data []byte) ([]Definition, error) {
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	plain, err := hujson.Standardize(data)
	if err == nil {
		err = json.Unmarshal(plain, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s can't be read, none of its servers is used: %w", source, err)
	}
	return Define(source, dir, file.Servers), nil
}

// folder is where the server runs; base is the session's directory.
func (d *Definition) folder(base string) string {
	if filepath.IsAbs(d.CWD) {
		return d.CWD
	}
	return filepath.Join(cmp.Or(d.Dir, base), d.CWD)
}

// check works the type out and says what is wrong.
func (d *Definition) check() error {
	switch {
	case d.Command == "" && d.URL == "":
		return errors.New(`it needs "command" or "url"`)
	case d.Command != "" && d.URL != "":
		return errors.New(`it has both "command" and "url"; one of them must go`)
	case d.Type == "sse":
		return errors.New(`its type "sse" is the old transport, which anchor does not speak; most servers have a streamable HTTP address too: use that with "type": "http"`)
	case d.URL != "":
		d.Type = "http"
	default:
		d.Type = "stdio"
	}
	return nil
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// Variables are the names of the environment variables that the definition uses, sorted.
func (d *Definition) Variables() []string {
	names := map[string]bool{}
	for _, m := range variable.FindAllSubmatch(d.Raw, -1) {
		names[string(m[1])] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// expand returns the definition with ${VAR} and ${VAR:-default} replaced in all texts. What is not set and has no default is an error.
func (d Definition) expand(getenv func(string) string) (Definition, error) {
	var missing error
	text := func(s string) string {
		return variable.ReplaceAllStringFunc(s, func(found string) string {
			m := variable.FindStringSubmatch(found)
			value := cmp.Or(getenv(m[1]), m[3])
			if value == "" && m[2] == "" {
				missing = fmt.Errorf("its definition needs the environment variable %s, which is not set", m[1])
			}
			return value
		})
	}
	all := func(m map[string]string) map[string]string {
		out := map[string]string{}
		for k, v := range m {
			out[k] = text(v)
		}
		return out
	}
	d.Args = slices.Clone(d.Args)
	for i, a := range d.Args {
		d.Args[i] = text(a)
	}
	d.Command, d.CWD, d.URL, d.Env, d.Headers = text(d.Command), text(d.CWD), text(d.URL), all(d.Env), all(d.Headers)
	d.OAuth.ClientID, d.OAuth.ClientSecret = text(d.OAuth.ClientID), text(d.OAuth.ClientSecret)
	if u, err := url.Parse(d.URL); missing == nil && d.Type == "http" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		missing = fmt.Errorf("its address %q is no http or https address", d.URL)
	}
	return d, missing
}
