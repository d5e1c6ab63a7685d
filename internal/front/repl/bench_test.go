package repl

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"anchor/internal/event"
)

// BenchmarkStream draws a reply of 2 MB that comes in pieces of 20 bytes: prose, and one block of code without an end.
func BenchmarkStream(b *testing.B) {
	prose := strings.Repeat(strings.Repeat("words that go on and on, **bold** and `code`, ", 10)+"\n\n", 4400)
	for name, text := range map[string]string{"prose": prose, "code": "```\n" + strings.Repeat("x := f(y) // and so on\n", 90000)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				stream(text)
			}
		})
	}
}

func stream(text string) {
	m := newModel(context.Background(), Options{Status: func() []string { return nil }}, "")
	m.ready = func() {}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	for i := 0; i < len(text); i += 20 {
		m.Update(happened{event.Text{Text: text[i:min(i+20, len(text))]}})
		m.Update(printed{})
		if i%2000 == 0 {
			m.View()
		}
	}
	m.printer.flush()
	for m.printing || len(m.printer.out) > 0 {
		m.Update(printed{})
	}
}

// BenchmarkComplete is a key of an @ in a tree of 100,000 files.
func BenchmarkComplete(b *testing.B) {
	var names []string
	for i := range 100_000 {
		names = append(names, fmt.Sprintf("src/pkg%d/dir%d/File%d_name.go", i%50, i/100, i))
	}
	in := input{files: paths(names)}
	in.insert("@file7")
	for b.Loop() {
		in.complete(nil)
	}
}
