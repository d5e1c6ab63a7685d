// Package model holds what is known of models: context windows, output limits, prices, defaults. It judges by a model's
// name alone; what the user's config or a server says comes first, and that is the caller's business.
package model

import "strings"

// Assumed is the window, in tokens, of a model that nothing is known of.
const Assumed = 128_000

// Info is what is known of a model. Prices are in dollars per million tokens, 0 if unknown.
type Info struct {
	Window    int
	MaxOutput int
	// Known is false if Window is an assumption.
	Known  bool
	Source string // "table", "config", "server", "assumed"
	// Thinking says that the model takes a thinking effort.
	Thinking                    bool
	InPrice, OutPrice, CachedIn float64
}

// Lookup finds a model by the longest known prefix of its name, vendor prefixes such as anthropic/ left out.
func Lookup(name string) Info {
	f, ok := find(name)
	if !ok {
		return Info{Window: Assumed, Source: "assumed"}
	}
	return Info{
		Window: f.window * 1000, MaxOutput: f.output * 1000, Known: true, Source: "table", Thinking: f.thinks,
		InPrice: f.in, OutPrice: f.out, CachedIn: f.cached,
	}
}

// Default returns the default model of a built-in provider, empty if it has none: a router and the local servers serve what
// their user chose.
func Default(provider string) string {
	switch provider {
	case "anthropic":
		return "claude-sonnet-5"
	case "openai":
		return "gpt-5.6-terra"
	case "openrouter":
		return "anthropic/claude-sonnet-5"
	case "gemini":
		return "gemini-3.7-flash"
	case "xai":
		return "grok-4.5"
	case "deepseek":
		return "deepseek-v4-pro"
	case "groq":
		return "openai/gpt-oss-120b"
	case "mistral":
		return "mistral-medium-3-5"
	}
	return ""
}

// ProviderOf returns the built-in provider that a bare model name belongs to by its prefix, empty if none. A name with a
// vendor before a slash belongs to none: a router and a local server use such names too. Open models, which many servers
// run, belong to none either.
func ProviderOf(name string) string {
	if strings.Contains(name, "/") {
		return ""
	}
	f, _ := find(name)
	return f.provider
}

// find returns the family with the longest prefix of name. What stands before the name (a vendor, a
// region) and upper case are left out.
func find(name string) (family, bool) {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	if _, after, ok := strings.Cut(name, "anthropic."); ok {
		name = after
	}
	var best family
	for _, f := range families() {
		if len(f.prefix) > len(best.prefix) && strings.HasPrefix(name, f.prefix) {
			best = f
		}
	}
	return best, best.prefix != ""
}
