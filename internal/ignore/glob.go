package ignore

import "strings"

// token is one element of a compiled pattern.
type token struct {
	kind tokenKind
	char byte
	set  *[256]bool
}

type tokenKind uint8

const (
	char tokenKind = iota // this byte
	any1                  // ?: one byte, no slash
	set                   // [...]: one byte of the set, no slash
	star                  // *: any bytes but slashes
	deep                  // ** at the end: anything
	dirs                  // **/: nothing, or anything up to and with a slash
)

// compile turns a pattern into tokens. It is false for one that can never match: a set without end, an unknown class, a
// backslash at the end.
func compile(s string) (out []token, ok bool) {
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '*':
			t, next := stars(s, i)
			out, i = append(out, t), next
		case '?':
			out, i = append(out, token{kind: any1}), i+1
		case '[':
			bits, next, ok := parseSet(s, i+1)
			if !ok {
				return nil, false
			}
			out, i = append(out, token{kind: set, set: bits}), next
		case '\\':
			if i+1 == len(s) {
				return nil, false
			}
			out, i = append(out, token{char: s[i+1]}), i+2
		default:
			out, i = append(out, token{char: c}), i+1
		}
	}
	return out, true
}

// stars reads a run of stars. Two or more between slashes (or the ends) cross directories; else they are as one.
func stars(s string, i int) (token, int) {
	end := i
	for end < len(s) && s[end] == '*' {
		end++
	}
	rest := s[end:]
	switch {
	case end-i < 2 || i > 0 && s[i-1] != '/':
		return token{kind: star}, end
	case rest == "" || strings.HasPrefix(rest, `\/`):
		return token{kind: deep}, end
	case rest[0] == '/':
		return token{kind: dirs}, end + 1
	}
	return token{kind: star}, end
}

// parseSet reads a bracket expression whose first byte, after the bracket, is at i.
func parseSet(s string, i int) (bits *[256]bool, next int, ok bool) {
	bits = new([256]bool)
	negated := i < len(s) && (s[i] == '!' || s[i] == '^')
	if negated {
		i++
	}
	last := -1 // the byte a range may start from
	for first := true; first || i < len(s) && s[i] != ']'; first = false {
		if i >= len(s) {
			return nil, 0, false
		}
		if name, end := className(s, i); name != "" {
			in, known := classes(name)
			if !known {
				return nil, 0, false
			}
			for c := range bits {
				bits[c] = bits[c] || in(byte(c))
			}
			i, last = end, -1
			continue
		}
		from := last
		isRange := s[i] == '-' && last >= 0 && i+1 < len(s) && s[i+1] != ']'
		if isRange {
			i++
		}
		if s[i] == '\\' {
			i++
		}
		if i >= len(s) {
			return nil, 0, false
		}
		last = int(s[i])
		if !isRange {
			from = last
		}
		for c := from; c <= last; c++ {
			bits[c] = true
		}
		if isRange {
			last = -1
		}
		i++
	}
	for c := range bits {
		bits[c] = bits[c] != negated && c != '/'
	}
	return bits, i + 1, i < len(s)
}

// className reads [:NAME:] at i; name is empty if there is none.
func className(s string, i int) (name string, end int) {
	if !strings.HasPrefix(s[i:], "[:") {
		return "", 0
	}
	n := strings.IndexByte(s[i+2:], ']')
	if n < 1 || s[i+2+n-1] != ':' {
		return "", 0
	}
	return s[i+1 : i+2+n], i + 3 + n
}

// classes are the POSIX classes in the C locale, by their name with its colons.
func classes(name string) (in func(c byte) bool, known bool) {
	between := func(c, lo, hi byte) bool { return lo <= c && c <= hi }
	digit := func(c byte) bool { return between(c, '0', '9') }
	lower := func(c byte) bool { return between(c, 'a', 'z') }
	upper := func(c byte) bool { return between(c, 'A', 'Z') }
	alnum := func(c byte) bool { return digit(c) || lower(c) || upper(c) }
	in, known = map[string]func(byte) bool{
		":alnum:": alnum, ":digit:": digit, ":lower:": lower, ":upper:": upper,
		":alpha:":  func(c byte) bool { return lower(c) || upper(c) },
		":blank:":  func(c byte) bool { return c == ' ' || c == '\t' },
		":cntrl:":  func(c byte) bool { return c < 0x20 || c == 0x7f },
		":graph:":  func(c byte) bool { return between(c, 0x21, 0x7e) },
		":print:":  func(c byte) bool { return between(c, 0x20, 0x7e) },
		":punct:":  func(c byte) bool { return between(c, 0x21, 0x7e) && !alnum(c) },
		":space:":  func(c byte) bool { return c == ' ' || between(c, '\t', '\r') },
		":xdigit:": func(c byte) bool { return digit(c) || between(c|0x20, 'a', 'f') },
	}[name]
	return in, known
}

// matchTokens matches all of s. On a mismatch the last star takes one byte more, or, where it may not, the last dirs or deep
// goes on; earlier ones need not be tried again, so the time is at most the product of the lengths.
func matchTokens(p []token, s string) bool {
	i, k := 0, 0
	starI, starK, dirsI, dirsK := -1, 0, -1, 0
	for {
		switch {
		case k == len(p):
			if i == len(s) {
				return true
			}
		case p[k].kind == star:
			starI, starK = i, k+1
			k++
			continue
		case p[k].kind == dirs || p[k].kind == deep:
			if k == len(p)-1 && p[k].kind == deep {
				return true
			}
			starI, dirsI, dirsK = -1, i, k+1
			k++
			continue
		case i < len(s) && p[k].takes(s[i]):
			i, k = i+1, k+1
			continue
		}
		switch {
		case starI >= 0 && starI < len(s) && s[starI] != '/':
			starI++
			i, k = starI, starK
		case dirsI >= 0:
			step := 1
			if p[dirsK-1].kind == dirs {
				if step = strings.IndexByte(s[dirsI:], '/') + 1; step == 0 {
					return false
				}
			}
			if dirsI += step; dirsI > len(s) {
				return false
			}
			i, k, starI = dirsI, dirsK, -1
		default:
			return false
		}
	}
}

func (t token) takes(c byte) bool {
	switch t.kind {
	case any1:
		return c != '/'
	case set:
		return t.set[c]
	}
	return t.char == c
}
