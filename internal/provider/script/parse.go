package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"anchor/internal/provider"
)

// Parse reads a script. name is what messages call it. An error names the line and what is wrong with it.
func Parse(name string, data []byte) (*Script, error) {
	s := &Script{name: name}
	key, current := "", (*reply)(nil)
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line, fault := i+1, ""
		word, text, _ := strings.Cut(lines[i], " ")
		if strings.TrimSpace(lines[i]) == "" || word[0] == '#' {
			continue
		}
		parts := []string{text}
		for ; i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|"); i++ {
			parts = append(parts, strings.TrimPrefix(lines[i+1][1:], " "))
		}
		if text == "" && len(parts) > 1 {
			parts = parts[1:]
		}
		text = strings.Join(parts, "\n")
		switch {
		case word[0] == '|':
			fault = "there is no line before that this could go on with"
		case word == "agent":
			if key, current = unquote(text), nil; key == "" {
				fault = "agent needs a text that the first message of the agent holds"
			}
		case word == "reply":
			n, _ := strconv.Atoi(cmp.Or(text, "1"))
			if text == "*" {
				n = math.MaxInt
			}
			if current = (&reply{line: line, key: key, times: n}); n < 1 {
				fault = "reply takes how often it is used: a number or *"
			}
			s.replies = append(s.replies, current)
		case current == nil:
			fault = fmt.Sprintf("%q stands before the first reply", word)
		default:
			var do func(*play) error
			do, fault = compile(word, text)
			current.steps = append(current.steps, step{line, do})
		}
		if fault != "" {
			return nil, fmt.Errorf("%s:%d: %s", name, line, fault)
		}
	}
	return s, nil
}

// compile makes of a line what carries it out, or says what is wrong with it.
func compile(word, arg string) (do func(*play) error, fault string) {
	const stops = "end, tools, length, pause, refusal, window"
	text := unquote(arg)
	switch word {
	case "text", "chunk", "think", "expect", "reject", "expect-any", "call":
		if text == "" {
			return nil, word + " needs a text or the name of a tool"
		}
	}
	switch word {
	case "text", "chunk":
		return func(p *play) error {
			part, sep := p.d.Part(provider.Text), ""
			if word == "text" && len(part.Text) > 0 {
				sep = "\n"
			}
			p.d.Add(part, sep+text)
			return nil
		}, ""
	case "think":
		return func(p *play) error { p.d.Add(p.d.Part(provider.Thinking), text); return nil }, ""
	case "call":
		end := strings.IndexAny(arg+" ", " \n")
		return func(p *play) error {
			p.d.Add(p.d.Begin(&provider.Part{Type: provider.Call, ID: p.id(), Name: arg[:end]}), arg[end:])
			return nil
		}, ""
	case "expect", "reject", "expect-any":
		return func(p *play) error { return p.expect(word, text) }, ""
	case "delay":
		d, err := time.ParseDuration(arg)
		if err != nil {
			return nil, "delay takes a duration such as 200ms"
		}
		return func(p *play) error {
			select {
			case <-time.After(d):
			case <-p.ctx.Done():
			}
			return p.ctx.Err()
		}, ""
	case "usage":
		u := provider.Usage{Known: true}
		if ok, _ := regexp.MatchString(`^\d+ \d+( \d+)?$`, arg); !ok {
			return nil, "usage takes IN OUT [CACHED], all numbers"
		}
		_, _ = fmt.Sscan(arg, &u.Input, &u.Output, &u.Cached)
		return func(p *play) error { p.d.Usage = u; return nil }, ""
	case "stop":
		if !slices.Contains(strings.Split(stops, ", "), arg) {
			return nil, "stop takes one of " + stops
		}
		return func(p *play) error { p.d.Stop = arg; return nil }, ""
	case "cut":
		return compile("error", "broken the reply ended before its end")
	case "error":
		e, fault := failure(arg)
		return func(p *play) error { e := e; e.URL = p.name; return &e }, fault
	}
	return nil, fmt.Sprintf("no such word: %q; there are reply, agent, expect, reject, expect-any, text, chunk, think, call, delay, usage, stop, error and cut", word)
}

// failure reads an error: its kind, its options and its message.
func failure(text string) (e provider.Error, fault string) {
	kinds := strings.Fields("auth no_model quota rate overloaded server context_length bad_request network tls proxy broken config")
	kind, rest, _ := strings.Cut(text, " ")
	if e.Kind = provider.Kind(kind); !slices.Contains(kinds, kind) {
		return e, fmt.Sprintf("error takes one of the kinds %q", kinds)
	}
	for {
		word, more, _ := strings.Cut(rest, " ")
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch key {
		case "after":
			e.After, err = time.ParseDuration(value)
		case "status":
			e.Status, err = strconv.Atoi(value)
		default:
			e.Message = cmp.Or(unquote(rest), "a scripted error")
			return e, ""
		}
		if err != nil {
			return e, word + " is not understood"
		}
		rest = more
	}
}

// unquote reads a JSON string; other text stays as it is.
func unquote(s string) string {
	var out string
	if strings.HasPrefix(s, `"`) && json.Unmarshal([]byte(s), &out) == nil {
		return out
	}
	return s
}
