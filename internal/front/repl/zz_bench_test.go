package repl

import (
	"os"
	"strings"
	"testing"
)

func BenchmarkZZOne(b *testing.B) {
	data, _ := os.ReadFile("/tmp/rt/big.txt")
	md := strings.ReplaceAll(string(data), "\n| ", "\n")[12:]
	for b.Loop() {
		renderMarkdown(style{}, md[:400000], 80)
	}
}
func BenchmarkZZSmall(b *testing.B) {
	for b.Loop() {
		for range 3000 {
			renderMarkdown(style{}, "Line of a long paragraph of text that goes on and on, **bold** and `code`, until it is about a hundred.", 80)
		}
	}
}
func BenchmarkZZClean(b *testing.B) {
	data, _ := os.ReadFile("/tmp/rt/big.txt")
	for b.Loop() {
		clean(string(data[:400000]))
	}
}
