package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is also a server that misbehaves: MCP_TEST_MODE says how.
func TestMain(m *testing.M) {
	if mode := os.Getenv("MCP_TEST_MODE"); mode != "" {
		misbehave(mode)
		return
	}
	if scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO"); scenario != "" {
		os.Exit(conform(scenario, os.Args[len(os.Args)-1]))
	}
	goleak.VerifyTestMain(m)
}

type object map[string]any

// misbehave serves on the standard streams until they end.
func misbehave(mode string) {
	if mode == "banner" {
		fmt.Println("Welcome!\n{not json}\n[1,2]\n\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard\"}")
	}
	if mode == "crash" {
		fmt.Fprintln(os.Stderr, "cannot open the database")
		os.Exit(3)
	}
	noise(mode, 1<<20)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion, Name string
				Cursor                string
				Meta                  object `json:"_meta"`
			}
		}
		if json.Unmarshal(in.Bytes(), &q) != nil || q.ID == nil {
			continue
		}
		var r object
		switch q.Method {
		case "initialize":
			if mode == "slow" {
				time.Sleep(time.Hour)
			}
			r = object{"protocolVersion": q.Params.ProtocolVersion, "capabilities": object{"tools": object{"listChanged": true}}, "serverInfo": object{"name": "t", "version": "1"}}
		case "tools/list":
			r = listed(mode, q.Params.Cursor)
		case "tools/call":
			noise(mode, 256<<10)
			if r = called(q.Params.Name, q.Params.Meta); r == nil {
				continue
			}
		default:
			continue // and hang: nobody answers
		}
		send(object{"id": q.ID, "result": r})
	}
}

func send(o object) {
	o["jsonrpc"] = "2.0"
	data, _ := json.Marshal(o)
	_, _ = os.Stdout.Write(append(data, '\n'))
}

func noise(mode string, n int) {
	if mode == "stderr" {
		_, _ = os.Stderr.WriteString(strings.Repeat("x", n))
	}
}

func plainTools(names ...string) (out []any) {
	for _, n := range names {
		out = append(out, object{"name": n, "description": "does " + n, "inputSchema": object{"type": "object", "properties": object{}}})
	}
	return out
}

func listed(mode, cursor string) object {
	switch mode {
	case "names":
		return object{"tools": plainTools("admin.tools.list", "user/update", "läs fil", "a b", "a_b", "read_file", strings.Repeat("long", 40), strings.Repeat("long", 41))}
	case "schemas":
		return object{"tools": append(plainTools("one", "three"),
			object{"name": "string", "inputSchema": object{"type": "string"}},
			object{"name": "null", "inputSchema": nil},
			object{"name": "number", "description": 5, "inputSchema": object{"type": "object"}},
			object{"name": "only", "inputSchema": object{"$schema": "x"}},
			object{"name": "bare", "inputSchema": object{"type": "object"}},
			object{"name": "ref", "inputSchema": object{"$ref": "#/$defs/A", "$defs": object{"A": object{"type": "object", "properties": object{"x": object{"type": "string"}}, "required": []any{"x"}}}}},
			object{"name": "any", "inputSchema": object{"type": "object", "anyOf": []any{object{"properties": object{"a": object{}}}, object{"properties": object{"b": object{}}}}}},
			7)}
	case "cursor":
		return object{"tools": plainTools("a", "b", "c"), "nextCursor": "same"}
	case "pages":
		next := map[string]string{"": "2", "2": "3"}[cursor]
		return object{"tools": plainTools("page" + cursor), "nextCursor": next}
	}
	return object{"tools": plainTools("text", "big", "blocks", "odd", "structured", "empty", "fails", "image", "env", "hang", "progress", "die", "storm")}
}

func text(s string) object { return object{"type": "text", "text": s} }

// called returns the result of a call, nil for none.
func called(name string, meta object) object {
	var content []any
	switch name {
	case "big":
		content = []any{text(strings.Repeat("z", 4<<20) + "THE END")}
	case "blocks":
		for range 5_000 {
			content = append(content, text(strings.Repeat("b", 50)))
		}
	case "odd":
		content = []any{object{"type": "hologram", "x": 1}, nil, "loose", object{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
			object{"type": "resource", "resource": object{"uri": "file:///r", "text": "of the resource"}}, object{"type": "resource_link", "uri": "file:///l", "name": "link"}}
	case "structured":
		return object{"structuredContent": object{"answer": 42}}
	case "empty":
		return object{"content": []any{}}
	case "fails":
		return object{"content": []any{text("no such table")}, "isError": true}
	case "image":
		content = []any{object{"type": "image", "data": "aGk=", "mimeType": "image/png"}, object{"type": "image", "data": "aGk=", "mimeType": "image/tiff"}}
	case "env":
		content = []any{text(strings.Join(os.Environ(), "\n"))}
	case "hang":
		return nil
	case "progress":
		for i := range 4 {
			time.Sleep(400 * time.Millisecond)
			send(object{"method": "notifications/progress", "params": object{"progressToken": meta["progressToken"], "progress": i}})
		}
		content = []any{text("at last")}
	case "die":
		fmt.Fprintln(os.Stderr, "segmentation fault")
		os.Exit(3)
	case "storm":
		for range 2_000 {
			send(object{"method": "notifications/tools/list_changed"})
		}
		content = []any{text("calm")}
	default:
		content = []any{text("called " + name)}
	}
	return object{"content": content}
}
