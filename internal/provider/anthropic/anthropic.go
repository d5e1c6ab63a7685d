// Package anthropic asks models over Anthropic's Messages API. The official SDK brings the request there (addresses, keys,
// headers, transport); the body is put together here from parts that were encoded once, and the stream is read here, so that
// a long conversation costs no more than the bytes that it sends.
package anthropic

import (
	"context"
	"errors"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"anchor/internal/provider"
)

type wire struct {
	*provider.Endpoint
	sdk    sdk.Client
	vendor bool // the server is Anthropic's own
}

// New returns a client for a server that speaks the Messages API. The base URL may end in /v1 or a slash.
func New(e provider.Endpoint) *provider.Client {
	u := e.Fit("/messages", "/v1")
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithMaxRetries(0),
		option.WithHTTPClient(e.HTTP), option.WithBaseURL(e.BaseURL + "/"),
	}
	for k, v := range e.Headers {
		options = append(options, option.WithHeader(k, v))
	}
	w := &wire{&e, sdk.NewClient(options...), u.Hostname() == "api.anthropic.com"}
	return &provider.Client{Endpoint: &e, Wire: w, Path: "v1/messages", ListPath: "v1/models?limit=1000"}
}

// Send implements [provider.Wire], through the SDK.
func (w *wire) Send(ctx context.Context, key, path string, body []byte) (*http.Response, error) {
	var options []option.RequestOption
	switch {
	case key != "":
		options = append(options, option.WithAPIKey(key))
		if !w.vendor {
			options = append(options, option.WithHeader("x-api-key", key))
		}
	case w.vendor:
		return nil, &provider.Error{Kind: provider.Auth, Message: "there is no key for " + w.Name}
	}
	method, params := http.MethodGet, any(nil)
	if body != nil {
		method, params = http.MethodPost, body
	}
	var res *http.Response
	err := w.sdk.Execute(ctx, method, path, params, &res, options...)
	if _, refused := errors.AsType[*sdk.Error](err); refused {
		err = nil // the answer is classified with those of the other wires
	}
	return res, err
}

// Learn implements [provider.Wire].
func (w *wire) Learn(*provider.Error, []byte) bool { return false }
