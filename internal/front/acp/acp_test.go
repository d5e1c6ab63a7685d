package acp

import (
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/diff"
)

// A diff on the wire holds each hunk's text before and after, byte for byte.
func TestHunks(t *testing.T) {
	far := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, c := range []struct{ old, new, before, after string }{
		{"a\nb\n", "a\nc\n", "a\nb\n", "a\nc\n"},
		{"a", "b", "a", "b"},
		{"a\n", "a", "a\n", "a"},
		{"--- x\n", "+++ y\n@@ z\n", "--- x\n", "+++ y\n@@ z\n"},
		{"a\n\n", "a\n", "a\n\n", "a\n"},
		{"x\n", "", "x\n", ""},
	} {
		got := hunks("/f", diff.Unified([]byte(c.old), []byte(c.new)))
		if len(got) != 1 || *got[0].Diff.OldText != c.before || got[0].Diff.NewText != c.after || got[0].Diff.Path != "/f" {
			t.Errorf("%q to %q: %+v", c.old, c.new, got)
		}
	}
	if got := hunks("/f", diff.Unified([]byte("0\n"+far+"e\n"), []byte("00\n"+far+"ee\n"))); len(got) != 2 || got[1].Diff.NewText != "8\n9\n10\nee\n" {
		t.Errorf("two hunks: %+v", got)
	}
	if got := hunks("/f", diff.Unified(nil, []byte("n\n"))); len(got) != 1 || got[0].Diff.OldText != nil || got[0].Diff.NewText != "n\n" {
		t.Errorf("a new file: %+v", got)
	}
}

func TestMessage(t *testing.T) {
	mask := func(string) string { return "***" }
	m, err := message([]sdk.ContentBlock{
		sdk.TextBlock("see "), sdk.ResourceLinkBlock("a", "file:///w/a%20b.go"), sdk.TextBlock(" and "),
		sdk.ResourceBlock(sdk.EmbeddedResourceResource{TextResourceContents: &sdk.TextResourceContents{Uri: "file:///w/.env", Text: "KEY=secret\n"}}),
		sdk.ImageBlock("aGk=", "image/png"),
	}, mask)
	if want := "see /w/a b.go and /w/.env\n\n<resource path=\"/w/.env\">\n***\n</resource>"; err != nil || m.Text != want || len(m.Images) != 1 || string(m.Images[0].Data) != "hi" {
		t.Errorf("%q %v %v", m.Text, m.Images, err)
	}
	m, err = message([]sdk.ContentBlock{sdk.TextBlock("re"), sdk.TextBlock("ad"), sdk.ResourceLinkBlock("a", "file:///a.go"), sdk.TextBlock(", then"), sdk.ResourceLinkBlock("b", "file:///b"), sdk.TextBlock("too")}, mask)
	if want := "read /a.go, then /b too"; err != nil || m.Text != want {
		t.Errorf("%q %v", m.Text, err)
	}
	for name, b := range map[string]sdk.ContentBlock{
		"audio": sdk.AudioBlock("aGk=", "audio/wav"), "no base64": sdk.ImageBlock("?", "image/png"), "a strange image": sdk.ImageBlock("aGk=", "image/tiff"), "blank": sdk.TextBlock(" \n"),
	} {
		if _, err := message([]sdk.ContentBlock{b}, mask); err == nil {
			t.Error(name, "is taken")
		}
	}
}
