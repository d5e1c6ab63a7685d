package mcp

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anchor/internal/msg"
	"anchor/internal/tool"
)

const (
	maxText  = 50_000  // bytes of a result
	maxImage = 5 << 20 // bytes of an image
)

// render makes a result for the model of a server's: texts as they are, images as images, and a line about everything else.
func render(r *sdk.CallToolResult) tool.Result {
	out := tool.Result{Outcome: tool.OK}
	if r.IsError {
		out.Outcome = tool.Failed
	}
	var parts []string
	for _, c := range r.Content {
		if text, image := block(c); image != nil {
			out.Images = append(out.Images, *image)
		} else if text != "" {
			parts = append(parts, text)
		}
	}
	switch out.Text = middle(strings.Join(parts, "\n"), maxText); {
	case out.Text != "":
	case r.StructuredContent != nil:
		out.Text = middle(string(encode(r.StructuredContent)), maxText)
	case len(out.Images) > 0:
		out.Text = "(an image)"
	case r.IsError:
		out.Text = "The tool failed and said nothing more."
	default:
		out.Text = "(the tool returned nothing)"
	}
	return out
}

// block returns a content block as text or as an image.
func block(c sdk.Content) (string, *msg.Image) {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text, nil
	case *sdk.ImageContent:
		return picture(c.MIMEType, c.Data)
	case *sdk.AudioContent:
		return picture(c.MIMEType, c.Data)
	case *sdk.ResourceLink:
		return strings.TrimSpace(fmt.Sprintf("[link to %s: %s] %s", c.Name, c.URI, c.Description)), nil
	case *sdk.EmbeddedResource:
		switch r := c.Resource; {
		case r == nil:
			return "[a resource without content]", nil
		case len(r.Blob) > 0:
			return picture(r.MIMEType, r.Blob)
		default:
			return "[resource " + r.URI + "]\n" + r.Text, nil
		}
	}
	return fmt.Sprintf("[content that anchor does not know: %T]", c), nil
}

// picture returns an image if models take it, else a line about it.
func picture(kind string, data []byte) (string, *msg.Image) {
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind) || len(data) == 0 || len(data) > maxImage {
		return fmt.Sprintf("[data of the type %q, %d bytes: it can't be shown]", kind, len(data)), nil
	}
	return "", &msg.Image{Type: kind, Data: data}
}

// cut shortens text to at most max bytes and a mark.
func cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max] + "…"
}

// middle takes the middle out of a text that is too long, and says so.
func middle(text string, max int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= max {
		return text
	}
	head, tail := max*3/4, len(text)-max/4
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[cut: %d bytes left out; ask for less at a time]\n%s", text[:head], tail-head, text[tail:])
}
