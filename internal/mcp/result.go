package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

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
	switch out.Text = strings.Join(parts, "\n"); {
	case out.Text != "":
	case r.StructuredContent != nil:
		out.Text = string(encode(r.StructuredContent))
	case len(out.Images) > 0:
		out.Text = "(an image)"
	case r.IsError:
		out.Text = "The tool failed and said nothing more."
	default:
		out.Text = "(the tool returned nothing)"
	}
	if more := len(out.Text) - maxText; more > 0 {
		out.Text = fmt.Sprintf("%s\n[cut: %d bytes left out; ask for less at a time]", cut(out.Text, maxText), more)
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
	return strings.ToValidUTF8(text[:max], "") + "…"
}

// mend returns a message as the SDK reads it, which refuses a whole result for one block or one tool that it can't read: such a block
// becomes a text that says what it was, and such a tool one without a schema, which is then left out by its name.
func mend(message []byte) []byte {
	for key, instead := range map[string]func(gjson.Result) any{"result.content": blockText, "result.tools": bareTool} {
		for _, e := range slices.Backward(gjson.GetBytes(message, key).Array()) {
			if other := instead(e); other != nil {
				message = slices.Concat(message[:e.Index], encode(other), message[e.Index+len(e.Raw):])
			}
		}
	}
	return message
}

// blockText is a text block in the place of one that can't be read.
func blockText(b gjson.Result) any {
	var r sdk.CallToolResult
	if json.Unmarshal(fmt.Appendf(nil, `{"content":[%s]}`, b.Raw), &r) == nil {
		return nil
	}
	text := b.String()
	if b.Type != gjson.String {
		text = fmt.Sprintf("[content of the unknown type %q: %s]", b.Get("type").String(), cut(b.Raw, 2_000))
	}
	return map[string]string{"type": "text", "text": text}
}

// bareTool is what is left of a tool that can't be read: its name.
func bareTool(t gjson.Result) any {
	if json.Unmarshal([]byte(t.Raw), new(sdk.Tool)) == nil {
		return nil
	}
	return map[string]string{"name": t.Get("name").String()}
}

// encode is for values that always have a JSON form.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}
