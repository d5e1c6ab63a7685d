package ignore

import "strings"

// ExcludesFile returns the value of core.excludesFile in a git configuration file (git-config(1)), ~ not expanded; empty if
// it is not set there. Included files are not followed.
func ExcludesFile(config []byte) string {
	section, found := "", ""
	for line := range strings.SplitSeq(string(config), "\n") {
		line = strings.TrimSpace(line)
		if head, rest, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(head, "[") {
			section, line = strings.TrimSpace(head[1:]), strings.TrimSpace(rest)
		}
		key, value, _ := strings.Cut(line, "=")
		if strings.EqualFold(section, "core") && strings.EqualFold(strings.TrimSpace(key), "excludesFile") {
			found = unquote(strings.TrimSpace(value))
		}
	}
	return found
}

// unquote takes quotes, backslashes and the comment off a value.
func unquote(s string) string {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s):
			i++
			out.WriteByte(s[i])
		case !quoted && (c == '#' || c == ';'):
			return strings.TrimSpace(out.String())
		default:
			out.WriteByte(c)
		}
	}
	return strings.TrimSpace(out.String())
}
