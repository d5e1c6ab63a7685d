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
