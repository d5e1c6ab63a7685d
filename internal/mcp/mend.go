package mcp

import (
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// The SDK refuses a whole result for one block or one tool that it can't read. So every message is looked at first: a block that can't
// be read becomes a text that says what it was, and a tool becomes one without a schema, which is then left out by its name.

// mend returns a message as the SDK reads it. Most are returned as they are.
func mend(message []byte) []byte {
	content, oddBlock := mendList(gjson.GetBytes(message, "result.content"), blockText)
	tools, oddTool := mendList(gjson.GetBytes(message, "result.tools"), bareTool)
	var m, result map[string]json.RawMessage
	if !oddBlock && !oddTool || json.Unmarshal(message, &m) != nil || json.Unmarshal(m["result"], &result) != nil {
		return message
	}
	if oddBlock {
		result["content"] = content
	}
	if oddTool {
		result["tools"] = tools
	}
	m["result"] = encode(result)
	return encode(m)
}

// mendList replaces entries. One value that is no list counts as its only entry. odd says whether anything had to be done.
func mendList(found gjson.Result, replace func(gjson.Result) any) (list json.RawMessage, odd bool) {
	odd = found.Exists() && !found.IsArray()
	var entries []any
	for _, e := range found.Array() {
		entry := any(json.RawMessage(e.Raw))
		if instead := replace(e); instead != nil {
			entry, odd = instead, true
		}
		entries = append(entries, entry)
	}
	return encode(entries), odd
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
