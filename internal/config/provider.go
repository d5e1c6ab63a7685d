package config

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Provider is how to reach one server of models.
type Provider struct {
	Type       Wire              `json:"type"`
	BaseURL    URL               `json:"baseURL"`
	KeyEnv     Variable          `json:"keyEnv"`
	KeyCommand string            `json:"keyCommand"`
	Headers    map[string]string `json:"headers"`
	Models     map[string]Model  `json:"models"`

	Name            string // how users call it
	Local           bool   // on its usual loopback port: it needs no key and is looked for when nothing else is there
	Redirected      bool   // the address is not the built-in one
	rank            int    // of the built-in ones, below 0
	addressVariable string // redirects it
}

// Model is what the user says about a model, in tokens.
type Model struct {
	ContextWindow Count `json:"contextWindow"`
	MaxOutput     Count `json:"maxOutput"`
}

// vendors are the built-in providers in the order in which a default is looked for. The variable of the key is NAME_API_KEY; those
// on loopback need none.
const vendors = `anthropic  https://api.anthropic.com
openai     https://api.openai.com/v1
openrouter https://openrouter.ai/api/v1
gemini     https://generativelanguage.googleapis.com/v1beta/openai
xai        https://api.x.ai/v1
deepseek   https://api.deepseek.com/v1
groq       https://api.groq.com/openai/v1
mistral    https://api.mistral.ai/v1
ollama     http://127.0.0.1:11434/v1
lmstudio   http://127.0.0.1:1234/v1
llamacpp   http://127.0.0.1:8080/v1`

func builtIn() map[string]Provider {
	out := map[string]Provider{}
	for i, line := range strings.Split(vendors, "\n") {
		f := strings.Fields(line)
		p := Provider{Name: f[0], Type: OpenAI, BaseURL: URL(f[1]), rank: i - 100}
		if p.Local = p.loopback(); !p.Local {
			p.KeyEnv = Variable(strings.ToUpper(p.Name) + "_API_KEY")
		}
		if p.Name == "anthropic" {
			p.Type = Anthropic
		}
		if p.Name == "anthropic" || p.Name == "openai" {
			p.addressVariable = strings.ToUpper(p.Name) + "_BASE_URL"
		}
		out[p.Name] = p
	}
	return out
}

func builtInNames() []string { return slices.Sorted(maps.Keys(builtIn())) }

// Ordered returns the providers in the order in which a default is looked for: the built-in ones, then the user's by name.
func (s *Settings) Ordered() []Provider {
	return slices.SortedFunc(maps.Values(s.Providers), func(a, b Provider) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Name, b.Name))
	})
}

// KeyVariables are the variables that hold keys.
func (s *Settings) KeyVariables() (out []string) {
	for _, p := range s.Providers {
		out = append(out, string(p.KeyEnv))
	}
	return out
}

// Usable says whether a request can be tried: there is a key or a way to one, or the server needs none.
func (p Provider) Usable(getenv func(string) string) bool {
	hasKey := p.KeyCommand != "" || strings.TrimSpace(getenv(string(p.KeyEnv))) != ""
	return hasKey || p.Redirected && (p.KeyEnv == "" || p.addressVariable != "") || len(p.Headers) > 0
}

// Key finds the key when a request needs it: the variable, else what run says of keyCommand. An empty key is right for servers that need none. What no header may hold is refused. Errors never hold the key.
func (p Provider) Key(ctx context.Context, getenv func(string) string, run func(context.Context, string) (string, error)) (string, error) {
	key, from := strings.TrimSpace(getenv(string(p.KeyEnv))), "the variable "+string(p.KeyEnv)
	if key == "" && p.KeyCommand != "" {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		out, err := run(ctx, p.KeyCommand)
		if err != nil {
			return "", fmt.Errorf("keyCommand of provider %s gave no key: %w", p.Name, err)
		}
		key, from = strings.TrimSpace(out), "the output of keyCommand of provider "+p.Name
	}
	for _, r := range key {
		if r <= ' ' || r > '~' {
			return "", fmt.Errorf("%s holds a character that no key has (%U); copy the key again, without quotes or blanks", from, r)
		}
	}
	return key, nil
}

// Warning tells of a key that would go over the network unprotected; empty if none does.
func (p Provider) Warning() string {
	if p.KeyEnv == "" && p.KeyCommand == "" || p.loopback() || !strings.HasPrefix(string(p.BaseURL), "http://") {
		return ""
	}
	return fmt.Sprintf("the key of provider %s goes to %s over plain http, readable by anyone on the way; use https", p.Name, p.BaseURL)
}

// loopback says whether the server is on this machine.
func (p Provider) loopback() bool {
	u, err := url.Parse(string(p.BaseURL))
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	return err == nil && a.IsLoopback() || u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost")
}
