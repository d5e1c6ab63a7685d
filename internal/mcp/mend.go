package mcp

import (
	"encoding/json"
	"fmt"
	"maps"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// The SDK refuses a whole result for one block or one tool that it can't read. So every message is looked at first: a block that can't
// be read becomes a text that says what it was, and a tool becomes one without a schema, which is then left out by its name.

// mend returns a message as the SDK reads it. Most are returned as they are.
func mend(message []byte) []byte {
	lists := map[string]json.RawMessage{}
	for key, l := range map[string]struct {
		readable func(json.RawMessage) bool
		replace  func(json.RawMessage) json.RawMessage
	}{"content": {readableBlock, blockText}, "tools": {readableTool, bareTool}} {
		var entries []json.RawMessage
		found := gjson.GetBytes(message, "result."+key)
		changed := found.Exists() && !found.IsArray()
		for _, e := range found.Array() { // one value that is no list counts as its only entry
			entry := json.RawMessage(e.Raw)
			if !l.readable(entry) {
				entry, changed = l.replace(entry), true
			}
			entries = append(entries, entry)
		}
		if changed {
			lists[key] = encode(entries)
		}
	}
	var m, result map[string]json.RawMessage
	if len(lists) == 0 || json.Unmarshal(message, &m) != nil || json.Unmarshal(m["result"], &result) != nil {
		return message
	}
	maps.Copy(result, lists)
	m["result"] = encode(result)
	return encode(m)
}

func readableBlock(b json.RawMessage) bool {
	var r sdk.CallToolResult
	return json.Unmarshal(encode(map[string]any{"content": []json.RawMessage{b}}), &r) == nil
}

// blockText is a text block in the place of another.
func blockText(b json.RawMessage) json.RawMessage {
	text := gjson.ParseBytes(b).String()
	if b[0] != '"' {
		text = fmt.Sprintf("[content of the unknown type %q: %s]", gjson.GetBytes(b, "type").String(), cut(string(b), 2_000))
	}
	return encode(map[string]string{"type": "text", "text": text})
}

func readableTool(t json.RawMessage) bool {
	var r sdk.Tool
	return json.Unmarshal(t, &r) == nil
}

// bareTool is a tool of which only the name is left.
func bareTool(t json.RawMessage) json.RawMessage {
	return encode(map[string]any{"name": gjson.GetBytes(t, "name").String(), "inputSchema": nil})
}

// encode is for values that always have a JSON form.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}
