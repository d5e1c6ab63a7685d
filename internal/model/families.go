package model

import (
	"fmt"
	"strings"
	"sync"
)

// table is what models with a common prefix share, as the vendors' pages had it in November 2026, by the built-in provider of the
// bare name; open models have none, -. An entry is the prefix, the window and the output limit, both in thousands of tokens, rounded
// down where the vendor counts in powers of two, and the prices of input, output and cached input in dollars per million tokens.
// Where prices differ by vendor, the maker's own counts; where none stands, it is not known well enough.
const table = `anthropic = claude- 200 32; claude-fable 1000 128 10 50 1; claude-mythos 1000 128 10 50 1; claude-opus-5 1000 128 5 25 0.5;
	claude-opus-5-5 1000 128 4 20 0.4; claude-sonnet-5 1000 128 2 10 0.2; claude-haiku-5 1000 128;
	claude-opus-4-8 1000 128 5 25 0.5; claude-opus-4-7 1000 128 5 25 0.5; claude-opus-4-6 1000 128 5 25 0.5;
	claude-opus-4-5 200 64 5 25 0.5; claude-opus-4 200 32 15 75 1.5; claude-sonnet-4-6 1000 64 3 15 0.3;
	claude-sonnet-4 200 64 3 15 0.3; claude-haiku-4-5 200 64 1 5 0.1; claude-3-7 200 64 3 15 0.3; claude-3 200 4; claude-3-5 200 8
openai = gpt- 128 16; gpt-4o 128 16 2.5 10 1.25; gpt-4o-mini 128 16 0.15 0.6 0.075; gpt-4.1 1047 32 2 8 0.5;
	gpt-4.1-mini 1047 32 0.4 1.6 0.1; gpt-4.1-nano 1047 32 0.1 0.4 0.025; gpt-5 400 128 1.25 10 0.125;
	gpt-5-mini 400 128 0.25 2 0.025; gpt-5-nano 400 128 0.05 0.4 0.005; gpt-5.2 400 128 1.75 14 0.175;
	gpt-5.3 400 128 1.75 14 0.175; gpt-5.4 1050 128 2.5 15 0.25; gpt-5.4-mini 400 128 0.75 4.5 0.075;
	gpt-5.4-nano 400 128 0.2 1.25 0.02; gpt-5.5 1050 128 5 30 0.5; gpt-5.6-sol 1050 128 5 30 0.5;
	gpt-5.6-terra 1050 128 2.5 15 0.25; gpt-5.6-luna 1050 128 1 6 0.1; chatgpt- 128 16; o1 200 100 15 60 7.5; o3 200 100 2 8 0.5;
	o3-mini 200 100 1.1 4.4 0.55; o4-mini 200 100 1.1 4.4 0.275
gemini = gemini- 1048 64; gemini-2.5-pro 1048 65 1.25 10 0.125; gemini-2.5-flash 1048 65 0.3 2.5 0.03; gemini-3 1048 64;
	gemini-3-pro 1048 64 2 12 0.2; gemini-3.7-flash 1048 65 0.75 3.75 0.075
xai = grok- 200 20; grok-4.5 500 50 2 6 0.3; grok-code 256 10
deepseek = deepseek-chat 128 8; deepseek-reasoner 128 64; deepseek-v4-flash 1000 384 0.14 0.28 0.0028;
	deepseek-v4-pro 1000 384 0.435 0.87 0.0036
mistral = mistral-small 128 16; mistral-medium 131 16 0.4 2 0; mistral-medium-3-5 262 26 1.5 7.5 0; mistral-large 128 16;
	devstral 128 16; codestral 256 25 0.3 0.9 0.03; magistral 128 40
- = gpt-oss 131 32; gemma 131 8; deepseek 128 8; mistral 128 16; llama 131 16; llama3: 8 4; llama-3- 8 4; qwen2.5 32 8;
	qwen3 131 32; qwen3-coder 262 32; qwen3.5 262 32; qwen3.6 262 32; qwen3.7 1000 64; qwen3.8 1000 64; glm-4 128 48;
	glm-4.6 204 65 0.6 2.2 0.11; glm-4.7 204 65 0.6 2.2 0.11; glm-5 204 65 1 3.2 0.2; glm-5.2 1000 65 1.4 4.4 0.26;
	glm-5.3 1000 65 1.4 4.4 0.26; kimi-k2 262 32 0.6 2.5 0; kimi-k3 1048 131 3 15 0.3; minimax-m2 204 65 0.3 1.2 0.03`

// family is an entry of the table.
type family struct {
	prefix, provider string
	info             Info
}

// families is the table, parsed once.
var families = sync.OnceValue(func() (out []family) {
	provider := ""
	for _, entry := range strings.FieldsFunc(table, func(r rune) bool { return r == ';' || r == '\n' }) {
		if name, rest, ok := strings.Cut(entry, " = "); ok {
			provider, entry = name, rest
		}
		f := family{provider: strings.Trim(provider, "-"), info: Info{Known: true, Source: "table"}}
		i := &f.info
		// An entry without prices ends early.
		_, _ = fmt.Sscan(entry, &f.prefix, &i.Window, &i.MaxOutput, &i.InPrice, &i.OutPrice, &i.CachedIn)
		i.Window, i.MaxOutput = i.Window*1000, i.MaxOutput*1000
		out = append(out, f)
	}
	return out
})
