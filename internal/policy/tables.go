package policy

import (
	_ "embed"
	"path"
	"strings"
	"sync"

	"anchor/internal/shellread"
)

//go:embed tables.txt
var tablesText string

// tables is tables.txt: by "table:word" what is known of a word.
var tables = sync.OnceValue(func() map[string]string { return shellread.Table(tablesText) })

func listed(table, word string) bool { _, ok := tables()[table+":"+word]; return ok }

// sensitive says what a path is whose writing is asked about each time; empty for an ordinary one. Case does not count,
// since on some disks .GIT and .git are one.
func (r Rules) sensitive(p Path) string {
	for _, name := range []string{p.Abs, p.Lexical} {
		name = strings.TrimPrefix(name, r.Dir+"/") // the directory itself may lie in such a place
		parts := strings.Split(strings.ToLower(path.Clean(name)), "/")
		for i, part := range parts {
			if i < len(parts)-1 && strings.HasSuffix(part, ".git") { // a bare repository
				part = ".git"
			}
			if what := tables()["sensitive:"+part+"/"]; what != "" {
				return what
			}
		}
		if what := tables()["sensitive:"+parts[len(parts)-1]]; what != "" {
			return what
		}
	}
	return ""
}
