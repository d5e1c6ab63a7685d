// Package openai asks models over chat completions, as OpenAI, its routers and the local servers stream them. It is a client of
// our own, since the servers differ in small ways that matter: what they are known to do stands where it is handled.
package openai

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"anchor/internal/provider"
)

// Client is a [provider.Provider] and a [provider.Lister].
type Client struct {
	e      provider.Endpoint
	vendor bool // the server is OpenAI's own
	extra  bool // the key goes into x-api-key too
	cache  provider.Cache[piece]
	// without holds the fields that this server refused once; they are not sent again.
	without map[string]bool
}

// New returns a client for a server that speaks chat completions. A base URL without a path gets /v1. An error is of kind
// Config.
func New(e provider.Endpoint) (*Client, error) {
	if e.BaseURL == "" {
		e.BaseURL = "https://api.openai.com/v1"
	}
	e.BaseURL = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(e.BaseURL, "/"), "/chat/completions"), "/")
	if err := e.Check(); err != nil {
		return nil, err
	}
	u, _ := url.Parse(e.BaseURL)
	if u.Path == "" {
		e.BaseURL += "/v1"
	}
	vendor := u.Hostname() == "api.openai.com"
	return &Client{e: e, vendor: vendor, extra: e.Name == "openai" && !vendor, without: map[string]bool{}}, nil
}

// Stream implements [provider.Provider].
func (c *Client) Stream(ctx context.Context, req provider.Request) iter.Seq2[provider.Chunk, error] {
	return provider.Sequence(func(show func(provider.Chunk) bool) (provider.Done, error) {
		reply, err := c.ask(ctx, req)
		if err != nil {
			return provider.Done{}, err
		}
		defer reply.Close()
		return c.read(reply, req, show)
	})
}

// ask sends the request, again without a field that the server does not know.
func (c *Client) ask(ctx context.Context, req provider.Request) (*provider.Reply, error) {
	for {
		body := c.body(req)
		reply, err := c.open(ctx, http.MethodPost, c.e.BaseURL+"/chat/completions", body)
		var fault *provider.Error
		if !errors.As(err, &fault) {
			return reply, err
		}
		if fault.Kind == provider.NoModel {
			provider.Suggest(ctx, c, req.Model, fault)
		}
		if !c.learn(fault, body) {
			return nil, err
		}
	}
}

// learn reads in an error which optional field the server refuses, and says whether another try makes sense. A field is dropped
// once, so this ends.
func (c *Client) learn(fault *provider.Error, body []byte) bool {
	if fault.Status != 400 && fault.Status != 422 {
		return false
	}
	for _, field := range []string{"stream_options", "max_completion_tokens", "max_tokens", "reasoning_effort", "tool_choice"} {
		if strings.Contains(fault.Message, field) && bytes.Contains(body, []byte(`"`+field+`":`)) && !c.without[field] {
			c.without[field] = true
			return true
		}
	}
	return false
}

// open makes one request.
func (c *Client) open(ctx context.Context, method, address string, body []byte) (*provider.Reply, error) {
	return c.e.Open(ctx, address, func(ctx context.Context, key string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream, application/json")
		req.Header.Set("User-Agent", "anchor")
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
			if c.extra {
				req.Header.Set("X-Api-Key", key)
			}
		}
		for k, v := range c.e.Headers {
			req.Header.Set(k, v)
		}
		return c.e.HTTP.Do(req)
	})
}
