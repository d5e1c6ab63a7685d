package denial

import (
	"path"
	"strings"
)

func isFind(name string) bool { return listed("find gfind bfs fd", name) }

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
		case listed("-exec -execdir -ok -okdir -x -X --exec --exec-batch", a):
			end := i + 1
			for end < len(args) && args[end] != ";" && args[end] != "+" {
				end++
			}
			program := path.Base(next)
			deletes = deletes || listed("rm shred unlink srm rmdir", program)
			reads = reads || !showsNames(program)
			s.call(args[i+1:end], flow{})
			i, inTests = end, true
		case a == "-delete":
			deletes, inTests = true, true
		case listed("-type -maxdepth -mindepth", a):
			i, inTests = i+1, true
		case listed("-print -print0 -depth -xdev -mount -ls", a):
			inTests = true
		case listed("-H -L -P", a), strings.Trim(a, "()!,") == "":
		case listed("-name -iname -path -ipath -wholename", a):
			if i == 0 || !listed("! -not", args[i-1]) {
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
