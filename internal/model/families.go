package model

// family is what models with a common prefix share. The window is in thousands of tokens, rounded down where the vendor counts in
// powers of two.
type family struct {
	prefix   string
	provider string // the built-in provider of the bare name, empty for open models
	window   int    // thousands of tokens
	output   int    // thousands of tokens
	thinks   bool
	in, out  float64 // dollars per million tokens
	cached   float64
}

// families is the table, as the vendors' pages had it in November 2026. Where prices differ by vendor, the maker's own counts; where
// none stands, it is not known well enough.
func families() []family {
	return []family{
		{"claude-", "anthropic", 200, 32, true, 0, 0, 0},
		{"claude-fable", "anthropic", 1000, 128, true, 10, 50, 1},
		{"claude-mythos", "anthropic", 1000, 128, true, 10, 50, 1},
		{"claude-opus-5", "anthropic", 1000, 128, true, 5, 25, 0.5},
		{"claude-opus-5-5", "anthropic", 1000, 128, true, 4, 20, 0.4},
		{"claude-sonnet-5", "anthropic", 1000, 128, true, 2, 10, 0.2},
		{"claude-haiku-5", "anthropic", 1000, 128, true, 0, 0, 0},
		{"claude-opus-4-8", "anthropic", 1000, 128, true, 5, 25, 0.5},
		{"claude-opus-4-7", "anthropic", 1000, 128, true, 5, 25, 0.5},
		{"claude-opus-4-6", "anthropic", 1000, 128, true, 5, 25, 0.5},
		{"claude-opus-4-5", "anthropic", 200, 64, true, 5, 25, 0.5},
		{"claude-opus-4", "anthropic", 200, 32, true, 15, 75, 1.5},
		{"claude-sonnet-4-6", "anthropic", 1000, 64, true, 3, 15, 0.3},
		{"claude-sonnet-4", "anthropic", 200, 64, true, 3, 15, 0.3},
		{"claude-haiku-4-5", "anthropic", 200, 64, true, 1, 5, 0.1},
		{"claude-3-7", "anthropic", 200, 64, true, 3, 15, 0.3},
		{"claude-3", "anthropic", 200, 4, false, 0, 0, 0},
		{"claude-3-5", "anthropic", 200, 8, false, 0, 0, 0},

		{"gpt-", "openai", 128, 16, false, 0, 0, 0},
		{"gpt-4o", "openai", 128, 16, false, 2.5, 10, 1.25},
		{"gpt-4o-mini", "openai", 128, 16, false, 0.15, 0.6, 0.075},
		{"gpt-4.1", "openai", 1047, 32, false, 2, 8, 0.5},
		{"gpt-4.1-mini", "openai", 1047, 32, false, 0.4, 1.6, 0.1},
		{"gpt-4.1-nano", "openai", 1047, 32, false, 0.1, 0.4, 0.025},
		{"gpt-5", "openai", 400, 128, true, 1.25, 10, 0.125},
		{"gpt-5-mini", "openai", 400, 128, true, 0.25, 2, 0.025},
		{"gpt-5-nano", "openai", 400, 128, true, 0.05, 0.4, 0.005},
		{"gpt-5.2", "openai", 400, 128, true, 1.75, 14, 0.175},
		{"gpt-5.3", "openai", 400, 128, true, 1.75, 14, 0.175},
		{"gpt-5.4", "openai", 1050, 128, true, 2.5, 15, 0.25},
		{"gpt-5.4-mini", "openai", 400, 128, true, 0.75, 4.5, 0.075},
		{"gpt-5.4-nano", "openai", 400, 128, true, 0.2, 1.25, 0.02},
		{"gpt-5.5", "openai", 1050, 128, true, 5, 30, 0.5},
		{"gpt-5.6-sol", "openai", 1050, 128, true, 5, 30, 0.5},
		{"gpt-5.6-terra", "openai", 1050, 128, true, 2.5, 15, 0.25},
		{"gpt-5.6-luna", "openai", 1050, 128, true, 1, 6, 0.1},
		{"gpt-oss", "", 131, 32, true, 0, 0, 0},
		{"chatgpt-", "openai", 128, 16, false, 0, 0, 0},
		{"o1", "openai", 200, 100, true, 15, 60, 7.5},
		{"o3", "openai", 200, 100, true, 2, 8, 0.5},
		{"o3-mini", "openai", 200, 100, true, 1.1, 4.4, 0.55},
		{"o4-mini", "openai", 200, 100, true, 1.1, 4.4, 0.275},

		{"gemini-", "gemini", 1048, 64, true, 0, 0, 0},
		{"gemini-2.5-pro", "gemini", 1048, 65, true, 1.25, 10, 0.125},
		{"gemini-2.5-flash", "gemini", 1048, 65, true, 0.3, 2.5, 0.03},
		{"gemini-3", "gemini", 1048, 64, true, 0, 0, 0},
		{"gemini-3-pro", "gemini", 1048, 64, true, 2, 12, 0.2},
		{"gemini-3.7-flash", "gemini", 1048, 65, true, 0.75, 3.75, 0.075},
		{"gemma", "", 131, 8, false, 0, 0, 0},

		{"grok-", "xai", 200, 20, false, 0, 0, 0},
		{"grok-4.5", "xai", 500, 50, true, 2, 6, 0.3},
		{"grok-code", "xai", 256, 10, true, 0, 0, 0},

		{"deepseek", "", 128, 8, false, 0, 0, 0},
		{"deepseek-chat", "deepseek", 128, 8, false, 0, 0, 0},
		{"deepseek-reasoner", "deepseek", 128, 64, false, 0, 0, 0},
		{"deepseek-v4-flash", "deepseek", 1000, 384, true, 0.14, 0.28, 0.0028},
		{"deepseek-v4-pro", "deepseek", 1000, 384, true, 0.435, 0.87, 0.0036},

		{"mistral", "", 128, 16, false, 0, 0, 0},
		{"mistral-small", "mistral", 128, 16, false, 0, 0, 0},
		{"mistral-medium", "mistral", 131, 16, false, 0.4, 2, 0},
		{"mistral-medium-3-5", "mistral", 262, 26, false, 1.5, 7.5, 0},
		{"mistral-large", "mistral", 128, 16, false, 0, 0, 0},
		{"devstral", "mistral", 128, 16, false, 0, 0, 0},
		{"codestral", "mistral", 256, 25, false, 0.3, 0.9, 0.03},
		{"magistral", "mistral", 128, 40, false, 0, 0, 0},

		{"llama", "", 131, 16, false, 0, 0, 0},
		{"llama3:", "", 8, 4, false, 0, 0, 0},
		{"llama-3-", "", 8, 4, false, 0, 0, 0},
		{"qwen2.5", "", 32, 8, false, 0, 0, 0},
		{"qwen3", "", 131, 32, false, 0, 0, 0},
		{"qwen3-coder", "", 262, 32, false, 0, 0, 0},
		{"qwen3.5", "", 262, 32, false, 0, 0, 0},
		{"qwen3.6", "", 262, 32, false, 0, 0, 0},
		{"qwen3.7", "", 1000, 64, false, 0, 0, 0},
		{"qwen3.8", "", 1000, 64, false, 0, 0, 0},
		{"glm-4", "", 128, 48, false, 0, 0, 0},
		{"glm-4.6", "", 204, 65, false, 0.6, 2.2, 0.11},
		{"glm-4.7", "", 204, 65, false, 0.6, 2.2, 0.11},
		{"glm-5", "", 204, 65, false, 1, 3.2, 0.2},
		{"glm-5.2", "", 1000, 65, false, 1.4, 4.4, 0.26},
		{"glm-5.3", "", 1000, 65, false, 1.4, 4.4, 0.26},
		{"kimi-k2", "", 262, 32, false, 0.6, 2.5, 0},
		{"kimi-k3", "", 1048, 131, false, 3, 15, 0.3},
		{"minimax-m2", "", 204, 65, false, 0.3, 1.2, 0.03},
	}
}
