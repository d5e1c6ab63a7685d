package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anchor/internal/msg"
	"anchor/internal/tool"
)

const (
	maxPages       = 100
	maxDescription = 4_000 // bytes
	maxName        = 64
)

// list asks a session for its tools and offers them.
func (s *server) list(ctx context.Context, session *sdk.ClientSession) error {
	ctx, stop := context.WithTimeout(ctx, connectLimit)
	defer stop()
	found, err := s.pages(ctx, session)
	if err != nil {
		return fmt.Errorf("its tools could not be listed: %w", err)
	}
	var offered []tool.Tool
	count := map[string]int{}
	for name := range found {
		count[plain(s.Name, name)]++
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		t := found[name]
		schema, fault := fit(t.InputSchema)
		if fault != "" {
			s.tell("the tool %s: %s", name, fault)
		}
		if schema == nil {
			continue
		}
		offered = append(offered, &remote{s, name, tool.Spec{Spec: msg.Spec{Name: legal(s.Name, name, count[plain(s.Name, name)] > 1),
			Description: cut(s.o.Gate.Mask(cmp.Or(t.Description, t.Title, name)), maxDescription), Schema: json.RawMessage(s.o.Gate.Mask(string(schema)))}}})
	}
	s.set(State{Status: ready, Tools: offered, session: session}, nil)
	return nil
}

// pages returns all tools by name. A cursor that comes twice ends it.
func (s *server) pages(ctx context.Context, session *sdk.ClientSession) (map[string]*sdk.Tool, error) {
	found, seen, p := map[string]*sdk.Tool{}, map[string]bool{}, &sdk.ListToolsParams{}
	for len(seen) < maxPages && !seen[p.Cursor] {
		seen[p.Cursor] = true
		page, err := session.ListTools(ctx, p)
		var wire *jsonrpc.Error
		if errors.As(err, &wire) && wire.Code == jsonrpc.CodeMethodNotFound {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if t == nil || t.Name == "" {
				s.tell("a tool without a name is left out")
			} else if found[t.Name] == nil {
				found[t.Name] = t
			}
		}
		p = &sdk.ListToolsParams{Cursor: page.NextCursor} // the empty one of the last page was there already
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
	fault := ""
	if len(m) == 0 || len(m) == 1 && m["$schema"] != nil {
		fault = "its input schema describes no arguments"
	}
	out, properties := maps.Clone(m), map[string]any{}
	gather(properties, m, m, 0)
	for _, key := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
		delete(out, key)
	}
	out["type"], out["properties"] = "object", properties
	return encode(out), fault
}

// gather collects the properties of a schema, those too that stand behind a $ref or in choices at its top, where providers refuse them.
func gather(properties, m, root map[string]any, depth int) {
	var parts []any
	ref, _ := m["$ref"].(string)
	if path, ok := strings.CutPrefix(ref, "#/"); ok { // such as $defs/A
		at := any(root)
		for key := range strings.SplitSeq(path, "/") {
			here, _ := at.(map[string]any)
			at = here[key]
		}
		parts = append(parts, at)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := m[key].([]any)
		parts = append(parts, list...)
	}
	for _, part := range parts {
		if sub, ok := part.(map[string]any); ok && depth < 4 {
			gather(properties, sub, root, depth+1)
		}
	}
	own, _ := m["properties"].(map[string]any)
	maps.Copy(properties, own)
}

var (
	odd  = regexp.MustCompile(`[^A-Za-z0-9_-]`)
	fine = regexp.MustCompile(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)
)

// plain is the name under which a server's tool is offered, in letters, digits, _ and -.
func plain(server, tool string) string { return odd.ReplaceAllString("mcp__"+server+"__"+tool, "_") }

// legal is that name in at most maxName bytes. Where it would not tell whose tool it is, or another tool of the server has it by right, a
// hash of both keeps it apart from all others. It depends on nothing else, so that it stays from one run to the next.
func legal(server, tool string, shared bool) string {
	name := plain(server, tool)
	if len(name) <= maxName && fine.MatchString(server) && (!shared || name == "mcp__"+server+"__"+tool) {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	return name[:min(len(name), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
}
