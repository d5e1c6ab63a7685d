package provider

import (
	"cmp"
	"context"
	"fmt"
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
	// Key returns the key, "" for none. It is asked before the first request, and again after one that was refused.
	Key func(context.Context) (string, error)
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
	return &Error{Kind: Proxy, Status: res.StatusCode, URL: PlainURL(proxy.String()), Message: "the proxy refused the connection", Advice: adviceProxy}
}

// Check completes e, takes off what of paths stands at the end of its base URL, and returns that URL, or what is wrong
// with it, before anything is sent.
func (e *Endpoint) Check(fallback string, paths ...string) (*url.URL, error) {
	e.BaseURL = strings.TrimRight(cmp.Or(e.BaseURL, fallback), "/")
	for _, p := range paths {
		e.BaseURL = strings.TrimRight(strings.TrimSuffix(e.BaseURL, p), "/")
	}
	u, err := url.Parse(e.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		message := fmt.Sprintf("the base URL of %s, %q, is not a web address", e.Name, PlainURL(e.BaseURL))
		return nil, &Error{Kind: Config, Message: message, Advice: "Write it as https://HOST/PATH"}
	}
	if e.HTTP == nil {
		e.HTTP = NewHTTP()
	}
	if e.StallTimeout <= 0 {
		e.StallTimeout = defaultStall
	}
	if e.FirstByte <= 0 {
		e.FirstByte = e.StallTimeout
	}
	return u, nil
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

// getKey asks for the key once.
func (c *Client) getKey(ctx context.Context) error {
	if c.key != "" || c.Key == nil {
		return nil
	}
	key, err := c.Key(ctx)
	if err != nil {
		return &Error{Kind: Config, Message: oneLine(err.Error()), Err: err}
	}
	if key = strings.TrimSpace(key); strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return &Error{Kind: Config, Message: "the key of " + c.Name + " holds a character that no key has", Advice: "Copy it again, without quotes or blanks"}
	}
	c.key = key
	return nil
}
