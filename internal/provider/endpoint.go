package provider

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Endpoint is a model server and how to talk to it. Requests through one endpoint are made one after the other.
type Endpoint struct {
	// Name is the provider's name: it stands in messages and in the replies' Provider.
	Name    string
	BaseURL string
	// Key returns a key that a header may hold, "" for none. It is asked before the first request, and again with one that was
	// refused: those of some commands live for a short time.
	Key func(ctx context.Context, refused string) (string, error)
	// KeyName is what the user sets the key by, such as ANTHROPIC_API_KEY. It stands in advice.
	KeyName string
	Headers map[string]string
	// StallTimeout is how long a reply may send nothing before it counts as broken; zero: 2 minutes.
	StallTimeout time.Duration
	// FirstByte bounds the wait for a reply to begin; zero: StallTimeout. Local servers read long prompts for minutes.
	FirstByte time.Duration
	// MaxTokens bounds replies where the request does not; zero: the wire's default.
	MaxTokens int
	// HTTP makes the requests; nil: what [NewHTTP] returns.
	HTTP *http.Client
}

// The bounds of a connection.
const (
	connectTimeout = 15 * time.Second
	defaultStall   = 2 * time.Minute
	maxErrorBody   = 64 << 10
)

// NewHTTP returns a client for model servers. HTTPS_PROXY, HTTP_PROXY, NO_PROXY and SSL_CERT_FILE are honoured, loopback is
// never reached through a proxy, connecting is bounded, and redirects are not followed: a key goes only where it was sent.
func NewHTTP() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    connectTimeout,
			ForceAttemptHTTP2:      true,
			IdleConnTimeout:        90 * time.Second,
			DisableCompression:     true, // a compressed stream comes in lumps
			MaxResponseHeaderBytes: 1 << 20,
			WriteBufferSize:        64 << 10, // long conversations in few writes
			ReadBufferSize:         16 << 10,
			OnProxyConnectResponse: refusedByProxy,
		},
	}
}

// refusedByProxy turns a proxy's no into an error that says so.
func refusedByProxy(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &Error{Kind: Proxy, Status: res.StatusCode, Message: "the proxy " + PlainURL(proxy.String()) + " refused the connection", Advice: adviceProxy}
}

// Fit completes e: what of paths stands at the end of its base URL is taken off, and what is zero gets its default. It returns
// the base URL, which must be a web address.
func (e *Endpoint) Fit(paths ...string) *url.URL {
	for _, p := range append([]string{""}, paths...) {
		e.BaseURL = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(e.BaseURL, "/"), p), "/")
	}
	if e.HTTP == nil {
		e.HTTP = NewHTTP()
	}
	e.StallTimeout = cmp.Or(e.StallTimeout, defaultStall)
	e.FirstByte = cmp.Or(e.FirstByte, e.StallTimeout)
	u, err := url.Parse(e.BaseURL)
	if err != nil {
		return &url.URL{}
	}
	return u
}

// PlainURL is an address without what may be secret in it: user info, query and fragment.
func PlainURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(an address that is no URL)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
