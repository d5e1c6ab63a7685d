package acp

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/msg"
)

// message makes the user's message of the blocks of a prompt. A link and an embedded resource stand where they stood, as their path;
// what a resource holds comes below the text, masked. An error is for the client.
func message(blocks []sdk.ContentBlock, mask func(string) string) (m msg.User, err error) {
	var below strings.Builder
	text, path := "", false // whether it ends in a path
	write := func(piece string, isPath bool) {
		last, _ := utf8.DecodeLastRuneInString(text)
		if first, _ := utf8.DecodeRuneInString(piece); (path || isPath) && inName(last) && inName(first) {
			text += " " // a path and a word don't run into each other
		}
		text, path = text+piece, isPath
	}
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			write(b.Text.Text, false)
		case b.Image != nil:
			err = attach(&m, b.Image.MimeType, b.Image.Data)
		case b.ResourceLink != nil:
			write(place(b.ResourceLink.Uri), true)
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			write(place(r.Uri), true)
			fmt.Fprintf(&below, "\n\n<resource path=%q>\n%s\n</resource>", place(r.Uri), mask(strings.TrimSuffix(r.Text, "\n")))
		case b.Resource != nil && b.Resource.Resource.BlobResourceContents != nil:
			r := b.Resource.Resource.BlobResourceContents
			write(place(r.Uri), true)
			kind := ""
			if r.MimeType != nil {
				kind = *r.MimeType
			}
			err = attach(&m, kind, r.Blob)
		default:
			err = invalid("a prompt takes text, images, resource links and embedded resources")
		}
		if err != nil {
			return m, err
		}
	}
	if m.Text = strings.ToValidUTF8(text+below.String(), "\uFFFD"); strings.TrimSpace(m.Text) == "" && len(m.Images) == 0 {
		err = invalid("the prompt is empty")
	}
	return m, err
}

// attach adds an image of a type that all providers take.
func attach(m *msg.User, kind, data string) error {
	types := []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || !slices.Contains(types, kind) {
		return invalid("%q in base64 is taken for no image; these are: %s", kind, strings.Join(types, ", "))
	}
	m.Images = append(m.Images, msg.Image{Type: kind, Data: raw})
	return nil
}

func inName(r rune) bool { return r == '/' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// place is a file's path, or any other URI as it is.
func place(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return uri
}
