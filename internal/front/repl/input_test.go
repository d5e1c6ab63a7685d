package repl

import (
	"context"
	"slices"
	"strings"
	"testing"

	"anchor/internal/event"
)

// Pasted text is text, wherever it stands first and however it comes back.
func TestPastedTextIsNoCommand(t *testing.T) {
	for name, paste := range map[string]func(*input){
		"first":        func(in *input) { in.paste("!touch x") },
		"after blanks": func(in *input) { in.insert(" \n"); in.paste("!touch x") },
		"before text":  func(in *input) { in.insert("x"); in.at = 0; in.paste("!touch ") },
	} {
		in := input{}
		paste(&in)
		if !in.plain {
			t.Errorf("%s: the text would run as a command", name)
		}
		if in.remember(strings.TrimSpace(in.text())); len(in.history) > 0 {
			t.Errorf("%s: it would come back as a command: %q", name, in.history)
		}
	}
	in := input{}
	in.insert("!echo ")
	in.paste("hi")
	if in.plain {
		t.Error("a paste behind a typed command makes it text")
	}
	if in.remember("!echo hi"); !slices.Equal(in.history, []string{"!echo hi"}) {
		t.Errorf("the history is %q", in.history)
	}
}

// A message for the running turn may read files, ask and tell: the screen goes on meanwhile.
func TestQueueingNeverStopsTheScreen(t *testing.T) {
	var s *screen
	made, begun, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	o := Options{
		Turn: func(ctx context.Context, _ Message) {
			close(begun)
			select {
			case <-release:
			case <-ctx.Done():
			}
		},
		Queue: func(m Message) bool {
			<-made
			for range 200 { // more than any buffer holds
				s.Event(event.Notice{Message: "not attached: " + m.Text})
			}
			return true
		},
	}
	s = open(t, 80, o, "")
	s.keys("go\r")
	<-begun
	s.keys("see @big.png\r")
	close(made)
	s.see("> see @big.png")
	close(release)
	s.keys("still here")
	s.see("still here")
}

// An @ that was typed names a file, one that was pasted is text, wherever it stands.
func TestNamedFiles(t *testing.T) {
	for name, c := range map[string]struct {
		write func(*input)
		want  []string
	}{
		"typed":         {func(in *input) { in.insert(`see @a.png and @"my dir/b c.png", a@b`) }, []string{"a.png", "my dir/b c.png"}},
		"pasted behind": {func(in *input) { in.insert("see @a.png "); in.paste("@secret.png") }, []string{"a.png"}},
		"dropped":       {func(in *input) { in.insert("@"); in.paste("a.png") }, []string{"a.png"}},
		"completed": {func(in *input) {
			in.files = paths([]string{"my dir/", "my dir/b c.png"})
			in.insert(`@my`)
			in.complete(nil)
			in.accept() // the directory, then what is in it
			in.accept()
		}, []string{"my dir/b c.png"}},
	} {
		in := input{}
		if c.write(&in); !slices.Equal(in.named(in.text()), c.want) {
			t.Errorf("%s: %q names %q", name, in.text(), in.named(in.text()))
		}
	}
}

func TestBestPaths(t *testing.T) {
	all := paths([]string{"a/", "a/deep/", "a/deep/Main.go", "a/main.go", "main.go", "src/domain/x.go"})
	for written, want := range map[string]string{
		"main": "main.go a/main.go a/deep/Main.go src/domain/x.go", "a/d": "a/deep/ a/deep/Main.go", "": "a/ main.go a/deep/ a/main.go a/deep/Main.go src/domain/x.go", "zz": "",
	} {
		if got := strings.Join(best(all, written), " "); got != want {
			t.Errorf("%q: %s, want %s", written, got, want)
		}
	}
}

// The tree is walked once while a name is written, whatever keys come.
func TestCompletionWalksOnce(t *testing.T) {
	walks := make(chan struct{}, 9)
	s := open(t, 80, Options{Files: func(context.Context) []string { walks <- struct{}{}; return []string{"one.go", "other.go"} }}, "")
	s.keys("@")
	s.see("@other.go")
	s.keys("oth")
	s.gone("@one.go")
	s.keys("\t")
	s.see("> @other.go\n")
	if len(walks) != 1 {
		t.Errorf("%d walks", len(walks))
	}
}
