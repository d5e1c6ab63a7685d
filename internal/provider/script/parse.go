package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"anchor/internal/provider"
)

// Parse reads a script. name is what messages call it. An error names the line and what is wrong with it.
func Parse(name string, data []byte) (*Script, error) {
	s := &Script{name: name, lists: []*list{{}}}
	var r *reply
	steps, err := split(name, string(data))
	if err != nil {
		return nil, err
	}
	for _, st := range steps {
		fault := s.add(&r, st)
		if fault != "" {
			return nil, fmt.Errorf("%s:%d: %s", name, st.line, fault)
		}
	}
	return s, nil
}

// split makes one step of each line and of those that go on with it.
func split(name, text string) ([]step, error) {
	var out []step
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		switch rest, more := strings.CutPrefix(line, "|"); {
		case more && len(out) == 0:
			return nil, fmt.Errorf("%s:%d: there is no line before that this could go on with", name, i+1)
		case more:
			last := &out[len(out)-1]
			if last.text != "" {
				last.text += "\n"
			}
			last.text += strings.TrimPrefix(rest, " ")
		case strings.TrimSpace(line) == "" || line[0] == '#':
		default:
			word, rest, _ := strings.Cut(line, " ")
			out = append(out, step{i + 1, word, rest})
		}
	}
	return out, nil
}

// add takes one step into the script. It returns what is wrong with it, "" if nothing.
func (s *Script) add(r **reply, st step) string {
	current := s.lists[len(s.lists)-1]
	switch st.word {
	case "agent":
		if st.text == "" {
			return "agent needs a text that the first message of the agent holds"
		}
		s.lists = append(s.lists, &list{key: unquote(st.text)})
		*r = nil
		return ""
	case "reply":
		times, fault := repeat(st.text)
		*r = &reply{line: st.line, times: times}
		current.replies = append(current.replies, *r)
		return fault
	}
	if *r == nil {
		return fmt.Sprintf("%q stands before the first reply", st.word)
	}
	return (*r).add(st)
}

func repeat(text string) (times int, fault string) {
	switch text {
	case "":
		return 1, ""
	case "*":
		return -1, ""
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, "reply takes how often it is used: a number or *"
	}
	return n, ""
}

// add takes a step into the reply; it returns what is wrong with it.
func (r *reply) add(st step) string {
	switch st.word {
	case "text", "chunk", "think", "expect", "reject", "expect-any":
		st.text = unquote(st.text)
		if st.text == "" {
			return st.word + " needs a text"
		}
	case "call":
		if st.text == "" {
			return "call needs the name of a tool"
		}
	case "delay":
		if _, err := time.ParseDuration(st.text); err != nil {
			return "delay takes a duration such as 200ms"
		}
	case "usage":
		return r.setUsage(strings.Fields(st.text))
	case "stop":
		if _, ok := stops()[st.text]; !ok {
			return "stop takes end, tools, length, pause, refusal or window"
		}
		r.stop = st.text
		return ""
	case "error":
		if _, fault := failure(st.text); fault != "" {
			return fault
		}
	case "cut":
	default:
		return fmt.Sprintf("no such word: %q; there are reply, agent, expect, reject, expect-any, text, chunk, think, call, delay, usage, stop, error and cut", st.word)
	}
	r.steps = append(r.steps, st)
	return ""
}

func (r *reply) setUsage(fields []string) string {
	numbers := make([]int, 3)
	for i, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || i > 2 {
			return "usage takes IN OUT [CACHED], all numbers"
		}
		numbers[i] = n
	}
	r.usage = provider.Usage{Input: numbers[0], Output: numbers[1], Cached: numbers[2], Known: true}
	return ""
}

// failure reads an error: its kind, its options and its message.
func failure(text string) (*provider.Error, string) {
	kind, rest, _ := strings.Cut(text, " ")
	kinds := []provider.Kind{
		provider.Auth, provider.NoModel, provider.Quota, provider.Rate, provider.Overloaded, provider.Server, provider.TooLong,
		provider.BadRequest, provider.Network, provider.TLS, provider.Proxy, provider.Broken, provider.Config,
	}
	if !slices.Contains(kinds, provider.Kind(kind)) {
		return nil, fmt.Sprintf("error takes one of the kinds %q", kinds)
	}
	e := &provider.Error{Kind: provider.Kind(kind)}
	for {
		word, after, _ := strings.Cut(rest, " ")
		key, value, ok := strings.Cut(word, "=")
		var err error
		switch {
		case ok && key == "after":
			e.After, err = time.ParseDuration(value)
		case ok && key == "status":
			e.Status, err = strconv.Atoi(value)
		case ok && key == "limit":
			e.Limit, err = strconv.Atoi(value)
		default:
			e.Message = unquote(rest)
			if e.Message == "" {
				e.Message = "a scripted error"
			}
			return e, ""
		}
		if err != nil {
			return nil, fmt.Sprintf("%s=%s is not understood", key, value)
		}
		rest = after
	}
}
