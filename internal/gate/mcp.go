package gate

import (
	"bytes"
	"context"
	"encoding/json"

	"anchor/internal/policy"
)

// CallMCP passes a call of a server's tool: args are shown to the user if policy asks.
func CallMCP[T any](ctx context.Context, g *Gate, server, tool string, args json.RawMessage, call func(context.Context) (T, error)) (T, error) {
	show := func(looks) (string, error) {
		var b bytes.Buffer
		if json.Indent(&b, args, "", "  ") != nil {
			return string(args), nil
		}
		return b.String(), nil
	}
	return pass(ctx, g, policy.MCP{Server: server, Tool: tool}, "Call MCP "+server+"/"+tool, show,
		func(ctx context.Context, _ effects) (T, error) { return call(ctx) })
}
