// Package archtest holds the rules that the compiler cannot check. Its checks run over the real tree, where they must find
// nothing, and over testdata/bad, where each planted violation carries a comment "want: TEXT" and must be found.
package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "anchor"

// fault is a broken rule.
type fault struct {
	pos  token.Position
	text string
}

func TestArchitecture(t *testing.T) {
	for _, f := range faults(t, module, load(t, module, "./...")) {
		t.Errorf("%s: %s", f.pos, f.text)
	}
}

// TestEveryPackageHasALayer keeps the text of the layers complete.
func TestEveryPackageHasALayer(t *testing.T) {
	known := allowed(t)
	for _, p := range load(t, module, "./...") {
		if name, ok := strings.CutPrefix(p.path, "internal/"); ok && known[name] == nil {
			t.Errorf("%s stands in no line of layers", p.path)
		}
	}
}

func TestPlantedViolationsAreFound(t *testing.T) {
	const root = module + "/internal/archtest/testdata/bad"
	pkgs := load(t, root, "./internal/archtest/testdata/bad/...")
	found := faults(t, root, pkgs)
	want := regexp.MustCompile(`// want: (.*)`)
	planted := 0
	for _, p := range pkgs {
		for _, file := range p.files {
			for _, group := range file.Comments {
				for _, c := range group.List {
					m := want.FindStringSubmatch(c.Text)
					if m == nil {
						continue
					}
					planted++
					pos := p.fset.Position(c.Pos())
					i := slices.IndexFunc(found, func(f fault) bool {
						return f.pos.Filename == pos.Filename && f.pos.Line == pos.Line && strings.Contains(f.text, m[1])
					})
					if i < 0 {
						t.Errorf("%s: not found: %s", pos, m[1])
						continue
					}
					found = slices.Delete(found, i, i+1)
				}
			}
		}
	}
	for _, f := range found {
		t.Errorf("%s: found but not planted: %s", f.pos, f.text)
	}
	if planted < 10 {
		t.Errorf("only %d violations are planted", planted)
	}
}

// faults runs every check over the packages below root.
func faults(t *testing.T, root string, pkgs []*pkg) []fault {
	may := allowed(t)
	var out []fault
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.path, "internal/")
		out = append(out, imports(p, name, root, may)...)
		out = append(out, uses(p, name)...)
		if name == "gate" {
			out = append(out, surface(p)...)
			out = append(out, effects(p)...)
		}
		out = append(out, state(p)...)
	}
	return out
}

// allowed reads the text of the layers.
func allowed(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(layers), "\n") {
		name, rest, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("layers: no colon in %q", line)
		}
		out[name] = append([]string{}, strings.Fields(rest)...)
	}
	return out
}

// imports checks one package against the layers, and tool and tools against their list.
func imports(p *pkg, name, root string, may map[string][]string) []fault {
	var out []fault
	for _, file := range p.files {
		for _, spec := range file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			pos := p.fset.Position(spec.Pos())
			if rest, ok := strings.CutPrefix(path, root+"/internal/"); ok {
				main := p.path == "" && rest != "cli"
				if p.path == "" && !main && rest == "cli" {
					continue
				}
				if p.path == "" && rest == "gate" {
					continue // main hands a confined start over to the gate before anything else
				}
				if list := may[name]; main || !slices.Contains(list, "all") && !slices.Contains(list, rest) {
					out = append(out, fault{pos, fmt.Sprintf("%s may not import %s", name, rest)})
				}
				continue
			}
			if (name == "tool" || name == "tools") && !slices.Contains(toolImports, path) {
				out = append(out, fault{pos, fmt.Sprintf("%s may not import %s: tools reach the world through the gate", name, path)})
			}
		}
	}
	return out
}

// uses checks what a package touches of the guarded packages, and that nobody prints.
func uses(p *pkg, name string) []fault {
	var out []fault
	for id, obj := range p.info.Uses {
		if obj.Pkg() == nil || isMethodOrField(obj) {
			continue
		}
		path := obj.Pkg().Path()
		pos := p.fset.Position(id.Pos())
		if slices.Contains(pure, name) && impure(path, obj.Name()) {
			out = append(out, fault{pos, fmt.Sprintf("%s is pure and may not use %s.%s", name, path, obj.Name())})
			continue
		}
		if path == "fmt" && strings.HasPrefix(obj.Name(), "Print") {
			out = append(out, fault{pos, "nothing prints to the process's stdout: use the stream that was handed in"})
		}
		holders, guarded := leave[path]
		if !guarded || slices.Contains(harmless[path], obj.Name()) {
			continue
		}
		if _, ok := holders[name]; !ok {
			out = append(out, fault{pos, fmt.Sprintf("%s may not use %s.%s", name, path, obj.Name())})
		}
	}
	return out
}

// isMethodOrField says whether obj is reached through a value: having the value is what counts.
func isMethodOrField(obj types.Object) bool {
	switch o := obj.(type) {
	case *types.Func:
		return o.Signature().Recv() != nil
	case *types.Var:
		return o.IsField()
	}
	return false
}

func impure(path, name string) bool {
	switch path {
	case "os", "os/exec", "net", "net/http", "syscall", "io/ioutil", "log", "math/rand", "math/rand/v2", "crypto/rand", "os/user", "os/signal", "golang.org/x/sys/unix":
		return !slices.Contains(harmless[path], name)
	case "time":
		return slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}, name)
	case "path/filepath":
		return slices.Contains([]string{"EvalSymlinks", "Abs", "Walk", "WalkDir", "Glob"}, name)
	}
	return false
}

// surface checks that gate exports no handle.
func surface(p *pkg) []fault {
	var out []fault
	scope := p.types.Scope()
	report := func(obj types.Object, t types.Type) {
		for _, h := range handles {
			if strings.Contains(typeString(t), h) {
				out = append(out, fault{p.fset.Position(obj.Pos()), fmt.Sprintf("gate exports %s in %s", h, obj.Name())})
			}
		}
	}
	for _, n := range scope.Names() {
		obj := scope.Lookup(n)
		if !obj.Exported() {
			continue
		}
		report(obj, obj.Type())
		named, ok := obj.Type().(*types.Named)
		if _, isType := obj.(*types.TypeName); !ok || !isType {
			continue
		}
		for m := range named.Methods() {
			if m.Exported() {
				report(m, m.Type())
			}
		}
		if s, ok := named.Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				if f.Exported() {
					report(f, f.Type())
				}
			}
		}
		if i, ok := named.Underlying().(*types.Interface); ok {
			for m := range i.Methods() {
				report(m, m.Type())
			}
		}
	}
	return out
}

func typeString(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Path() })
}

// state checks that a package keeps no state of its own: no init, no variable that is changed after it was made.
func state(p *pkg) []fault {
	var out []fault
	for _, file := range p.files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Name.Name == "init" && fn.Recv == nil {
				out = append(out, fault{p.fset.Position(fn.Pos()), "no init: hand values down"})
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var targets []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					targets = n.Lhs
				}
			case *ast.IncDecStmt:
				targets = []ast.Expr{n.X}
			}
			for _, e := range targets {
				if v := p.packageVar(e); v != nil {
					out = append(out, fault{p.fset.Position(e.Pos()), "no package state: " + v.Name() + " is changed"})
				}
			}
			return true
		})
	}
	return out
}

// packageVar returns the package-level variable that e writes to, or nil.
func (p *pkg) packageVar(e ast.Expr) *types.Var {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			if s := p.info.Selections[x]; s != nil && s.Kind() == types.FieldVal {
				e = x.X
				continue
			}
			e = x.Sel
		case *ast.Ident:
			v, ok := p.info.Uses[x].(*types.Var)
			if ok && v.Parent() == p.types.Scope() {
				return v
			}
			return nil
		default:
			return nil
		}
	}
}

func TestNothingHeavyIsLinked(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Dir = moduleDir(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, "anchor/internal/cli") {
		t.Fatalf("this is no list of what anchor links: %.200s", out)
	}
	for _, path := range linked {
		if why, bad := heavy[path]; bad {
			t.Errorf("%s is linked: %s", path, why)
		}
	}
}
