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

	"github.com/tailscale/hujson"
)

// Definition is one server, in the mcpServers form that other tools use too.
type Definition struct {
	Name   string          `json:"-"`
	Source string          `json:"-"` // the file it stands in
	Dir    string          `json:"-"` // the directory of the project whose file that is; empty for the user's own
	Raw    json.RawMessage `json:"-"` // as it was written; trust is bound to it
	Fault  error           `json:"-"` // why it can't be used

	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	CWD      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Disabled bool              `json:"disabled"`
	Timeout  int64             `json:"timeout"` // of a call without progress, in milliseconds
	OAuth    struct {
		ClientID     string `json:"clientId"` // of a client that was registered by hand, or the https address of its metadata document
		ClientSecret string `json:"clientSecret"`
		CallbackPort int    `json:"callbackPort"`
	} `json:"oauth"`
}

// Define reads definitions. dir is the project's directory, empty for the user's own. What can't be used has its Fault set.
func Define(source, dir string, servers map[string]json.RawMessage) (out []Definition) {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		d := Definition{}
		err := json.Unmarshal(servers[name], &d)
		d.Name, d.Source, d.Dir, d.Raw, d.Fault = name, source, dir, servers[name], cmp.Or(err, d.check())
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

func (d *Definition) check() error {
	switch {
	case d.Command == "" && d.URL == "":
		return errors.New(`it needs "command" or "url"`)
	case d.Command != "" && d.URL != "":
		return errors.New(`it has both "command" and "url"; one of them must go`)
	case d.Type == "sse":
		return errors.New(`its type "sse" is the old transport, which anchor does not speak; most servers have a streamable HTTP address too: use that with "type": "http"`)
	}
	return nil
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// Variables are the names of the environment variables that the definition uses, sorted.
func (d *Definition) Variables() (names []string) {
	for _, m := range variable.FindAllSubmatch(d.Raw, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// expand returns the definition with ${VAR} and ${VAR:-default} replaced in all texts. What is not set and has no default is an error.
func (d Definition) expand(getenv func(string) string) (Definition, error) {
	var missing error
	raw := variable.ReplaceAllFunc(d.Raw, func(found []byte) []byte {
		m := variable.FindSubmatch(found)
		value := getenv(string(m[1]))
		if value == "" && m[2] == nil {
			missing = fmt.Errorf("its definition needs the environment variable %s, which is not set", m[1])
		}
		if value == "" {
			return m[3]
		}
		quoted := encode(value)
		return quoted[1 : len(quoted)-1]
	})
	out := Definition{Name: d.Name, Source: d.Source, Dir: d.Dir, Raw: d.Raw}
	if err := cmp.Or(missing, json.Unmarshal(raw, &out)); err != nil {
		return d, err
	}
	if u, err := url.Parse(out.URL); out.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return d, fmt.Errorf("its address %q is no http or https address", out.URL)
	}
	return out, nil
}
