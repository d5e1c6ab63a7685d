// Package model holds what is known of models: context windows, output limits, prices, defaults.
package model

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
func Lookup(name string) Info { panic("not built") }

// Default returns the default model of a built-in provider, empty if it has none.
func Default(provider string) string { panic("not built") }

// ProviderOf returns the built-in provider that a bare model name belongs to by its prefix, empty if none.
func ProviderOf(name string) string { panic("not built") }
