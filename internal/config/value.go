package config

import (
	"net/url"
	"strings"
	"time"
)

// checked is a value with a form of its own. It is asked while a file is read, so that a fault has its line and column.
type checked interface {
	// check says what the value takes, and whether this one is that.
	check() (takes string, ok bool)
}

// Duration is a length of time as it is written: "90s".
type Duration string

// Time returns it as a duration.
func (d Duration) Time() time.Duration {
	t, _ := time.ParseDuration(string(d))
	return t
}

func (d Duration) check() (string, bool) { return `a duration such as "90s" or "20m"`, d.Time() > 0 }

// URL is the address of a server.
type URL string

func (u URL) check() (string, bool) {
	p, err := url.Parse(strings.TrimSpace(string(u)))
	ok := err == nil && (p.Scheme == "http" || p.Scheme == "https") && p.Host != "" && p.User == nil
	return `an address such as "https://llm.example.com/v1"`, ok
}

// Wire names the protocol that a server speaks.
type Wire string

func (w Wire) check() (string, bool) {
	return `"anthropic" or "openai"`, w == Anthropic || w == OpenAI
}

// Effort is how much a model may think.
type Effort string

func (e Effort) check() (string, bool) {
	return "off, low, medium or high", e == "" || e == "off" || e == "low" || e == "medium" || e == "high"
}

// Count is a number of tokens.
type Count int

func (c Count) check() (string, bool) { return "a whole number of tokens above 0", c > 0 }

// Share is a part of the context window.
type Share float64

func (s Share) check() (string, bool) { return "a number from 0.1 to 1", s >= 0.1 && s <= 1 }
