// Package anthropic asks models over Anthropic's Messages API. The official SDK brings the request there (addresses, keys,
// headers, transport); the body is put together here from parts that were encoded once, and the stream is read here, so that
// a long conversation costs no more than the bytes that it sends.
package anthropic

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"anchor/internal/provider"
)

// host is Anthropic's own.
const host = "api.anthropic.com"

// Client is a [provider.Provider] and a [provider.Lister].
type Client struct {
	e      provider.Endpoint
	sdk    sdk.Client
	vendor bool // the server is Anthropic's own
	cache  provider.Cache[turn]
}

// New returns a client for a server that speaks the Messages API. The base URL may end in /v1 or a slash, or be empty for
// Anthropic's own. An error is of kind Config.
func New(e provider.Endpoint) (*Client, error) {
	if e.BaseURL == "" {
		e.BaseURL = "https://" + host
	}
	base := strings.TrimRight(e.BaseURL, "/")
	for _, end := range []string{"/messages", "/v1"} {
		base = strings.TrimRight(strings.TrimSuffix(base, end), "/")
	}
	e.BaseURL = base
	if err := e.Check(); err != nil {
		return nil, err
	}
	u, _ := url.Parse(base)
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithMaxRetries(0),
		option.WithHTTPClient(e.HTTP), option.WithBaseURL(base + "/"),
	}
	for k, v := range e.Headers {
		options = append(options, option.WithHeader(k, v))
	}
	return &Client{e: e, sdk: sdk.NewClient(options...), vendor: u.Hostname() == host}, nil
}

// Stream implements [provider.Provider].
func (c *Client) Stream(ctx context.Context, req provider.Request) iter.Seq2[provider.Chunk, error] {
	return provider.Sequence(func(show func(provider.Chunk) bool) (provider.Done, error) {
		reply, err := c.open(ctx, http.MethodPost, "v1/messages", c.body(req))
		if err != nil {
			c.suggest(ctx, req.Model, err)
			return provider.Done{}, err
		}
		defer reply.Close()
		return c.read(reply, req, show)
	})
}

// Models implements [provider.Lister].
func (c *Client) Models(ctx context.Context) ([]provider.Listed, error) {
	ctx, cancel := context.WithTimeout(ctx, provider.ListTimeout)
	defer cancel()
	reply, err := c.open(ctx, http.MethodGet, "v1/models?limit=1000", nil)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	data, err := reply.Event()
	if err != nil {
		return nil, err
	}
	return provider.ParseModels(data)
}

// open makes a request through the SDK.
func (c *Client) open(ctx context.Context, method, path string, body []byte) (*provider.Reply, error) {
	address := c.e.BaseURL + "/" + path
	return c.e.Open(ctx, address, func(ctx context.Context, key string) (*http.Response, error) {
		if key == "" && c.vendor {
			return nil, c.e.Finish(&provider.Error{Kind: provider.Auth, Message: "there is no key for " + c.e.Name}, address)
		}
		var options []option.RequestOption
		if key != "" {
			options = append(options, option.WithAPIKey(key))
			if !c.vendor {
				options = append(options, option.WithHeader("x-api-key", key))
			}
		}
		var params any
		if body != nil {
			params = body
		}
		var res *http.Response
		err := c.sdk.Execute(ctx, method, path, params, &res, options...)
		var refused *sdk.Error
		if errors.As(err, &refused) {
			err = nil // the answer is classified with those of the other wires
		}
		return res, err
	})
}

// suggest adds the nearest model to an error about a missing one.
func (c *Client) suggest(ctx context.Context, model string, err error) {
	var fault *provider.Error
	if errors.As(err, &fault) && fault.Kind == provider.NoModel {
		provider.Suggest(ctx, c, model, fault)
	}
}
