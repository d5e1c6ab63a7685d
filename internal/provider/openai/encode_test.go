package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"anchor/internal/msg"
	"anchor/internal/provider"
)

// sent returns the messages of the newest request, one JSON object each.
func (s *server) sent(t *testing.T) []string {
	t.Helper()
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal([]byte(s.bodies[len(s.bodies)-1]), &body); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range body.Messages {
		out = append(out, string(m))
	}
	return out
}

func TestMessages(t *testing.T) {
	png := []msg.Image{{Type: "image/png", Data: []byte("png")}}
	reply := &msg.Assistant{Provider: "x", Model: "m", Blocks: []msg.Block{
		msg.Thinking{Text: "hm", Signature: "reasoning_content"},
		msg.Thinking{Redacted: `extra_content:{"google":{"thought_signature":"S"}}`},
		msg.Call{ID: "a", Name: "f", Args: json.RawMessage(`{"p":1}`)}, msg.Call{ID: "b", Name: "read file", Bad: "{"},
	}}
	req := ask("hi")
	req.System = "Be <good>."
	req.Messages = []msg.Message{
		&msg.Summary{Text: "long ago"}, &msg.User{Text: "look"}, &msg.User{Text: "here", Images: png}, reply,
		&msg.Tool{CallID: "a", Name: "f", OK: true, Text: "one", Images: png}, &msg.Tool{CallID: "b", Name: "f", Text: "(no output)"},
		&msg.Note{Text: "careful"}, &msg.Assistant{Blocks: []msg.Block{msg.Text{Text: " "}}}, &msg.User{Text: " ", Images: []msg.Image{{Type: "image/bmp", Data: []byte("x")}}},
		&msg.Assistant{Blocks: []msg.Block{msg.Text{Text: "a"}}}, &msg.Assistant{Blocks: []msg.Block{msg.Text{Text: "b"}}},
	}
	want := []string{
		`{"role":"system","content":"Be <good>."}`,
		`{"role":"user","content":[{"type":"text","text":"<summary>\nlong ago\n</summary>\n\nlook\n\nhere"},{"image_url":{"url":"data:image/png;base64,cG5n"},"type":"image_url"}]}`,
		`{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"p\":1}"},"extra_content":{"google":{"thought_signature":"S"}}},{"id":"b","type":"function","function":{"name":"read_file","arguments":"{}"}}]}`,
		`{"role":"tool","tool_call_id":"a","content":"one"}`,
		`{"role":"tool","tool_call_id":"b","content":"(no output)"}`,
		`{"role":"user","content":[{"type":"text","text":"<note>\ncareful\n</note>"},{"image_url":{"url":"data:image/png;base64,cG5n"},"type":"image_url"},{"text":"[an image of type image/bmp was left out: models take PNG, JPEG, GIF and WebP]","type":"text"}]}`,
		`{"role":"assistant","content":"a"}`, `{"role":"user","content":"Go on."}`, `{"role":"assistant","content":"b"}`,
	}
	s := serve(t, stream(ok+end))
	c := client(t, s, "x")
	for range 2 { // the second time from what was kept
		if _, _, err := run(c, req); err != nil {
			t.Fatal(err)
		}
		if got := s.sent(t); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestThinkingGoesBackInItsField(t *testing.T) {
	for _, field := range []string{"reasoning", "reasoning_content"} {
		s := serve(t, stream(`data: {"choices":[{"delta":{"`+field+`":"hm"}}]}`+"\n\n", ok, end), stream(ok, end))
		c := client(t, s, "x")
		req := ask("hi")
		_, done, _ := run(c, req)
		req.Messages = append(req.Messages, done.Reply, &msg.User{Text: "on"})
		_, _, err := run(c, req)
		if want := `"` + field + `":"hm"`; err != nil || !strings.Contains(s.sent(t)[1], want) {
			t.Errorf("%s: %v %s", field, err, s.sent(t))
		}
	}
}

func TestFields(t *testing.T) {
	s := serve(t, stream(ok+end))
	c := client(t, s, "x")
	req := ask("hi")
	req.MaxTokens, req.Effort, req.NoCalls = 99, "off", true
	req.Tools = []msg.Spec{{Name: "f", Description: "d", Schema: []byte(`{"$schema":"x","properties":{"l":{"type":"array"},"o":{"type":"object"}}}`)}}
	if _, _, err := run(c, req); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"max_tokens":99,"model":"m","reasoning_effort":"none","stream":true,"stream_options":{"include_usage":true},`, `"tool_choice":"none"`,
		`"parameters":{"properties":{"l":{"items":{},"type":"array"},"o":{"properties":{},"type":"object"}},"type":"object"}`,
	} {
		if !strings.Contains(s.bodies[0], want) {
			t.Errorf("no %s in %s", want, s.bodies[0])
		}
	}
	if h := s.heads[0]; h.Get("Authorization") != "Bearer sk-test-key" || h.Get("X-Api-Key") != "" {
		t.Errorf("%v", h)
	}
	s = serve(t, stream(ok+end)) // OPENAI_BASE_URL to another host
	if _, _, err := run(client(t, s, "openai"), ask("hi")); err != nil || s.heads[0].Get("X-Api-Key") != "sk-test-key" {
		t.Errorf("%v %v", err, s.heads[0])
	}
}

// What a server refuses is left out of the next try, and of all later requests.
func TestRefusedFields(t *testing.T) {
	for _, q := range []struct{ says, gone, there string }{
		{"Unknown parameter: 'stream_options'", `"stream_options":`, `"max_tokens":99`},
		{"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", `"max_tokens":`, `"max_completion_tokens":99`},
		{"Unrecognized request argument supplied: reasoning_effort", `"reasoning_effort":`, `"max_tokens":99`},
	} {
		s := serve(t, status(400, fmt.Sprintf(`{"error":{"message":%q}}`, q.says)), stream(ok+end))
		c := client(t, s, "x")
		req := ask("hi")
		req.MaxTokens, req.Effort = 99, "low"
		for range 2 {
			if _, _, err := run(c, req); err != nil {
				t.Fatalf("%s: %v", q.says, err)
			}
		}
		if len(s.bodies) != 3 || strings.Contains(s.bodies[2], q.gone) || !strings.Contains(s.bodies[1], q.there) {
			t.Errorf("%s: %d requests, the last %s", q.says, len(s.bodies), s.bodies[len(s.bodies)-1])
		}
	}
	s := serve(t, status(400, `{"error":{"message":"bad max_tokens"}}`))
	if _, _, err := run(client(t, s, "x"), ask("hi")); err == nil || len(s.bodies) != 1 {
		t.Errorf("a field that was not sent: %d requests, %v", len(s.bodies), err)
	}
}

// A server that begins its ids again with each reply gets unique ones back, and Mistral gets them in its own form.
func TestIDs(t *testing.T) {
	turn := stream(delta(`{"index":0,"id":"shell:0","function":{"name":"f","arguments":"{}"}}`) + tool)
	s := serve(t, turn)
	for _, name := range []string{"x", "mistral"} {
		c := client(t, s, name)
		req := ask("hi")
		seen := map[string]bool{}
		for range 4 {
			_, done, err := run(c, req)
			if err != nil {
				t.Fatal(err)
			}
			id := done.Reply.Calls()[0].ID
			if seen[id] {
				t.Errorf("%s: id %q came twice", name, id)
			}
			seen[id] = true
			req.Messages = append(req.Messages, done.Reply, &msg.Tool{CallID: id, Name: "f", Text: "r"})
		}
	}
	var m struct {
		ID string `json:"tool_call_id"`
	}
	if err := json.Unmarshal([]byte(s.sent(t)[2]), &m); err != nil || len(m.ID) != 9 {
		t.Errorf("for Mistral: %q, %v", m.ID, err)
	}
}

func TestStablePrefix(t *testing.T) {
	s := serve(t, stream(delta(`{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}`)+tool))
	c := client(t, s, "x")
	req := ask("hi")
	req.System = "system"
	for range 50 {
		_, done, err := run(c, req)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, done.Reply, &msg.Tool{CallID: done.Reply.Calls()[0].ID, Name: "f", Text: "r"})
	}
	for i := 1; i < len(s.bodies); i++ {
		if before := strings.TrimSuffix(s.bodies[i-1], "]}"); !strings.HasPrefix(s.bodies[i], before) {
			t.Fatalf("request %d does not begin with request %d", i, i-1)
		}
	}
}

func TestModels(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/v1/models":
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"qwen3:8b","max_model_len":4096},{"id":"llama","meta":{"n_ctx_train":131072,"n_ctx":8192}},{"id":"r","context_length":200000}]}`)
		case "/v1/chat/completions":
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"error":{"message":"The model 'm' does not exist","code":"model_not_found"}}`)
		}
	})
	list, err := client(t, s, "x").Models(context.Background(), provider.ListTimeout)
	if want := "[{qwen3:8b 4096} {llama 8192} {r 200000}]"; fmt.Sprint(list) != want || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	req := ask("hi")
	req.Model = "qwen-3"
	_, _, err = run(client(t, s, "x"), req)
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.NoModel || !strings.Contains(e.Advice, "qwen3:8b") {
		t.Errorf("%v", err)
	}
}

func BenchmarkStream1MB(b *testing.B) {
	line := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"The quick brown fox "},"finish_reason":null}]}` + "\n\n"
	play := strings.Repeat(line, 50_000) + end + over
	s := serve(b, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, play) })
	c := client(b, s, "x")
	b.SetBytes(1_000_000)
	for b.Loop() {
		if _, _, err := run(c, ask("hi")); err != nil {
			b.Fatal(err)
		}
	}
}
