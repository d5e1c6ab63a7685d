package tools

import (
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anchor/internal/gate"
	"anchor/internal/policy"
	"anchor/internal/tool"
)

// trees are a generated one of 20,000 files, and Go's own sources. ANCHOR_TREE names a further one, to compare with ripgrep.
func trees(b *testing.B) map[string]bench {
	big := lay(b, map[string]string{".gitignore": "*.o\nnode_modules/\n/build\n"})
	body := strings.Repeat("some words of program text, and more of it;\n", 40)
	for i := range 20_000 {
		dir := filepath.Join(big.dir, fmt.Sprintf("pkg%d/sub%d", i%40, i%400))
		if i < 400 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", i)), fmt.Appendf(nil, "package p%d\n%sfunc Open%d() {}\n", i, body, i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	out := map[string]bench{"20000": big}
	for name, dir := range map[string]string{"goroot": filepath.Join(build.Default.GOROOT, "src"), "named": os.Getenv("ANCHOR_TREE")} {
		if g, err := gate.New(gate.Options{Dir: dir, Rules: policy.Rules{Yolo: true}}); err == nil && dir != "" {
			out[name] = bench{b, tool.Env{Gate: g}, dir}
		}
	}
	b.ResetTimer()
	return out
}

func BenchmarkGlob(b *testing.B) {
	for name, t := range trees(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				t.call("glob", "pattern", "**/*7.go")
			}
		})
	}
}

func BenchmarkGrep(b *testing.B) {
	all := trees(b)
	for _, pattern := range []string{"zzqqzz", "func Open", `TODO\(\w+\)`, "TODO|FIXME", `[a-z]+Error\(`, "(?i)deadlock"} {
		for name, t := range all {
			b.Run(pattern+"/"+name, func(b *testing.B) {
				for b.Loop() {
					t.call("grep", "pattern", pattern, "mode", "count")
				}
			})
		}
	}
}

func BenchmarkDefinitions(b *testing.B) {
	for b.Loop() {
		All(true, true, true)
	}
}
