// Package openai asks models over chat completions, as OpenAI, its routers and the local servers stream them. It is a client of
// our own, since the servers differ in small ways that matter: what they are known to do stands where it is handled.
package openai

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"anchor/internal/provider"
)

type wire struct {
	*provider.Endpoint
	vendor bool // the server is OpenAI's own
	// without holds the fields that this server refused once; they are not sent again.
	without map[string]bool
}

// New returns a client for a server that speaks chat completions. A base URL without a path gets /v1.
func New(e provider.Endpoint) *provider.Client {
	u := e.Fit("/chat/completions")
	if u.Path == "" {
		e.BaseURL += "/v1"
	}
	w := &wire{&e, u.Hostname() == "api.openai.com", map[string]bool{}}
	return &provider.Client{Endpoint: &e, Wire: w, Path: "chat/completions", ListPath: "models"}
}

// Send implements [provider.Wire]. A path with a slash in front counts from where /v1 stands.
func (w *wire) Send(ctx context.Context, key, path string, body []byte) (*http.Response, error) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	target := w.BaseURL + "/" + path
	if strings.HasPrefix(path, "/") {
		target = strings.TrimSuffix(w.BaseURL, "/v1") + path
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "anchor")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
		if w.Name == "openai" && !w.vendor {
			req.Header.Set("X-Api-Key", key)
		}
	}
	for k, v := range w.Headers {
		req.Header.Set(k, v)
	}
	return w.HTTP.Do(req)
}

// Learn implements [provider.Wire]. An optional field that an error names is dropped, once.
func (w *wire) Learn(fault *provider.Error, body []byte) bool {
	if fault.Status != 400 && fault.Status != 422 {
		return false
	}
	for _, field := range []string{"stream_options", "max_completion_tokens", "max_tokens", "reasoning_effort", "tool_choice"} {
		if strings.Contains(fault.Message, field) && bytes.Contains(body, []byte(`"`+field+`":`)) && !w.without[field] {
			w.without[field] = true
			return true
		}
	}
	return false
}
