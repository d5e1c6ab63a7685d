// Package model holds what is known of models: context windows, output limits, prices, defaults. It judges by a model's
// name alone; what the user's config or a server says comes first, and that is the caller's business.
package model

import "strings"

// Assumed is the window, in tokens, of a model that nothing is known of.
const Assumed = 128_000

// Info is what is known of a model. Prices are in dollars per million tokens, 0 if unknown.
type Info struct {
	Window, MaxOutput           int
	Known                       bool   // false if Window is an assumption
	Source                      string // "table", "config", "server", "assumed"
	InPrice, OutPrice, CachedIn float64
}

// Lookup finds a model by the longest known prefix of its name, vendor prefixes such as anthropic/ left out.
func Lookup(name string) Info { return find(name).info }

// Default returns the default model of a built-in provider, empty if it has none: a router and the local servers serve what
// their user chose.
func Default(provider string) string {
	return map[string]string{
		"anthropic": "claude-sonnet-5", "openai": "gpt-5.6-terra", "openrouter": "anthropic/claude-sonnet-5", "gemini": "gemini-3.7-flash",
		"xai": "grok-4.5", "deepseek": "deepseek-v4-pro", "groq": "openai/gpt-oss-120b", "mistral": "mistral-medium-3-5",
	}[provider]
}

// ProviderOf returns the built-in provider that a bare model name belongs to by its prefix, empty if none. A name with a
// vendor before a slash belongs to none: a router and a local server use such names too. Open models, which many servers
// run, belong to none either.
func ProviderOf(name string) string {
	if strings.Contains(name, "/") {
		return ""
	}
	return find(name).provider
}

// find returns the family with the longest prefix of name. What stands before the name (a vendor, a region) and upper case are
// left out.
func find(name string) family {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	if _, after, ok := strings.Cut(name, "anthropic."); ok {
		name = after
	}
	best := family{info: Info{Window: Assumed, Source: "assumed"}}
	for _, f := range families() {
		if len(f.prefix) > len(best.prefix) && strings.HasPrefix(name, f.prefix) {
			best = f
		}
	}
	return best
}
