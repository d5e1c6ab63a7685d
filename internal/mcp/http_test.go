package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anchor/internal/tool"
)

// good is a server over HTTP that works, made with the SDK.
func good() http.Handler {
	s := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "hi"}, func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hi " + r.Extra.Header.Get("X-Key")}}}, nil, nil
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

func serve(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

func TestHTTPServer(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	mcp := good()
	at := serve(t, mcp.ServeHTTP)
	f := setUp(t, "KEY=the-key-of-the-user").start(define(t, "h", object{"url": at + "/mcp", "headers": object{"X-Key": "${KEY}"}}))
	f.status(ready)
	if r, err := f.call(t.Context(), "mcp__h__hi"); err != nil || r.Text != "hi the-key-of-the-user" || strings.Contains(f.o.Gate.Mask(r.Text), "the-key") {
		t.Errorf("%+v %v", r, err)
	}
}

// legacy answers in the protocol of 2025, and hands calls to call.
func legacy(call func(w http.ResponseWriter, r *http.Request, id json.RawMessage)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			ID     json.RawMessage
			Method string
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&q) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var result any
		switch q.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", fmt.Sprint(time.Now().UnixNano()))
			result = object{"protocolVersion": commonest, "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "t", "version": "1"}}
		case "tools/list":
			result = object{"tools": plainTools("hi")}
		case "tools/call":
			call(w, r, q.ID)
			return
		case "server/discover":
			w.WriteHeader(http.StatusBadRequest)
			return
		default:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": q.ID, "result": result})
	}
}

func TestHTTPServersThatMisbehave(t *testing.T) {
	var mu sync.Mutex
	forgot := map[string]bool{}
	first := ""
	for name, c := range map[string]struct {
		call func(w http.ResponseWriter, r *http.Request, id json.RawMessage)
		want string
	}{
		"never answers": {func(_ http.ResponseWriter, r *http.Request, _ json.RawMessage) { <-r.Context().Done() }, "within 1s"},
		"ends the stream": {func(w http.ResponseWriter, _ *http.Request, _ json.RawMessage) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
		}, "MCP server h"},
		"fails": {func(w http.ResponseWriter, _ *http.Request, _ json.RawMessage) { w.WriteHeader(500) }, "MCP server h"},
		"odd content": {func(w http.ResponseWriter, _ *http.Request, id json.RawMessage) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"hologram\"}]}}\n\n", id)
		}, "hologram"},
		"forgets the session": {func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
			mu.Lock()
			defer mu.Unlock()
			if session := r.Header.Get("Mcp-Session-Id"); first == "" || session == first {
				first = session
				forgot[session] = true
				w.WriteHeader(http.StatusNotFound)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"new session"}]}}`, id)
		}, "new session"},
	} {
		t.Run(name, func(t *testing.T) {
			f := setUp(t).start(define(t, "h", object{"url": serve(t, legacy(c.call)), "timeout": 1000}))
			f.status(ready)
			r, err := f.call(t.Context(), "mcp__h__hi")
			if err != nil || !strings.Contains(r.Text, c.want) {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
}

// signInServer is an MCP server, its authorization server in one, and a browser that agrees to all.
type signInServer struct {
	*testing.T
	url, path  string // path: where the metadata of the resource is
	header     bool   // 401 names the metadata
	resource   string // what the metadata says, the address if empty
	registers  bool
	good       http.Handler
	mu         sync.Mutex
	access     string
	refresh    string
	count      int
	registered int
	client     string // that signed in last
	refreshed  int
	wrong      []string
}

func newSignIn(t *testing.T, path string, header, registers bool) *signInServer {
	s := &signInServer{T: t, path: path, header: header, registers: registers, good: good()}
	s.url = serve(t, s.serve)
	return s
}

func (s *signInServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case "/mcp":
		if s.access == "" || r.Header.Get("Authorization") != "Bearer "+s.access {
			if s.header {
				w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.url+s.path+`"`)
			}
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.mu.Unlock()
		defer s.mu.Lock()
		s.good.ServeHTTP(w, r)
	case s.path:
		resource := s.resource
		if resource == "" {
			resource = s.url + "/mcp"
			if s.path == "/.well-known/oauth-protected-resource" {
				resource = s.url
			}
		}
		reply(object{"resource": resource, "authorization_servers": []string{s.url + "/as"}})
	case "/.well-known/oauth-authorization-server/as":
		m := object{"issuer": s.url + "/as", "authorization_endpoint": s.url + "/authorize", "token_endpoint": s.url + "/token",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "client_id_metadata_document_supported": true}
		if s.registers {
			m["registration_endpoint"] = s.url + "/register"
		}
		reply(m)
	case "/register":
		s.registered++
		w.WriteHeader(http.StatusCreated)
		reply(object{"client_id": "registered", "redirect_uris": []string{"http://127.0.0.1/callback"}, "token_endpoint_auth_method": "none"})
	case "/authorize":
		q := r.URL.Query()
		s.client = q.Get("client_id")
		if q.Get("code_challenge_method") != "S256" || !strings.HasPrefix(q.Get("resource"), s.url) {
			s.wrong = append(s.wrong, r.URL.String())
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?code=c&state="+url.QueryEscape(q.Get("state")), http.StatusFound)
	case "/token":
		_ = r.ParseForm()
		if r.Form.Get("grant_type") == "refresh_token" {
			if s.refreshed++; r.Form.Get("refresh_token") != s.refresh {
				w.WriteHeader(http.StatusBadRequest)
				reply(object{"error": "invalid_grant"})
				return
			}
		}
		s.count++
		s.access, s.refresh = fmt.Sprintf("access-token-%d", s.count), fmt.Sprintf("refresh-token-%d", s.count)
		reply(object{"access_token": s.access, "refresh_token": s.refresh, "token_type": "Bearer", "expires_in": 3600})
	default:
		http.NotFound(w, r)
	}
}

// browse opens the address as a browser would.
func (s *signInServer) browse(address string) {
	go func() {
		resp, err := http.Get(address)
		if err == nil {
			resp.Body.Close()
		}
	}()
}

func TestSignIn(t *testing.T) {
	const root = "/.well-known/oauth-protected-resource"
	for name, c := range map[string]struct {
		path      string
		header    bool
		registers bool
		resource  string
		oauth     object
		want      string // in the error
	}{
		"named by the header": {path: "/meta", header: true, registers: true},
		"at the path":         {path: root + "/mcp", registers: true},
		"at the root":         {path: root, registers: true},
		"no registration":     {path: root, want: `"clientId"`},
		"a configured client": {path: root, oauth: object{"clientId": "mine"}},
		"a metadata document": {path: root, registers: true, oauth: object{"clientId": "https://me.example/client.json"}},
		"of somebody else's":  {path: "/meta", header: true, registers: true, resource: "https://evil.example/mcp", want: "does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSignIn(t, c.path, c.header, c.registers)
			s.resource = c.resource
			f := setUp(t)
			d := define(t, "h", object{"url": s.url + "/mcp", "oauth": c.oauth})
			tools, err := f.o.Login(t.Context(), d, s.browse, strings.NewReader(""))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v %v", tools, err)
				}
				return
			}
			if err != nil || tools != 1 || len(s.wrong) > 0 {
				t.Fatal(tools, err, s.wrong)
			}
			if id := c.oauth["clientId"]; id != nil && s.client != id {
				t.Errorf("the client was %s", s.client)
			}
			f.start(d)
			f.status(ready)
		})
	}
}

func TestABrowserOnAnotherMachine(t *testing.T) {
	s := newSignIn(t, "/.well-known/oauth-protected-resource", false, true)
	f := setUp(t)
	pasted, keyboard := io.Pipe()
	defer keyboard.Close()
	elsewhere := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	tools, err := f.o.Login(t.Context(), define(t, "h", object{"url": s.url + "/mcp"}), func(address string) {
		go func() {
			if resp, err := elsewhere.Get(address); err == nil {
				resp.Body.Close()
				fmt.Fprintf(keyboard, "what now?\n %s\n", resp.Header.Get("Location"))
			}
		}()
	}, pasted)
	if err != nil || tools != 1 {
		t.Error(tools, err)
	}
}

func TestTokensRotate(t *testing.T) {
	s := newSignIn(t, "/.well-known/oauth-protected-resource", true, true)
	f := setUp(t)
	d := define(t, "h", object{"url": s.url + "/mcp"})
	f.start(d)
	f.status(signIn)
	if !strings.Contains(f.said(), "anchor mcp login h") {
		t.Error(f.said())
	}
	if _, err := f.o.Login(t.Context(), d, s.browse, strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		expire(t, f.o, d, i%2 == 0, s)
		g := &fixture{T: t, o: f.o}
		g.set = Start(t.Context(), f.o, []Definition{d, named(d, "two"), named(d, "three")}) // three that refresh at once
		g.status(ready)
		if r, err := g.call(t.Context(), "mcp__h__hi"); err != nil || r.Outcome != tool.OK || strings.Contains(f.o.Gate.Mask(s.access), "access-token") {
			t.Errorf("run %d: %+v %v", i, r, err)
		}
		g.set.Close()
	}
	if s.registered != 1 || s.refreshed != 3 {
		t.Errorf("%d registrations, %d refreshes, want 1 and 3", s.registered, s.refreshed)
	}
	if err := f.o.Logout(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if r, err := f.o.signIn(d.URL); r.Token != nil || err != nil {
		t.Error(r, err)
	}
}

func named(d Definition, name string) Definition {
	d.Name = name
	return d
}

// expire makes the kept access token one that is over, by its time or only for the server.
func expire(t *testing.T, o Options, d Definition, byTime bool, s *signInServer) {
	t.Helper()
	err := o.updateSignIn(t.Context(), d.URL, func(r *signedIn) error {
		if byTime {
			r.Token.Expiry = time.Now().Add(-time.Hour)
			return nil
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.access = "revoked"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
