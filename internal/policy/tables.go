package policy

import (
	_ "embed"
	"path"
	"strings"
	"sync"
)

//go:embed tables.txt
var tablesText string

// tables holds for each table its words, and for each sensitive name what it is.
var tables = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{"sensitive": {}}
	for line := range strings.Lines(tablesText) {
		head, list, ok := strings.Cut(line, ": ")
		if !ok || line[0] == '#' {
			continue
		}
		table := head
		if strings.Contains(head, " ") {
			table = "sensitive"
		} else if all[table] == nil {
			all[table] = map[string]string{}
		}
		for w := range strings.FieldsSeq(list) {
			all[table][w] = head
		}
	}
	return all
})

func listed(table, word string) bool { return tables()[table][word] != "" }

// sensitive says what a path is whose writing is asked about each time; empty for an ordinary one. Case does not count,
// since on some disks .GIT and .git are one.
func (r Rules) sensitive(p Path) string {
	known := tables()["sensitive"]
	for _, name := range []string{p.Abs, p.Lexical} {
		name = strings.TrimPrefix(name, r.Dir+"/") // the directory itself may lie in such a place
		parts := strings.Split(strings.ToLower(path.Clean(name)), "/")
		for i, part := range parts {
			if what := known[part+"/"]; what != "" {
				return what
			}
			if i < len(parts)-1 && strings.HasSuffix(part, ".git") { // a bare repository
				return known[".git/"]
			}
		}
		if what := known[parts[len(parts)-1]]; what != "" {
			return what
		}
	}
	return ""
}
