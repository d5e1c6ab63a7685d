package event

import "testing"

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü 漢字 👩‍👧\tx\n": "plain ü 漢字 👩‍👧\tx\n", "a\x1b[2Jb": `a\x1b[2Jb`, "b\rc": `b\x0dc`, "\x00\x7f\u0085": `\x00\x7f\u0085`,
		"a\u202eb\u2066\u200b": `a\u202eb\u2066\u200b`, "\xff": "\uFFFD",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
