package config

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// checked is a value with a form of its own. It is asked while a file is read, so that a fault has its line and column.
type checked interface {
	// check says what the value takes, and whether this one is that.
	check() (takes string, ok bool)
}

type (
	Name     string  // a model
	Duration string  // a length of time as it is written: "90s"
	URL      string  // the address of a server
	Variable string  // the name of a variable of the environment
	Wire     string  // the protocol that a server speaks
	Effort   string  // how much a model may think
	Count    int     // a number of tokens
	Share    float64 // a part of the context window
)

// The wires that a provider can speak.
const (
	Anthropic Wire = "anthropic"
	OpenAI    Wire = "openai"
)

// Time returns it as a duration, 0 if it is none.
func (d Duration) Time() time.Duration {
	t, _ := time.ParseDuration(string(d))
	return t
}

func (n Name) check() (string, bool) {
	return `a model such as "claude-sonnet-5" or "ollama/qwen3-coder"`, strings.TrimSpace(string(n)) != ""
}

func (d Duration) check() (string, bool) { return `a duration such as "90s" or "20m"`, d.Time() > 0 }

func (u URL) check() (string, bool) {
	p, err := url.Parse(string(u))
	ok := err == nil && (p.Scheme == "http" || p.Scheme == "https") && p.Host != "" && p.User == nil
	return `an address such as "https://llm.example.com/v1"`, ok
}

func (v Variable) check() (string, bool) {
	return "the name of a variable, such as WORK_KEY (never the key itself)", !strings.ContainsFunc(string(v), func(r rune) bool {
		return r != '_' && !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	})
}

func (w Wire) check() (string, bool) {
	return `"anthropic" or "openai"`, w == Anthropic || w == OpenAI
}

// Known says whether it is one of the levels.
func (e Effort) Known() bool {
	return slices.Contains(strings.Fields("off low medium high"), string(e))
}

func (e Effort) check() (string, bool) { return "off, low, medium or high", e.Known() }

func (c Count) check() (string, bool) { return "a whole number of tokens above 0", c > 0 }

func (s Share) check() (string, bool) { return "a number from 0.1 to 1", s >= 0.1 && s <= 1 }
