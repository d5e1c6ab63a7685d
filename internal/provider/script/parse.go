package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
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
	ok, takes := text != "", "a text"
	switch word {
	case "text", "think":
		kind := map[string]string{"text": provider.Text, "think": provider.Thinking}[word]
		do = func(p *play) error {
			part, sep := p.d.Part(kind), ""
			if len(part.Text) > 0 {
				sep = "\n"
			}
			p.d.Add(part, sep+text)
			return nil
		}
	case "call":
		takes = "the name of a tool and its arguments"
		end := strings.IndexAny(arg+" ", " \n")
		do = func(p *play) error {
			p.d.Add(p.d.Begin(&provider.Part{Type: provider.Call, ID: p.id(), Name: arg[:end]}), arg[end:])
			return nil
		}
	case "expect", "reject", "expect-any":
		do = func(p *play) error { return p.expect(word, text) }
	case "delay":
		d, err := time.ParseDuration(arg)
		ok, takes = err == nil, "a duration such as 200ms"
		do = func(p *play) error {
			select {
			case <-time.After(d):
			case <-p.ctx.Done():
			}
			return p.ctx.Err()
		}
	case "usage":
		u := provider.Usage{Known: true}
		n, _ := fmt.Sscan(arg, &u.Input, &u.Output, &u.Cached)
		ok, takes = n > 1 && n == len(strings.Fields(arg)), "IN OUT [CACHED], all numbers"
		do = func(p *play) error { p.d.Usage = u; return nil }
	case "stop":
		ok, takes = slices.Contains(strings.Split(stops, ", "), arg), "one of "+stops
		do = func(p *play) error { p.d.Stop = arg; return nil }
	case "error":
		e, fault := failure(arg)
		return func(p *play) error { e := e; e.URL = p.name; return &e }, fault
	default:
		return nil, fmt.Sprintf("no such word: %q; there are reply, agent, expect, reject, expect-any, text, think, call, delay, usage, stop and error", word)
	}
	if !ok {
		fault = word + " takes " + takes
	}
	return do, fault
}

// failure reads an error: its kind, its options and its message.
func failure(text string) (e provider.Error, fault string) {
	kinds := strings.Fields("auth no_model quota rate overloaded server context_length bad_request network tls proxy broken config")
	kind, rest, _ := strings.Cut(text, " ")
	if e.Kind = provider.Kind(kind); !slices.Contains(kinds, kind) {
		return e, fmt.Sprintf("error takes one of the kinds %q", kinds)
	}
	for _, word := range strings.Fields(rest) {
		var err error
		if key, value, _ := strings.Cut(word, "="); key == "after" {
			e.After, err = time.ParseDuration(value)
		} else if key == "status" {
			e.Status, err = strconv.Atoi(value)
		} else {
			break
		}
		if err != nil {
			return e, word + " is not understood"
		}
		rest = strings.TrimPrefix(strings.TrimLeft(rest, " "), word)
	}
	e.Message = cmp.Or(unquote(strings.TrimSpace(rest)), "a scripted error")
	return e, ""
}

// unquote reads a JSON string; other text stays as it is.
func unquote(s string) string {
	var out string
	if strings.HasPrefix(s, `"`) && json.Unmarshal([]byte(s), &out) == nil {
		return out
	}
	return s
}
