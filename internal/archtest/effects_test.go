package archtest

import (
	"go/ast"
	"go/types"
	"slices"
)

// changing are the functions and methods, by package and name, that change the disk or start a process.
var changing = map[string][]string{
	"os":      {"Create", "CreateTemp", "MkdirTemp", "WriteFile", "Remove", "RemoveAll", "Rename", "Mkdir", "MkdirAll", "Chmod", "Chown", "Symlink", "Link", "Truncate", "Chtimes", "StartProcess"},
	"os/exec": {"Start", "Run", "Output", "CombinedOutput"},
	"syscall": {"Exec", "ForkExec", "StartProcess"},
}

// ends are functions of gate that reach such calls though no effect calls them, and why they may.
var ends = map[string]string{
	"Close": "ends what effects started",
}

// effects checks two things in gate: only pass makes values of the types effects and looks, and whatever changes the disk
// or starts a process is reached from methods of effects alone.
func effects(p *pkg) []fault {
	var out []fault
	calls := map[*types.Func][]*types.Func{}
	callers := map[*types.Func]int{}
	var reach []*types.Func // functions that reach a changing call, not through an effect
	at := map[*types.Func]*ast.FuncDecl{}
	for _, file := range p.files {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			self := p.info.Defs[fn.Name].(*types.Func)
			at[self] = fn
			if self.Name() != "pass" {
				out = append(out, p.made(fn)...)
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				f, ok := p.info.Uses[id].(*types.Func)
				switch {
				case !ok || f.Pkg() == nil:
				case f.Pkg() == p.types:
					calls[self] = append(calls[self], f.Origin())
					callers[f.Origin()]++
				case slices.Contains(changing[f.Pkg().Path()], f.Name()) && !slices.Contains(reach, self):
					reach = append(reach, self)
				}
				return true
			})
		}
	}
	reach = slices.DeleteFunc(reach, func(f *types.Func) bool { return isEffect(f) })
	for grown := true; grown; {
		grown = false
		for f, to := range calls {
			if !isEffect(f) && !slices.Contains(reach, f) && slices.ContainsFunc(to, func(c *types.Func) bool { return slices.Contains(reach, c) }) {
				reach, grown = append(reach, f), true
			}
		}
	}
	for _, f := range reach {
		if (f.Exported() || callers[f] == 0) && ends[f.Name()] == "" {
			out = append(out, fault{p.fset.Position(at[f].Pos()), f.Name() + " changes something past pass"})
		}
	}
	return out
}

// made finds values of the types effects and looks that fn makes itself, and uses of them through conversions or variables.
func (p *pkg) made(fn *ast.FuncDecl) []fault {
	var out []fault
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if name := namedIn(p.info.Types[lit].Type, p.types); name == "effects" || name == "looks" && !isEffect(p.info.Defs[fn.Name]) {
			out = append(out, fault{p.fset.Position(lit.Pos()), fn.Name.Name + " makes " + name + " past pass"})
		}
		return true
	})
	return out
}

// isEffect says whether obj is a method of the type effects.
func isEffect(obj types.Object) bool {
	fn, ok := obj.(*types.Func)
	return ok && fn.Signature().Recv() != nil && namedIn(fn.Signature().Recv().Type(), fn.Pkg()) == "effects"
}

// namedIn returns the name of a type declared in pkg, pointers taken off; empty for others.
func namedIn(t types.Type, pkg *types.Package) string {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() == pkg {
		return n.Obj().Name()
	}
	return ""
}
