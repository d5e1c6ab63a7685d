package model_test

import (
	"strings"
	"testing"

	"anchor/internal/model"
)

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		name   string
		window int
		output int
		known  bool
		in     float64
	}{
		{"claude-sonnet-5", 1_000_000, 128_000, true, 2},
		{"claude-sonnet-5-5", 1_000_000, 128_000, true, 2},
		{"anthropic/claude-sonnet-5", 1_000_000, 128_000, true, 2},
		{"us.anthropic.claude-opus-4-5", 200_000, 64_000, true, 5},
		{"anthropic.claude-opus-4-5-20251101-v1:0", 200_000, 64_000, true, 5},
		{"claude-opus-5-5", 1_000_000, 128_000, true, 4},
		{"claude-haiku-4-5-20251001", 200_000, 64_000, true, 1},
		{"claude-3-5-haiku-latest", 200_000, 8_000, true, 0},
		{"gpt-5-mini-2025-08-07", 400_000, 128_000, true, 0.25},
		{"GPT-5", 400_000, 128_000, true, 1.25},
		{"gpt-4o-mini", 128_000, 16_000, true, 0.15},
		{"openai/gpt-oss-120b", 131_000, 32_000, true, 0},
		{"gemini-2.5-flash-lite", 1_048_000, 65_000, true, 0.3},
		{"accounts/fireworks/models/kimi-k2-instruct", 262_000, 32_000, true, 0.6},
		{"qwen3-coder:30b", 262_000, 32_000, true, 0},
		{"my-own-model", model.Assumed, 0, false, 0},
		{"", model.Assumed, 0, false, 0},
	} {
		i := model.Lookup(c.name)
		if i.Window != c.window || i.MaxOutput != c.output || i.Known != c.known || i.InPrice != c.in {
			t.Errorf("Lookup(%q) = %+v, want %+v", c.name, i, c)
		}
		if want := map[bool]string{true: "table", false: "assumed"}[c.known]; i.Source != want {
			t.Errorf("Lookup(%q).Source = %q, want %q", c.name, i.Source, want)
		}
	}
}

func TestProviderOf(t *testing.T) {
	for name, want := range map[string]string{
		"claude-opus-5": "anthropic", "gpt-5.1": "openai", "o3": "openai", "o4-mini": "openai", "gemini-3-pro": "gemini", "grok-4.5": "xai",
		"deepseek-chat": "deepseek", "codestral-latest": "mistral", "llama3.3": "", "gpt-oss:20b": "", "qwen3": "", "unheard-of": "",
		"anthropic/claude-sonnet-5": "", "ollama": "", "": "",
	} {
		if got := model.ProviderOf(name); got != want {
			t.Errorf("ProviderOf(%q) = %q, want %q", name, got, want)
		}
	}
}

// The default of a provider must be a model that the table knows, so that a first run makes no assumption.
func TestDefaultsAreKnown(t *testing.T) {
	if model.Default("anthropic") != "claude-sonnet-5" {
		t.Errorf("the default of anthropic is %q", model.Default("anthropic"))
	}
	for _, p := range []string{"anthropic", "openai", "openrouter", "gemini", "xai", "deepseek", "groq", "mistral"} {
		if name := model.Default(p); !model.Lookup(name).Known {
			t.Errorf("the default of %s, %q, is not in the table", p, name)
		}
	}
	for _, p := range []string{"ollama", "lmstudio", "llamacpp", "nobody"} {
		if name := model.Default(p); name != "" {
			t.Errorf("%s has no default model of its own, got %q", p, name)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, list := range [][]string{{"claude-sonnet-5", "claude-opus-5", "claude-haiku-5-5"}, {"qwen3:8b", "llama3:8b"}} {
		want := list[0]
		for _, typed := range []string{want[:len(want)-2], strings.Replace(want, "n", "m", 1), strings.ToUpper(want), strings.ReplaceAll(want, "-", "_")} {
			if got := model.Nearest(typed, list, 0); got != want {
				t.Errorf("%q is taken for %q", typed, got)
			}
		}
	}
	if got := model.Nearest("zzz", []string{"claude"}, 0) + model.Nearest("", nil, 0); got != "" {
		t.Errorf("got %q", got)
	}
}
