package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anchor/internal/msg"
	"anchor/internal/tool"
)

const (
	maxPages       = 100
	maxTools       = 1_000 // of a server
	maxDescription = 4_000 // bytes
)

// list asks a session for its tools and offers them.
func (s *server) list(ctx context.Context, session *sdk.ClientSession) error {
	found, err := s.pages(ctx, session)
	if err != nil {
		return fmt.Errorf("its tools could not be listed: %w", err)
	}
	legal := legalTools(s.legal, slices.Collect(maps.Keys(found)))
	var offered []tool.Tool
	for _, name := range slices.Sorted(maps.Keys(found)) {
		t := found[name]
		schema, fault := fit(t.InputSchema)
		if fault != "" {
			s.tell("the tool %s: %s", name, fault)
		}
		if schema == nil {
			continue
		}
		offered = append(offered, &remote{s, name, tool.Spec{Spec: msg.Spec{Name: legal[name],
			Description: cut(s.o.Gate.Mask(cmp.Or(t.Description, t.Title, name)), maxDescription), Schema: json.RawMessage(s.o.Gate.Mask(string(schema)))}}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.session, s.offered = ready, session, offered
	return nil
}

// pages returns all tools by name. A cursor that comes twice ends it.
func (s *server) pages(ctx context.Context, session *sdk.ClientSession) (map[string]*sdk.Tool, error) {
	found, cursor, seen := map[string]*sdk.Tool{}, "", map[string]bool{}
	for range maxPages {
		page, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		var wire *jsonrpc.Error
		if errors.As(err, &wire) && wire.Code == jsonrpc.CodeMethodNotFound {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if t == nil || t.Name == "" {
				s.tell("a tool without a name is left out")
			} else if found[t.Name] == nil && len(found) < maxTools {
				found[t.Name] = t
			}
		}
		if cursor = page.NextCursor; cursor == "" || seen[cursor] {
			break
		}
		seen[cursor] = true
	}
	return found, nil
}

// fit returns an input schema as an object, nil if it can't be made one, and what is odd about it. What every provider wants of a schema
// is the wires' to see to.
func fit(schema any) (json.RawMessage, string) {
	m, ok := schema.(map[string]any)
	if !ok {
		return nil, "its input schema is not an object; left out"
	}
	kinds, _ := m["type"].([]any)
	if m["type"] != nil && m["type"] != "object" && !slices.Contains(kinds, any("object")) {
		return nil, fmt.Sprintf("its input schema has the type %v, not object; left out", m["type"])
	}
	out := maps.Clone(m)
	inline(out, m, 0)
	fault := ""
	if out["type"] == nil && out["properties"] == nil {
		fault = "its input schema describes no arguments"
	}
	if _, ok := out["properties"].(map[string]any); !ok {
		out["properties"] = map[string]any{}
	}
	out["type"] = "object"
	return encode(out), fault
}

// inline takes what stands behind a $ref or in the choices at the top of a schema into the top, where providers refuse them. Of choices
// every property is kept, and none is required.
func inline(out, root map[string]any, depth int) {
	if depth > 4 {
		return
	}
	take := func(sub map[string]any, required bool) {
		sub = maps.Clone(sub)
		inline(sub, root, depth+1)
		properties, _ := out["properties"].(map[string]any)
		more, _ := sub["properties"].(map[string]any)
		merged := maps.Clone(more)
		if merged == nil {
			merged = map[string]any{}
		}
		maps.Copy(merged, properties)
		out["properties"] = merged
		if list, ok := sub["required"].([]any); ok && required {
			mine, _ := out["required"].([]any)
			out["required"] = append(slices.Clone(mine), list...)
		}
	}
	if ref, ok := out["$ref"].(string); ok {
		delete(out, "$ref")
		if sub := behind(root, ref); sub != nil {
			take(sub, true)
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := out[key].([]any)
		delete(out, key)
		for _, entry := range list {
			if sub, ok := entry.(map[string]any); ok {
				take(sub, key == "allOf")
			}
		}
	}
}

// behind returns what a reference within the schema names, nil if there is nothing.
func behind(root map[string]any, ref string) map[string]any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := root
	for _, key := range strings.Split(path, "/") {
		at, _ = at[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)].(map[string]any)
	}
	return at
}
