package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK refuses a whole result for one block or one tool that it can't read. So every message is looked at first: a block that can't
// be read becomes a text that says what it was, and a tool becomes one without a schema, which is then left out by its name.

// mend returns a message as the SDK reads it. Most are returned as they are.
func mend(message []byte) []byte {
	if !bytes.Contains(message, []byte(`"content"`)) && !bytes.Contains(message, []byte(`"tools"`)) {
		return message
	}
	var m, result map[string]json.RawMessage
	if json.Unmarshal(message, &m) != nil || json.Unmarshal(m["result"], &result) != nil {
		return message
	}
	content, mendedContent := mendList(result["content"], readableBlock, blockText)
	tools, mendedTools := mendList(result["tools"], readableTool, bareTool)
	if !mendedContent && !mendedTools {
		return message
	}
	if mendedContent {
		result["content"] = content
	}
	if mendedTools {
		result["tools"] = tools
	}
	m["result"] = encode(result)
	return encode(m)
}

// mendList replaces the entries of a list that can't be read. changed is false if there are none.
func mendList(raw json.RawMessage, readable func(json.RawMessage) bool, replace func(json.RawMessage) json.RawMessage) (out json.RawMessage, changed bool) {
	var list []json.RawMessage
	if len(raw) == 0 {
		return nil, false
	}
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
		changed = true
	}
	for i, entry := range list {
		if !readable(entry) {
			list[i], changed = replace(entry), true
		}
	}
	return encode(list), changed
}

func readableBlock(b json.RawMessage) bool {
	var r sdk.CallToolResult
	return json.Unmarshal(encode(map[string]any{"content": []json.RawMessage{b}}), &r) == nil
}

// blockText is a text block in the place of another.
func blockText(b json.RawMessage) json.RawMessage {
	var text, kind string
	var known struct {
		Type json.RawMessage `json:"type"`
	}
	if json.Unmarshal(b, &text) != nil {
		_ = json.Unmarshal(b, &known)
		_ = json.Unmarshal(known.Type, &kind)
		text = fmt.Sprintf("[content of the unknown type %q: %s]", kind, cut(string(b), 2_000))
	}
	return encode(map[string]string{"type": "text", "text": text})
}

func readableTool(t json.RawMessage) bool {
	var r sdk.Tool
	return json.Unmarshal(t, &r) == nil
}

// bareTool is a tool of which only the name is left.
func bareTool(t json.RawMessage) json.RawMessage {
	var known struct {
		Name json.RawMessage `json:"name"`
	}
	_ = json.Unmarshal(t, &known)
	var name string
	_ = json.Unmarshal(known.Name, &name)
	return encode(map[string]any{"name": name, "inputSchema": nil})
}

// encode is for values that always have a JSON form.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}
