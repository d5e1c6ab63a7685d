package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pkg is a package of the tree with its syntax and types.
type pkg struct {
	path    string // import path below the root: "internal/gate", "" for the root itself
	dir     string
	imports []string
	fset    *token.FileSet
	files   []*ast.File
	types   *types.Package
	info    *types.Info
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	Module                  *struct{ Path string }
}

// load type-checks the packages that the patterns name and whose import paths lie below root; their dependencies come in as compiled export data.
func load(t *testing.T, root string, patterns ...string) []*pkg {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports,Module"}, patterns...)
	cmd := exec.Command("go", args...)
	cmd.Dir = moduleDir(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	exports := map[string]string{}
	var ours []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[l.ImportPath] = l.Export
		if l.ImportPath == root || strings.HasPrefix(l.ImportPath, root+"/") {
			ours = append(ours, l)
		}
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data for %s", path)
		}
		return os.Open(exports[path])
	})
	var pkgs []*pkg
	for _, l := range ours {
		pkgs = append(pkgs, check(t, fset, imp, root, l))
	}
	return pkgs
}

// check parses and type-checks one package.
func check(t *testing.T, fset *token.FileSet, imp types.Importer, root string, l listed) *pkg {
	t.Helper()
	p := &pkg{path: strings.Trim(strings.TrimPrefix(l.ImportPath, root), "/"), dir: l.Dir, imports: l.Imports, fset: fset}
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files = append(p.files, f)
	}
	p.info = &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	conf := types.Config{Importer: imp}
	var err error
	if p.types, err = conf.Check(l.ImportPath, fset, p.files, p.info); err != nil {
		t.Fatalf("%s: %v", l.ImportPath, err)
	}
	return p
}

// moduleDir is the root of the module.
func moduleDir(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
