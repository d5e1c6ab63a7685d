package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/provider/anthropic"
	"anchor/internal/provider/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server plays one answer per request, the last one for all that follow, and checks every body.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	heads  []http.Header
	paths  []string
}

func serve(t testing.TB, play ...http.HandlerFunc) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies, s.heads, s.paths = append(s.bodies, string(body)), append(s.heads, r.Header), append(s.paths, r.URL.Path)
		now := play[min(len(s.bodies), len(play))-1]
		s.mu.Unlock()
		if r.Method == "POST" {
			if err := wiretest.Anthropic(body); err != nil {
				t.Errorf("the request breaks a rule: %v\n%s", err, body)
			}
		}
		now(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func stream(parts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range parts {
			_, _ = io.WriteString(w, p)
			w.(http.Flusher).Flush()
		}
	}
}

func client(t testing.TB, base string) *provider.Client {
	t.Helper()
	h := provider.NewHTTP()
	t.Cleanup(h.CloseIdleConnections)
	c := anthropic.New(provider.Endpoint{
		Name: "anthropic", BaseURL: base, StallTimeout: 300 * time.Millisecond, HTTP: h, KeyName: "ANTHROPIC_API_KEY",
		Key: func(context.Context, string) (string, error) { return "sk-test-key", nil },
	})
	return c
}

func ask(text string) provider.Request {
	return provider.Request{
		Model: "claude-sonnet-5", System: "Be good.", Messages: []msg.Message{&msg.User{Text: text}},
		Tools: []msg.Spec{{Name: "f", Schema: []byte(`{"type":"object"}`)}, {Name: "g", Schema: []byte(`{"type":"object","properties":{}}`)}},
	}
}

func run(c provider.Provider, req provider.Request) (shown string, done provider.Done, err error) {
	var out strings.Builder
	defer func() { shown = out.String() }()
	done, err = c.Stream(context.Background(), req, func(chunk provider.Chunk) {
		switch chunk := chunk.(type) {
		case provider.TextDelta:
			out.WriteString(chunk.Text)
		case provider.ThinkingDelta:
			out.WriteString("(" + chunk.Text + ")")
		}
	})
	return shown, done, err
}

// ev is an event with its data.
func ev(kind, rest string) string {
	if rest != "" {
		rest = "," + rest
	}
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n"
}

func begin(i int, block string) string {
	return ev("content_block_start", fmt.Sprintf(`"index":%d,"content_block":{%s}`, i, block))
}

func piece(i int, delta string) string {
	return ev("content_block_delta", fmt.Sprintf(`"index":%d,"delta":{%s}`, i, delta))
}

func text(i int, s string) string {
	return begin(i, `"type":"text","text":""`) + piece(i, `"type":"text_delta","text":"`+s+`"`) + ev("content_block_stop", fmt.Sprintf(`"index":%d`, i))
}

func use(i int, id, args string) string {
	a, _ := json.Marshal(args)
	return begin(i, `"type":"tool_use","id":"`+id+`","name":"f","input":{}`) + piece(i, `"type":"input_json_delta","partial_json":`+string(a))
}

func stop(reason string) string {
	return ev("message_delta", `"delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":7}`) + ev("message_stop", "")
}

var first = ev("message_start", `"message":{"usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":200,"cache_creation_input_tokens":30}}`)

// blocks is a reply in short.
func blocks(a *msg.Assistant) string {
	var out []string
	for _, b := range a.Blocks {
		switch b := b.(type) {
		case msg.Text:
			out = append(out, "text "+b.Text)
		case msg.Thinking:
			out = append(out, "thinking "+b.Text+" "+b.Signature+b.Redacted)
		case msg.Call:
			out = append(out, "call "+b.ID+" "+string(b.Args)+b.Bad)
		}
	}
	return strings.Join(out, "; ")
}

func TestReplies(t *testing.T) {
	for _, q := range []struct {
		name, play, shown, blocks string
		stop                      provider.Stop
	}{
		{"text", first + text(0, "ok") + stop("end_turn"), "ok", "text ok", provider.StopEnd},
		{"CRLF, comments", strings.ReplaceAll(": hi\n\n"+first+text(0, "ok")+stop("end_turn"), "\n", "\r\n"), "ok", "text ok", provider.StopEnd},
		{"pings and unknown events", first + ev("ping", "") + text(0, "ok") + ev("wonder", `"x":1`) + piece(0, `"type":"wonder_delta","wonder":1`) + stop("end_turn"), "ok", "text ok", provider.StopEnd},
		{"an unknown block", first + begin(0, `"type":"wonder","text":""`) + text(1, "ok") + stop("end_turn"), "ok", "text ok", provider.StopEnd},
		{"a block that did not begin", first + piece(0, `"type":"text_delta","text":"ok"`) + stop("end_turn"), "ok", "text ok", provider.StopEnd},
		{"thinking", first + begin(0, `"type":"thinking","thinking":"","signature":""`) + piece(0, `"type":"thinking_delta","thinking":"hm"`) + piece(0, `"type":"signature_delta","signature":"si"`) + piece(0, `"type":"signature_delta","signature":"g"`) + begin(1, `"type":"redacted_thinking","data":"R"`) + text(2, "ok") + stop("end_turn"), "(hm)ok", "thinking hm sig; thinking  R; text ok", provider.StopEnd},
		{"thinking kept back", first + begin(0, `"type":"thinking","thinking":""`) + piece(0, `"type":"signature_delta","signature":"sig"`) + text(1, "ok") + stop("end_turn"), "ok", "thinking  sig; text ok", provider.StopEnd},
		{"calls", first + use(0, "a", `{"x":1}`) + use(1, "b", "") + stop("tool_use"), "", `call a {"x":1}; call b {}`, provider.StopTools},
		{"an empty text beside a call", first + begin(0, `"type":"text","text":""`) + use(1, "a", "{}") + stop("tool_use"), "", "call a {}", provider.StopTools},
		{"the input at the start", first + begin(0, `"type":"tool_use","id":"a","name":"f","input":{"x":1}`) + stop("tool_use"), "", `call a {"x":1}`, provider.StopTools},
		{"the same id twice", first + use(0, "a", "{}") + use(1, "a", "{}") + stop("tool_use"), "", "call a {}; call a_2 {}", provider.StopTools},
		{"bad input", first + use(0, "a", `{"x":`) + stop("tool_use"), "", `call a {"x":`, provider.StopTools},
		{"input that is no object", first + use(0, "a", `[1]`) + stop("tool_use"), "", "call a [1]", provider.StopTools},
		{"cut in a call", first + use(0, "a", `{"x":"<html`) + stop("max_tokens"), "", `call a {"x":"<html`, provider.StopLength},
		{"paused", first + text(0, "Searching") + stop("pause_turn"), "Searching", "text Searching", provider.StopPause},
		{"refused", first + stop("refusal"), "", "", provider.StopRefusal},
		{"window", first + text(0, "ok") + stop("model_context_window_exceeded"), "ok", "text ok", provider.StopWindow},
		{"no last empty line", first + text(0, "ok") + strings.TrimSpace(stop("end_turn")), "ok", "text ok", provider.StopEnd},
	} {
		t.Run(q.name, func(t *testing.T) {
			shown, done, err := run(client(t, serve(t, stream(q.play)).URL), ask("hi"))
			if err != nil {
				t.Fatal(err)
			}
			if shown != q.shown || blocks(done.Reply) != q.blocks || done.Stop != q.stop {
				t.Errorf("%q, %q, %d", shown, blocks(done.Reply), done.Stop)
			}
			if want := (provider.Usage{Input: 240, Output: 7, Cached: 200, Known: true}); done.Usage != want {
				t.Errorf("usage %+v", done.Usage)
			}
		})
	}
}

func TestBytePackets(t *testing.T) {
	play := first + text(0, "平台 ✅ é") + use(1, "a", `{"c":"渐😀"}`) + stop("tool_use")
	shown, done, err := run(client(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, b := range []byte(play) {
			_, _ = w.Write([]byte{b})
			w.(http.Flusher).Flush()
		}
	}).URL), ask("hi"))
	if shown != "平台 ✅ é" || err != nil || blocks(done.Reply) != `text 平台 ✅ é; call a {"c":"渐😀"}` {
		t.Errorf("%q %q %v", shown, blocks(done.Reply), err)
	}
}

func TestFaults(t *testing.T) {
	fault := func(kind, message string) string {
		return ev("error", `"error":{"type":"`+kind+`","message":"`+message+`"}`)
	}
	reply := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, q := range []struct {
		name string
		play http.HandlerFunc
		kind provider.Kind
		says string
	}{
		{"ends cleanly before its end", stream(first, use(0, "a", `{"command":`)), provider.Broken, "ended before its end"},
		{"nothing", stream(), provider.Broken, "ended before its end"},
		{"stalls", func(w http.ResponseWriter, r *http.Request) { stream(first)(w, r); <-r.Context().Done() }, provider.Broken, "nothing came for 300ms"},
		{"never begins", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, provider.Broken, "did not begin"},
		{"is cut", func(w http.ResponseWriter, r *http.Request) { stream(first)(w, r); panic(http.ErrAbortHandler) }, provider.Broken, "closed the connection"},
		{"half an event", stream(first, "data: {\"type\":\"message_st"), provider.Broken, "not understood"},
		{"overloaded in the stream", stream(first, fault("overloaded_error", "Overloaded for sk-test-key")), provider.Overloaded, "529: Overloaded for [key]"},
		{"too long in the stream", stream(fault("invalid_request_error", "prompt is too long: 3 tokens > 2 maximum")), provider.TooLong, "too long"},
		{"an error of a new kind", stream(fault("wonder_error", "oh")), provider.Server, "oh"},
		{"wrong key", reply(401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key sk-test-key"}}`), provider.Auth, "invalid x-api-key [key]. Check the key in ANTHROPIC_API_KEY"},
		{"a page", reply(502, "<html><title>Bad Gateway</title>"), provider.Server, "502: Bad Gateway"},
		{"slow down", reply(429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`), provider.Rate, "slow"},
	} {
		t.Run(q.name, func(t *testing.T) {
			_, _, err := run(client(t, serve(t, q.play).URL), ask("hi"))
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind != q.kind || !strings.Contains(e.Error(), q.says) || strings.Contains(e.Error(), "sk-test") {
				t.Fatalf("%v", err)
			}
			if e.Kind == provider.Rate && e.After != 7*time.Second {
				t.Errorf("after %v", e.After)
			}
		})
	}
}

func TestNotReached(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := serve(t, stream())
	for url, want := range map[string]provider.Kind{
		closed.URL: provider.Network, secure.URL: provider.TLS, strings.Replace(plain.URL, "http:", "https:", 1): provider.TLS, "http://no-such-host.invalid": provider.Network,
	} {
		h := provider.NewHTTP()
		defer h.CloseIdleConnections()
		c := anthropic.New(provider.Endpoint{BaseURL: strings.Replace(url, "//", "//user:secret@", 1) + "?key=secret", HTTP: h})
		_, _, err := run(c, ask("hi"))
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != want || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// After message_stop the reply is over though the server keeps the connection open, and what it closes serves again.
func TestConnection(t *testing.T) {
	begun := time.Now()
	_, _, err := run(client(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		stream(first, text(0, "ok"), stop("end_turn"))(w, r)
		<-r.Context().Done()
	}).URL), ask("hi"))
	if err != nil || time.Since(begun) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	used := map[string]bool{}
	c := client(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		used[r.RemoteAddr] = true
		stream(first, text(0, "ok"), stop("end_turn"))(w, r)
	}).URL)
	for range 5 {
		if _, _, err := run(c, ask("hi")); err != nil {
			t.Fatal(err)
		}
	}
	if len(used) != 1 {
		t.Errorf("%d connections for 5 requests", len(used))
	}
}

func TestAddressesAndHeaders(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-env")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Odd: 1")
	s := serve(t, stream(first, stop("end_turn")))
	for _, end := range []string{"", "/", "/v1", "/v1/", "/v1/messages"} {
		if _, _, err := run(client(t, s.URL+end), ask("hi")); err != nil {
			t.Fatal(err)
		}
		if p := s.paths[len(s.paths)-1]; p != "/v1/messages" {
			t.Errorf("%q asks %s", end, p)
		}
	}
	h := s.heads[0]
	if h.Get("X-Api-Key") != "sk-test-key" || h.Get("Authorization") != "Bearer sk-test-key" || h.Get("Anthropic-Version") == "" || h.Get("X-Odd") != "" {
		t.Errorf("%v", h)
	}
}

func TestKeys(t *testing.T) {
	s := serve(t, stream(first, stop("end_turn")))
	broken := anthropic.New(provider.Endpoint{BaseURL: s.URL, Key: func(context.Context, string) (string, error) { return "", errors.New("the variable K is odd") }})
	var e *provider.Error
	if _, _, err := run(broken, ask("hi")); !errors.As(err, &e) || e.Kind != provider.Config || e.Message != "the variable K is odd" {
		t.Errorf("%v", err)
	}
	c := anthropic.New(provider.Endpoint{Name: "anthropic", BaseURL: "https://api.anthropic.com", KeyName: "ANTHROPIC_API_KEY"})
	if _, _, err := run(c, ask("hi")); err == nil || !strings.Contains(err.Error(), "Set ANTHROPIC_API_KEY") {
		t.Errorf("no key: %v", err)
	}
	if len(s.bodies) != 0 {
		t.Errorf("%d requests were made", len(s.bodies))
	}
}

var markPattern = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"\}`)

// Over fifty rounds each request begins with the last one, but for the marks, and these are where they pay.
func TestCaching(t *testing.T) {
	n := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		stream(first, begin(0, `"type":"thinking","thinking":""`), piece(0, `"type":"signature_delta","signature":"s"`), use(1, "same", `{"a":1}`), stop("tool_use"))(w, r)
	})
	c := client(t, s.URL)
	req := ask("hi")
	for i := range 50 {
		_, done, err := run(c, req)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, done.Reply, &msg.Tool{CallID: done.Reply.Calls()[0].ID, Name: "f", OK: true, Text: fmt.Sprint("<result> ", i)})
		if i%7 == 0 {
			req.Messages = append(req.Messages, &msg.Note{Text: "careful"})
		}
	}
	for i, b := range s.bodies {
		if m := len(markPattern.FindAllString(b, -1)); m != min(4, 3+i) {
			t.Errorf("request %d has %d marks", i, m)
		}
		if i == 0 {
			continue
		}
		before, now := markPattern.ReplaceAllString(s.bodies[i-1], ""), markPattern.ReplaceAllString(b, "")
		if !strings.HasPrefix(now, strings.TrimSuffix(before, "]}")) {
			t.Fatalf("request %d does not begin with request %d:\n%s\n%s", i, i-1, before, now)
		}
		if !strings.HasSuffix(b, `,"cache_control":{"type":"ephemeral"}}]}]}`) {
			t.Errorf("request %d is not marked at its end: %s", i, b[len(b)-100:])
		}
	}
}

func TestMessages(t *testing.T) {
	png := []msg.Image{{Type: "image/png", Data: []byte("png")}, {Type: "image/bmp", Data: []byte("x")}}
	s := serve(t, stream(first, stop("end_turn")))
	c := client(t, s.URL)
	reply := &msg.Assistant{Blocks: []msg.Block{
		msg.Thinking{Text: "hm", Signature: "S"}, msg.Thinking{Redacted: "R"}, msg.Text{Text: "t"},
		msg.Call{ID: "shell:0", Name: "odd name!", Args: json.RawMessage(`{"b":1,"a":2}`)}, msg.Call{ID: "c2", Bad: "{", Fault: "x"},
	}}
	req := ask("hi")
	req.NoCalls = true
	req.Messages = []msg.Message{
		&msg.Summary{Text: "old"}, &msg.User{Text: "  ", Images: png}, reply,
		&msg.Tool{CallID: "shell:0", Text: "r", OK: true, Images: png}, &msg.Tool{CallID: "c2", Text: "(no output)"}, &msg.Note{Text: "careful"}, &msg.User{Text: "go <on>"},
	}
	if _, _, err := run(c, req); err != nil {
		t.Fatal(err)
	}
	b := markPattern.ReplaceAllString(s.bodies[0], "")
	for _, want := range []string{
		`"tool_choice":{"type":"none"}`, `"system":[{"type":"text","text":"Be good."}]`, `"max_tokens":32000`,
		`{"role":"user","content":[{"type":"text","text":"<summary>\nold\n</summary>"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},{"type":"text","text":"[an image of type image/bmp`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"S"},{"type":"redacted_thinking","data":"R"},{"type":"text","text":"t"},{"type":"tool_use","id":"`,
		`"name":"odd_name_","input":{"b":1,"a":2}},{"type":"tool_use","id":"c2","name":"unnamed","input":{}}]}`,
		`"is_error":true`, `"content":"(no output)"`, `{"type":"text","text":"<note>\ncareful\n</note>"},{"type":"text","text":"go <on>"}]}`,
	} {
		if !strings.Contains(b, want) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
}

func TestEffort(t *testing.T) {
	s := serve(t, stream(first, stop("end_turn")))
	for _, q := range []struct {
		model, level string
		max          int
		want         string
	}{
		{"claude-sonnet-5", "", 0, `"model":"claude-sonnet-5","stream":true,"system"`},
		{"claude-sonnet-5", "high", 0, `"thinking":{"display":"summarized","type":"adaptive"},"tools"`},
		{"claude-sonnet-5", "low", 0, `"output_config":{"effort":"low"}`},
		{"claude-sonnet-5", "off", 0, `"stream":true,"system":[{"type":"text","text":"Be good.","cache_control":{"type":"ephemeral"}}],"thinking":{"type":"disabled"},"tools"`},
		{"claude-opus-5-5", "off", 0, `"output_config":{"effort":"low"},"stream":true,"system":[{"type":"text","text":"Be good.","cache_control":{"type":"ephemeral"}}],"tools"`},
		{"claude-haiku-4-5", "medium", 0, `"thinking":{"budget_tokens":10000,"type":"enabled"}`},
		{"claude-haiku-4-5", "high", 8000, `"max_tokens":8000,`}, {"claude-haiku-4-5", "high", 8000, `"budget_tokens":4000,`},
		{"claude-haiku-4-5", "high", 1500, `}],"tools"`}, {"claude-3-5-haiku", "high", 0, `}],"tools"`},
		{"glm-5", "low", 0, `"budget_tokens":4096,`},
	} {
		req := ask("hi")
		req.Model, req.Effort, req.MaxTokens = q.model, q.level, q.max
		if _, _, err := run(client(t, s.URL), req); err != nil {
			t.Fatal(err)
		}
		if b := s.bodies[len(s.bodies)-1]; !strings.Contains(b, q.want) {
			t.Errorf("%+v: %s", q, b)
		}
	}
}

func TestNearestModel(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/models" {
			_, _ = io.WriteString(w, `{"data":[{"id":"claude-opus-5","max_input_tokens":1000000},{"id":"claude-sonnet-5"}]}`)
			return
		}
		w.WriteHeader(404)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-sonet-5"}}`)
	})
	req := ask("hi")
	req.Model = "claude-sonet-5"
	c := client(t, s.URL)
	if _, _, err := run(c, req); err == nil || !strings.Contains(err.Error(), "nearest model here is claude-sonnet-5") {
		t.Errorf("%v", err)
	}
	if list, err := c.Models(context.Background(), time.Second); fmt.Sprint(list) != "[{claude-opus-5 1000000} {claude-sonnet-5 0}]" || err != nil {
		t.Errorf("%v %v", list, err)
	}
}

// A round at the end of a long conversation: encode, send, read.
func BenchmarkRound(b *testing.B) {
	for _, rounds := range []int{10, 200} {
		b.Run(fmt.Sprint(rounds), func(b *testing.B) {
			play := first + use(0, "a", "{}") + stop("tool_use")
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, play)
			}))
			defer s.Close()
			req := ask("hi")
			for i := range rounds {
				id := fmt.Sprint("c", i)
				req.Messages = append(req.Messages, &msg.Assistant{Blocks: []msg.Block{msg.Call{ID: id, Name: "f", Args: json.RawMessage(`{}`)}}}, &msg.Tool{CallID: id, OK: true, Text: strings.Repeat("a line of a file\n", 250)})
			}
			c := client(b, s.URL)
			for b.Loop() {
				if _, _, err := run(c, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStream1MB(b *testing.B) {
	play := first + begin(0, `"type":"text","text":""`) + strings.Repeat(piece(0, `"type":"text_delta","text":"The quick brown fox "`), 50_000) + stop("end_turn")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, play) }))
	defer s.Close()
	c := client(b, s.URL)
	b.SetBytes(1_000_000)
	for b.Loop() {
		if _, _, err := run(c, ask("hi")); err != nil {
			b.Fatal(err)
		}
	}
}

// What a bare loop over the same events costs.
func BenchmarkStream1MBFloor(b *testing.B) {
	line := []byte(strings.TrimPrefix(strings.Split(piece(0, `"type":"text_delta","text":"The quick brown fox "`), "\n")[1], "data: "))
	for b.Loop() {
		var out strings.Builder
		for range 50_000 {
			var e struct {
				Type         string
				ContentBlock struct{ Type, Text, ID, Name string } `json:"content_block"`
				Delta        struct {
					Text        string
					PartialJSON string `json:"partial_json"`
				}
			}
			if err := json.Unmarshal(line, &e); err != nil {
				b.Fatal(err)
			}
			out.WriteString(e.Delta.Text)
		}
	}
}
