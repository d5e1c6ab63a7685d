package shellread

import "strings"

// sedReads accepts a sed script whose commands only print: { } = b d D F g G h H l n N p P q Q s t T x y z : and
// comments, with addresses. Not w, W, r, R, e, a, i, c, v, nor the flags w and e of s. Where GNU sed and others would find
// different ends of a regular expression, nothing dangerous may follow.
func sedReads(script string) bool {
	s := sedScript(script)
	for {
		s.skip(" \t\n;}")
		if s == "" {
			return true
		}
		if s.take("#") {
			if _, rest, ok := strings.Cut(string(s), "\n"); ok {
				s = sedScript(rest)
				continue
			}
			return true
		}
		if !s.addresses() || !s.command() {
			return false
		}
	}
}

// sedScript is what is left to read.
type sedScript string

func (s *sedScript) skip(chars string) { *s = sedScript(strings.TrimLeft(string(*s), chars)) }

func (s *sedScript) take(prefix string) bool {
	rest, ok := strings.CutPrefix(string(*s), prefix)
	*s = sedScript(rest)
	return ok
}

// addresses reads none, one or two addresses and a !.
func (s *sedScript) addresses() bool {
	if !s.address() {
		return false
	}
	s.skip(" \t")
	if s.take(",") {
		s.skip(" \t+~")
		before := *s
		if !s.address() || *s == before {
			return false
		}
	}
	s.skip(" \t!")
	return true
}

// address reads a number, first~step, $, /regexp/ or \cregexpc, or nothing.
func (s *sedScript) address() bool {
	switch {
	case s.take("$"):
	case s.take(`\`):
		return len(*s) > 1 && s.delimited(true) && s.flags("IM")
	case strings.HasPrefix(string(*s), "/"):
		return s.delimited(true) && s.flags("IM")
	default:
		s.skip("0123456789")
		if s.take("~") {
			s.skip("0123456789")
		}
	}
	return true
}

func (s *sedScript) flags(chars string) bool {
	s.skip(chars)
	return true
}

// command reads one command up to its end.
func (s *sedScript) command() bool {
	if *s == "" {
		return false
	}
	c := (*s)[0]
	*s = (*s)[1:]
	switch {
	case c == '{':
		return true
	case strings.IndexByte("=dDFgGhHnNpPxz", c) >= 0:
	case strings.IndexByte("qQl", c) >= 0:
		s.skip(" \t")
		s.skip("0123456789")
	case strings.IndexByte(":btT", c) >= 0:
		s.skip(" \t")
		s.skip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
	case c == 's' || c == 'y':
		delimiter := *s
		if !s.delimited(c == 's') {
			return false
		}
		*s = delimiter[:1] + *s
		if !s.delimited(false) {
			return false
		}
		if c == 's' {
			s.skip("gpiIM0123456789")
		}
	default:
		return false
	}
	s.skip(" \t")
	return *s == "" || strings.IndexByte("\n;}#", (*s)[0]) >= 0
}

// delimited reads text between two delimiters; the first character is the delimiter.
func (s *sedScript) delimited(regexp bool) bool {
	text := string(*s)
	if text == "" || strings.IndexByte("\n\\[", text[0]) >= 0 || text[0] >= 0x80 {
		return false
	}
	end := closing(text, regexp, func(rest string) bool { return strings.ContainsAny(rest, "wWeErR") })
	*s = sedScript(text[max(end, 0):])
	return end > 0
}

// closing returns where text goes on after the delimiter that closes what its first character opens, or -1. In a regular
// expression a delimiter inside a bracket ends it for some implementations and not for others: then what follows must not
// be dangerous, however it is read.
func closing(text string, regexp bool, dangerous func(rest string) bool) int {
	set := -1 // where the members of the open bracket begin
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == text[0] && set < 0:
			return i + 1
		case c == text[0]:
			if dangerous(text[i:]) {
				return -1
			}
		case c == '\\':
			if i++; set >= 0 && i < len(text) && text[i] == ']' {
				return -1
			}
		case !regexp:
		case c == '\n':
			return -1
		case set < 0 && c == '[':
			if set = i + 1; set < len(text) && text[set] == '^' {
				set++
			}
		case set >= 0 && c == '[' && i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0:
			end := strings.Index(text[i+2:], text[i+1:i+2]+"]")
			if end < 0 {
				return -1
			}
			i += end + 3
		case c == ']' && set >= 0 && i > set:
			set = -1
		}
	}
	return -1
}
