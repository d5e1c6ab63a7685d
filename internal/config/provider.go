package config

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The wires that a provider can speak.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
)

// Provider is how to reach one server of models.
type Provider struct {
	Type       Wire              `json:"type"`
	BaseURL    URL               `json:"baseURL"`
	KeyEnv     string            `json:"keyEnv"`
	KeyCommand string            `json:"keyCommand"`
	Headers    map[string]string `json:"headers"`
	Models     map[string]Model  `json:"models"`

	// Name is how users call it.
	Name string `json:"-"`
	// Local is a server on its usual loopback port: it needs no key and is looked for when nothing else is there.
	Local bool `json:"-"`
	// Redirected says that the address is not the built-in one.
	Redirected bool `json:"-"`
	// configured says that a file or a variable speaks of it.
	configured bool
	// addressVariable redirects a built-in provider.
	addressVariable string
}

// Model is what the user says about a model, in tokens.
type Model struct {
	ContextWindow Count `json:"contextWindow"`
	MaxOutput     Count `json:"maxOutput"`
}

// builtIn returns the known providers in the order in which a default is looked for.
func builtIn() []Provider {
	return []Provider{
		{Name: "anthropic", Type: Anthropic, BaseURL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY", addressVariable: "ANTHROPIC_BASE_URL"},
		{Name: "openai", Type: OpenAI, BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY", addressVariable: "OPENAI_BASE_URL"},
		{Name: "openrouter", Type: OpenAI, BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY"},
		{Name: "gemini", Type: OpenAI, BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyEnv: "GEMINI_API_KEY"},
		{Name: "xai", Type: OpenAI, BaseURL: "https://api.x.ai/v1", KeyEnv: "XAI_API_KEY"},
		{Name: "deepseek", Type: OpenAI, BaseURL: "https://api.deepseek.com/v1", KeyEnv: "DEEPSEEK_API_KEY"},
		{Name: "groq", Type: OpenAI, BaseURL: "https://api.groq.com/openai/v1", KeyEnv: "GROQ_API_KEY"},
		{Name: "mistral", Type: OpenAI, BaseURL: "https://api.mistral.ai/v1", KeyEnv: "MISTRAL_API_KEY"},
		{Name: "ollama", Type: OpenAI, BaseURL: "http://127.0.0.1:11434/v1", Local: true},
		{Name: "lmstudio", Type: OpenAI, BaseURL: "http://127.0.0.1:1234/v1", Local: true},
		{Name: "llamacpp", Type: OpenAI, BaseURL: "http://127.0.0.1:8080/v1", Local: true},
	}
}

// Usable says whether a request can be tried: there is a key or a way to one, or the server needs none.
func (p Provider) Usable(getenv func(string) string) bool {
	hasKey := p.KeyCommand != "" || p.KeyEnv != "" && strings.TrimSpace(getenv(p.KeyEnv)) != ""
	return hasKey || p.configured && p.Redirected && (p.KeyEnv == "" || p.addressVariable != "") || len(p.Headers) > 0
}

// Key finds the key when a request needs it: the variable, else the first line of keyCommand, which run starts without a
// terminal. An empty key is right for servers that need none. Errors never hold the key.
func (p Provider) Key(ctx context.Context, getenv func(string) string, run func(context.Context, string) (string, error)) (string, error) {
	if key := strings.TrimSpace(getenv(p.KeyEnv)); p.KeyEnv != "" && key != "" {
		return plain(key, "the variable "+p.KeyEnv)
	}
	if p.KeyCommand == "" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := run(ctx, p.KeyCommand)
	if err != nil {
		return "", fmt.Errorf("keyCommand of provider %s gave no key: %w", p.Name, err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if first = strings.TrimSpace(first); first == "" {
		return "", fmt.Errorf("keyCommand of provider %s printed nothing; its first line must be the key", p.Name)
	}
	return plain(first, "the output of keyCommand of provider "+p.Name)
}

// plain refuses a key that no header may hold, before anything is sent.
func plain(key, from string) (string, error) {
	for _, r := range key {
		if r <= ' ' || r > '~' {
			return "", fmt.Errorf("%s holds a character that no key has (%U); copy the key again, without quotes or blanks", from, r)
		}
	}
	return key, nil
}

// Warnings tells of a key that would go over the network unprotected.
func (p Provider) Warnings() []string {
	u, err := url.Parse(string(p.BaseURL))
	if err != nil || u.Scheme != "http" || Loopback(u.Hostname()) || p.KeyEnv == "" && p.KeyCommand == "" {
		return nil
	}
	return []string{fmt.Sprintf("the key of provider %s goes to %s over plain http, readable by anyone on the way; use https", p.Name, u.Host)}
}

// Loopback says whether a host is this machine.
func Loopback(host string) bool {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// address gives a base URL the form that its wire wants: Anthropic's without /v1, the others' with it where only a host was
// named.
func address(wire Wire, base URL) URL {
	s := strings.TrimRight(string(base), "/")
	if wire == Anthropic {
		return URL(strings.TrimRight(strings.TrimSuffix(s, "/v1"), "/"))
	}
	if u, err := url.Parse(s); err == nil && u.Path == "" && s != "" {
		s += "/v1"
	}
	return URL(s)
}

// Ordered returns the providers in the order in which a default is looked for: the built-in ones, then the user's by name.
func (s *Settings) Ordered() []Provider {
	var out, own []Provider
	for _, b := range builtIn() {
		out = append(out, s.Providers[b.Name])
	}
	for name, p := range s.Providers {
		if !slices.ContainsFunc(out, func(b Provider) bool { return b.Name == name }) {
			own = append(own, p)
		}
	}
	slices.SortFunc(own, func(a, b Provider) int { return strings.Compare(a.Name, b.Name) })
	return append(out, own...)
}
