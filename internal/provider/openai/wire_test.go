package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"anchor/internal/msg"
	"anchor/internal/provider"
	"anchor/internal/provider/openai"
	"anchor/internal/provider/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server plays one answer per request, the last one for all that follow, and checks every body.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	heads  []http.Header
	play   []http.HandlerFunc
}

func serve(t testing.TB, play ...http.HandlerFunc) *server {
	s := &server{play: play}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies, s.heads = append(s.bodies, string(body)), append(s.heads, r.Header)
		now := s.play[min(len(s.bodies), len(s.play))-1]
		s.mu.Unlock()
		if r.Method == "POST" {
			if err := wiretest.OpenAI(body); err != nil {
				t.Errorf("the request breaks a rule: %v\n%s", err, body)
			}
		}
		now(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// stream answers with a stream, each part in a write of its own.
func stream(parts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range parts {
			_, _ = io.WriteString(w, p)
			w.(http.Flusher).Flush()
		}
	}
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func client(t testing.TB, s *server, name string) *provider.Client {
	t.Helper()
	h := provider.NewHTTP()
	t.Cleanup(h.CloseIdleConnections)
	c := openai.New(provider.Endpoint{
		Name: name, BaseURL: s.URL, StallTimeout: 300 * time.Millisecond, HTTP: h, KeyName: "TEST_KEY",
		Key: func(context.Context, string) (string, error) { return "sk-test-key", nil },
	})
	return c
}

func ask(text string) provider.Request {
	return provider.Request{Model: "m", Messages: []msg.Message{&msg.User{Text: text}}, Tools: []msg.Spec{{Name: "read_file", Schema: []byte(`{"type":"object"}`)}}}
}

// run makes a request and returns what was shown, the reply and the error.
func run(c provider.Provider, req provider.Request) (shown string, done provider.Done, err error) {
	var out strings.Builder
	defer func() { shown = out.String() }()
	done, err = c.Stream(context.Background(), req, func(chunk provider.Chunk) {
		switch chunk := chunk.(type) {
		case provider.TextDelta:
			out.WriteString(chunk.Text)
		}
	})
	return shown, done, err
}

func calls(d provider.Done) string {
	var out []string
	for _, c := range d.Reply.Calls() {
		out = append(out, fmt.Sprintf("%s %s %s%s", c.ID, c.Name, c.Args, c.Bad))
	}
	return strings.Join(out, "; ")
}

const (
	ok   = `data: {"choices":[{"delta":{"content":"ok"}}]}` + "\n\n"
	end  = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	tool = `data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"
	over = "data: [DONE]\n\n"
)

func delta(calls string) string {
	return `data: {"choices":[{"delta":{"tool_calls":[` + calls + `]}}]}` + "\n\n"
}

func TestQuirks(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, q := range []struct {
		name  string
		play  string
		text  string
		calls string
		stop  provider.Stop
	}{
		{"plain", ok + end + over, "ok", "", provider.StopEnd},
		{"no [DONE]", ok + end, "ok", "", provider.StopEnd},
		{"CRLF", strings.ReplaceAll(ok+end+over, "\n", "\r\n"), "ok", "", provider.StopEnd},
		{"bare CR", strings.ReplaceAll(ok+end+over, "\n", "\r"), "ok", "", provider.StopEnd},
		{"comments", ": hi\n\n" + ok + ": ping\n" + end, "ok", "", provider.StopEnd},
		{"no blank after data", strings.ReplaceAll(ok+end+over, "data: ", "data:"), "ok", "", provider.StopEnd},
		{"keep-alive as data", "data: : keepalive\n\ndata:\n\n" + ok + end + over, "ok", "", provider.StopEnd},
		{"event names and ids", "event: chunk\nid: 3\n" + ok + "retry: 5\n" + end + over, "ok", "", provider.StopEnd},
		{"no empty line at the end", ok + strings.TrimSpace(end), "ok", "", provider.StopEnd},
		{"a long line", strings.Replace(ok, "ok", long, 1) + end, long, "", provider.StopEnd},
		{"choices empty or null first", `data: {"choices":[]}` + "\n\n" + `data: {"choices":null}` + "\n\n" + ok + end, "ok", "", provider.StopEnd},
		{"delta null at the end", ok + `data: {"choices":[{"delta":null,"finish_reason":"stop"}]}` + "\n\n", "ok", "", provider.StopEnd},
		{"content as parts", `data: {"choices":[{"delta":{"content":[{"type":"text","text":"ok"}]}}]}` + "\n\n" + end, "ok", "", provider.StopEnd},
		{"escapes", `data: {"choices":[{"delta":{"content":"a\n\"\u00e9\ud83d\ude00"}}]}` + "\n\n" + end, "a\n\"é😀", "", provider.StopEnd},
		{"a whole message", `data: {"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}` + "\n\n", "ok", "", provider.StopEnd},
		{"a message after deltas", ok + `data: {"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}` + "\n\n", "ok", "", provider.StopEnd},
		{"cut at the limit", ok + `data: {"choices":[{"delta":{},"finish_reason":"length"}]}` + "\n\n", "ok", "", provider.StopLength},
		{"filtered", `data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}` + "\n\n", "", "", provider.StopRefusal},
		{"refusal", `data: {"choices":[{"delta":{"refusal":"no"}}]}` + "\n\n" + end, "no", "", provider.StopRefusal},
		{"empty", end + over, "", "", provider.StopEnd},

		{"one call", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`) + delta(`{"index":0,"function":{"arguments":"{\"x\""}}`) + delta(`{"index":0,"function":{"arguments":":1}"}}`) + tool, "", `a f {"x":1}`, provider.StopTools},
		{"stop with calls", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + end, "", "a f {}", provider.StopTools},
		{"no index", delta(`{"id":"x1","function":{"name":"f","arguments":"{\"a\":1}"}}`) + delta(`{"id":"x2","function":{"name":"f","arguments":"{\"b\":2}"}}`) + tool, "", `x1 f {"a":1}; x2 f {"b":2}`, provider.StopTools},
		{"no index, in pieces", delta(`{"id":"x","function":{"name":"f","arguments":"{\"a\""}}`) + delta(`{"function":{"arguments":":1}"}}`) + tool, "", `x f {"a":1}`, provider.StopTools},
		{"no index, no id", delta(`{"function":{"name":"f","arguments":"{\"a\":1}"}}`) + delta(`{"function":{"name":"f","arguments":"{\"b\":2}"}}`) + tool, "", `call_1 f {"a":1}; call_2 f {"b":2}`, provider.StopTools},
		{"no index, no id, one delta", delta(`{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}}`) + tool, "", `call_1 f {}; call_2 g {}`, provider.StopTools},
		{"the same index twice", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}}`) + delta(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"b\":2}"}}`) + tool, "", `a f {"a":1}; b f {"b":2}`, provider.StopTools},
		{"the same index twice, no id", delta(`{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}}`) + delta(`{"index":0,"function":{"name":"f","arguments":"{\"b\":2}"}}`) + tool, "", `call_1 f {"a":1}; call_2 f {"b":2}`, provider.StopTools},
		{"the same index, the tail elsewhere", delta(`{"index":0,"id":"c1","function":{"name":"list_dir","arguments":"{\"path\":\".\"}"}}`) + delta(`{"index":0,"id":"c2","function":{"name":"read_file","arguments":"{\"pa"}}`) + delta(`{"index":1,"function":{"arguments":"th\":\"a.txt\"}"}}`) + tool, "", `c1 list_dir {"path":"."}; c2 read_file {"path":"a.txt"}`, provider.StopTools},
		{"index from 1", delta(`{"index":1,"id":"a","function":{"name":"f","arguments":"{"}}`) + delta(`{"index":2,"id":"b","function":{"name":"g","arguments":"{"}}`) + delta(`{"index":1,"function":{"arguments":"}"}}`) + delta(`{"index":2,"function":{"arguments":"}"}}`) + tool, "", "a f {}; b g {}", provider.StopTools},
		{"the same id twice", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}}`) + delta(`{"index":1,"id":"a","function":{"name":"f","arguments":"{\"b\":2}"}}`) + tool, "", `a f {"a":1}; a_2 f {"b":2}`, provider.StopTools},
		{"id and name repeated", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\""}}`) + delta(`{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`) + tool, "", `a f {"a":1}`, provider.StopTools},
		{"name repeated, no id", delta(`{"index":0,"function":{"name":"f","arguments":"{\"a\""}}`) + delta(`{"index":0,"function":{"name":"f","arguments":":1}"}}`) + tool, "", `call_1 f {"a":1}`, provider.StopTools},
		{"the whole call once more", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}}`) + delta(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}}`) + tool, "", `a f {"a":1}`, provider.StopTools},
		{"a placeholder first", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + delta(`{"index":0,"id":"a","function":{"arguments":"{\"a\":1}"}}`) + tool, "", `a f {"a":1}`, provider.StopTools},
		{"id null, then late", delta(`{"index":0,"id":null,"function":{"name":"f","arguments":"{"}}`) + delta(`{"index":0,"id":"z","function":{"arguments":"}"}}`) + tool, "", "z f {}", provider.StopTools},
		{"arguments as an object", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":{"path":"a.txt"}}}`) + tool, "", `a f {"path":"a.txt"}`, provider.StopTools},
		{"arguments as a string in a string", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":"\"{\\\"a\\\":1}\""}}`) + tool, "", `a f {"a":1}`, provider.StopTools},
		{"arguments empty, null, missing", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"f","arguments":null}},{"index":2,"id":"c","function":{"name":"f"}},{"index":3,"id":"d","function":{"name":"f","arguments":"null"}}`) + tool, "", "a f {}; b f {}; c f {}; d f {}", provider.StopTools},
		{"a whole message with an object", `data: {"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"path":"a.txt"}}}]},"finish_reason":"tool_calls"}]}` + "\n\n", "", `a f {"path":"a.txt"}`, provider.StopTools},
		{"invalid arguments", delta(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\": tru"}}`) + tool, "", `a f {"a": tru`, provider.StopTools},
	} {
		t.Run(q.name, func(t *testing.T) {
			shown, done, err := run(client(t, serve(t, stream(q.play)), "x"), ask("hi"))
			if err != nil {
				t.Fatal(err)
			}
			if shown != q.text || done.Reply.Text() != q.text || done.Stop != q.stop || calls(done) != q.calls {
				t.Errorf("shown %.50q, text %.50q, stop %d, calls %q", shown, done.Reply.Text(), done.Stop, calls(done))
			}
		})
	}
}

// Packets end anywhere, also within a character and between CR and LF.
func TestBytePackets(t *testing.T) {
	play := strings.Split(strings.ReplaceAll(strings.Replace(ok, "ok", "né €uro 😀", 1)+end+over, "\n", "\r\n"), "")
	shown, _, err := run(client(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, p := range []byte(strings.Join(play, "")) {
			_, _ = w.Write([]byte{p})
			w.(http.Flusher).Flush()
		}
	}), "x"), ask("hi"))
	if shown != "né €uro 😀" || err != nil {
		t.Errorf("%q, %v", shown, err)
	}
}

func TestUsage(t *testing.T) {
	u := `"usage":{"prompt_tokens":500,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":128}}`
	want := provider.Usage{Input: 500, Output: 7, Cached: 128, Known: true}
	for name, play := range map[string]string{
		"a chunk with empty choices":  ok + end + `data: {"choices":[],` + u + "}\n\n" + over,
		"a chunk with null choices":   ok + end + `data: {"choices":null,` + u + "}\n\n" + over,
		"a chunk without choices":     ok + end + `data: {` + u + "}\n\n" + over,
		"in the last chunk":           ok + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],` + u + "}\n\n" + over,
		"in every chunk":              `data: {"choices":[{"delta":{"content":"ok"}}],"usage":{"prompt_tokens":1}}` + "\n\n" + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],` + u + "}\n\n",
		"before the end, then nulled": `data: {"choices":[{"delta":{"content":"ok"}}],` + u + "}\n\n" + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}` + "\n\n" + over,
		"in a choice":                 ok + `data: {"choices":[{"delta":{},"finish_reason":"stop",` + u + "}]}\n\n" + over,
		"of Groq":                     ok + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{` + u + "}}\n\n" + over,
	} {
		if _, done, err := run(client(t, serve(t, stream(play)), "x"), ask("hi")); err != nil || done.Usage != want {
			t.Errorf("%s: %+v, %v", name, done.Usage, err)
		}
	}
	if _, done, _ := run(client(t, serve(t, stream(ok+end+over)), "x"), ask("hi")); done.Usage != (provider.Usage{}) {
		t.Errorf("without numbers: %+v", done.Usage)
	}
}

// A whole answer in JSON comes from servers that do not stream, and what a server calls it means little.
func TestJSONAnswer(t *testing.T) {
	const whole = `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`
	for name, of := range map[string][2]string{"as it is": {"application/json", whole}, "after keep-alives": {"application/json", "\n\n \n" + whole}, "as a stream": {"text/event-stream", whole},
		"a stream as JSON": {"application/json", ok + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}` + "\n\n"}} {
		shown, done, err := run(client(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", of[0])
			_, _ = io.WriteString(w, of[1])
		}), "x"), ask("hi"))
		if shown != "ok" || done.Usage.Input != 3 || err != nil {
			t.Errorf("%s: %q %+v %v", name, shown, done, err)
		}
	}
}

func TestBroken(t *testing.T) {
	hang := func(parts ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			stream(parts...)(w, r)
			<-r.Context().Done()
		}
	}
	for _, q := range []struct {
		name string
		play http.HandlerFunc
		kind provider.Kind
		says string
	}{
		{"ends without an end", stream(ok), provider.Broken, "ended before its end"},
		{"[DONE] without an end", stream(ok, over), provider.Broken, "ended before its end"},
		{"nothing at all", stream(), provider.Broken, "ended before its end"},
		{"stalls", hang(ok), provider.Broken, "nothing came for 300ms"},
		{"never begins", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, provider.Broken, "did not begin to answer within 300ms"},
		{"is no JSON", stream("data: oops\n\n"), provider.Broken, "not understood"},
		{"is cut", func(w http.ResponseWriter, r *http.Request) { stream(ok)(w, r); panic(http.ErrAbortHandler) }, provider.Broken, "closed the connection"},
		{"gives up", stream(ok, `data: {"choices":[{"delta":{},"finish_reason":"error"}]}`+"\n\n"), provider.Broken, "gave up"},
		{"an error frame", stream(`data: {"error":{"code":"server_error","message":"template rejected roles"}}`+"\n\n", over), provider.Server, "template rejected roles"},
		{"an error frame with a number", stream(`data: {"error":{"code":429,"message":"slow down"}}`+"\n\n", over), provider.Rate, "slow down"},
		{"an error without a frame", stream(`data: {"object":"error","message":"template rejected roles","code":400}` + "\n\n"), provider.BadRequest, "template rejected roles"},
		{"an error as text", stream(`data: {"error":"out of memory"}` + "\n\n"), provider.Server, "out of memory"},
		{"too long in the stream", stream(`data: {"error":{"code":"context_length_exceeded","message":"too long"}}` + "\n\n"), provider.TooLong, "too long"},
		{"a web page", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<html><head><title>Welcome &amp; log in</title></head><body>...")
		}, provider.BadRequest, "Welcome & log in"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://u:p@other.example/v1?key=1", http.StatusMovedPermanently)
		}, provider.BadRequest, "https://other.example/v1;"},
	} {
		t.Run(q.name, func(t *testing.T) {
			_, _, err := run(client(t, serve(t, q.play), "x"), ask("hi"))
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind != q.kind || !strings.Contains(e.Error(), q.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

// After its end a reply is over, whatever the server does with the connection.
func TestKeptOpen(t *testing.T) {
	for name, parts := range map[string][]string{"[DONE]": {ok, end, over}, "finish_reason": {ok, end}} {
		begin := time.Now()
		shown, _, err := run(client(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			stream(parts...)(w, r)
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, ": ping\n\n")
				w.(http.Flusher).Flush()
				time.Sleep(20 * time.Millisecond)
			}
		}), "x"), ask("hi"))
		if shown != "ok" || err != nil || time.Since(begin) > 5*time.Second {
			t.Errorf("%s: %q, %v after %v", name, shown, err, time.Since(begin))
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := client(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		stream(ok)(w, r)
		<-r.Context().Done()
	}), "x")
	_, err := c.Stream(ctx, ask("hi"), func(provider.Chunk) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
