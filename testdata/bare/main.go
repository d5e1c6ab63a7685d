// Command bare is the least that can be called an agent: it sends a prompt, reads the event stream, runs the one tool it has
// (reading a file) and prints the text. It is the measure for what anchor's loop, gate and events cost beyond that.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

type content struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	ForID   string          `json:"tool_use_id,omitempty"`
	Content string          `json:"content,omitempty"`
}

type turn struct {
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

const tools = `[{"name":"read_file","description":"Read a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]`

func main() {
	turns := []turn{{"user", []content{{Type: "text", Text: os.Args[len(os.Args)-1]}}}}
	for {
		reply, err := ask(turns)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		turns = append(turns, turn{"assistant", reply})
		var results []content
		for _, c := range reply {
			if c.Type == "tool_use" {
				results = append(results, content{Type: "tool_result", ForID: c.ID, Content: read(c.Input)})
			}
		}
		if results == nil {
			return
		}
		turns = append(turns, turn{"user", results})
	}
}

func read(input json.RawMessage) string {
	var args struct{ Path string }
	if err := json.Unmarshal(input, &args); err != nil {
		return err.Error()
	}
	data, err := os.ReadFile(args.Path)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func ask(turns []turn) ([]content, error) {
	body, err := json.Marshal(map[string]any{"model": "claude-sonnet-5", "max_tokens": 8192, "stream": true, "tools": json.RawMessage(tools), "messages": turns})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var reply []content
	var text, args bytes.Buffer
	for sc := bufio.NewScanner(res.Body); sc.Scan(); {
		data, ok := bytes.CutPrefix(sc.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Block content `json:"content_block"`
			Delta struct {
				Text string
				JSON string `json:"partial_json"`
			}
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return nil, err
		}
		switch e.Type {
		case "content_block_start":
			reply = append(reply, e.Block)
			text.Reset()
			args.Reset()
		case "content_block_delta":
			args.WriteString(e.Delta.JSON)
			if e.Delta.Text != "" {
				text.WriteString(e.Delta.Text)
				line, err := json.Marshal(map[string]string{"type": "text", "text": e.Delta.Text})
				if err != nil {
					return nil, err
				}
				out.Write(append(line, '\n'))
				out.Flush()
			}
		case "content_block_stop":
			last := &reply[len(reply)-1]
			last.Text = text.String()
			if last.Type == "tool_use" {
				last.Input = json.RawMessage(args.String())
			}
		}
	}
	return reply, nil
}
