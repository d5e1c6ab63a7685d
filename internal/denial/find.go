package denial

import (
	"path"
	"strings"

	"anchor/internal/shellread"
)

func isFind(name string) bool { return shellread.Listed("find gfind bfs fd", name) }

// find judges what find runs and deletes, and returns the names that it puts out. Below a root it deletes everything only
// if no test stands before that narrows it.
func (s *scan) find(args []string) flow {
	var roots, names []string
	deletes, reads, narrow, inTests := false, false, false, false
	for i := 0; i < len(args); i++ {
		a := args[i]
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch {
		case shellread.Listed("-exec -execdir -ok -okdir -x -X --exec --exec-batch", a):
			end := i + 1
			for end < len(args) && args[end] != ";" && args[end] != "+" {
				end++
			}
			program := path.Base(next)
			deletes = deletes || shellread.Listed("rm shred unlink srm rmdir", program)
			reads = reads || !showsNames(program)
			s.call(args[i+1:end], flow{})
			i, inTests = end, true
		case a == "-delete":
			deletes, inTests = true, true
		case shellread.Listed("-type -maxdepth -mindepth", a):
			i, inTests = i+1, true
		case shellread.Listed("-print -print0 -depth -xdev -mount -ls", a):
			inTests = true
		case shellread.Listed("-H -L -P", a), strings.Trim(a, "()!,") == "":
		case shellread.Listed("-name -iname -path -ipath -wholename", a):
			if i == 0 || !shellread.Listed("! -not", args[i-1]) {
				names = append(names, next)
			}
			narrow = narrow || !deletes && strings.Trim(next, "*./") != ""
			i, inTests = i+1, true
		case strings.HasPrefix(a, "-"):
			narrow, inTests = narrow || !deletes, true
		case !inTests:
			roots = append(roots, a)
		}
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	if reads {
		for _, n := range append(names, roots...) {
			s.named(n)
		}
	}
	if deletes && !narrow {
		s.destroy(append([]string{"find"}, args...), roots, false)
	}
	switch {
	case len(names) > 0:
		return flow{text: strings.Join(names, " ")}
	case narrow:
		return flow{}
	}
	return flow{text: strings.Join(roots, "/* ") + "/*"}
}
