package archtest

import (
	"bytes"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// budget is how many lines of Go, without tests, the program is meant to have at the most.
const budget = 15_000

// ceilings are rough bounds by area, kept together with the areas that share one.
var ceilings = []struct {
	areas []string
	lines int
}{
	{[]string{"event", "msg", "diff"}, 400},
	{[]string{"secret", "shellread", "denial", "policy"}, 2_400},
	{[]string{"gate", "home", "ignore"}, 1_400},
	{[]string{"config", "model"}, 600},
	{[]string{"session"}, 800},
	{[]string{"tool", "tools"}, 1_700},
	{[]string{"provider"}, 1_500},
	{[]string{"agent"}, 1_300},
	{[]string{"mcp"}, 1_000},
	{[]string{"skill"}, 300},
	{[]string{"front/repl"}, 1_600},
	{[]string{"front/print", "front/jsonl"}, 500},
	{[]string{"front/acp"}, 400},
	{[]string{"cli"}, 1_100},
}

// TestBudget prints the lines by area, and which are over. It fails only on a tree that it can't count: whether a feature is
// worth its lines is for people to judge.
func TestBudget(t *testing.T) {
	lines := map[string]int{}
	total := 0
	for _, f := range sources(t) {
		n := bytes.Count(f.data, []byte("\n"))
		total += n
		lines[f.area] += n
	}
	for _, c := range ceilings {
		n := 0
		for _, area := range c.areas {
			for a, k := range lines {
				if a == area || strings.HasPrefix(a, area+"/") {
					n += k
				}
			}
		}
		over := ""
		if n > c.lines {
			over = "  over its rough ceiling"
		}
		t.Logf("%-36s %6d of %6d%s", strings.Join(c.areas, ", "), n, c.lines, over)
	}
	over := ""
	if total > budget {
		over = "  over the budget"
	}
	t.Logf("%-36s %6d of %6d%s", "in all", total, budget, over)
	if total == 0 {
		t.Error("no Go files were found")
	}
}

// TestHouseMeasures prints the sizes of functions and files. Only the hard bounds fail: no function over 100 lines unless it is one flat switch or table, no file over 700.
func TestHouseMeasures(t *testing.T) {
	var funcs, files []int
	for _, p := range load(t, module, "./...") {
		for _, file := range p.files {
			n := p.fset.Position(file.End()).Line
			files = append(files, n)
			if n > 700 {
				t.Errorf("%s has %d lines", p.fset.Position(file.Pos()).Filename, n)
			}
			for _, decl := range file.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				n := p.fset.Position(fn.End()).Line - p.fset.Position(fn.Pos()).Line + 1
				funcs = append(funcs, n)
				if n > 100 && !flat(fn) {
					t.Errorf("%s: %s has %d lines", p.fset.Position(fn.Pos()), fn.Name.Name, n)
				}
			}
		}
	}
	slices.Sort(funcs)
	slices.Sort(files)
	t.Logf("functions: %d, median %d lines, 95 %% under %d, longest %d", len(funcs), at(funcs, 50), at(funcs, 95), at(funcs, 100))
	t.Logf("files: %d, median %d lines, 95 %% under %d, longest %d", len(files), at(files, 50), at(files, 95), at(files, 100))
}

// flat says whether a function is little more than one switch or one literal.
func flat(fn *ast.FuncDecl) bool {
	return len(fn.Body.List) <= 3 && slices.ContainsFunc(fn.Body.List, func(s ast.Stmt) bool {
		switch s.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.ReturnStmt:
			return true
		}
		return false
	})
}

func at(sorted []int, percent int) int {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*percent/100]
}

type source struct {
	area string // "gate", "provider/openai", "" for the root
	data []byte
}

// sources reads the Go files of the program without tests and test data.
func sources(t *testing.T) []source {
	t.Helper()
	root := moduleDir(t)
	var out []source
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || strings.HasSuffix(d.Name(), "test")):
			return filepath.SkipDir // test data, and packages that only tests use
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		out = append(out, source{strings.TrimPrefix(filepath.ToSlash(rel), "internal/"), data})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
