package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	// MaxTokens bounds replies where the request does not.
	MaxTokens int
	// HTTP makes the requests; nil: what [NewHTTP] returns.
	HTTP *http.Client

	key string
}

// The bounds of a connection.
const (
	connectTimeout = 15 * time.Second
	defaultStall   = 2 * time.Minute
	drainTimeout   = 50 * time.Millisecond
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

// Check completes e and says what is wrong with it before anything is sent.
func (e *Endpoint) Check() error {
	u, err := url.Parse(e.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return &Error{Kind: Config, Message: fmt.Sprintf("the base URL of %s, %q, is not a web address", e.Name, PlainURL(e.BaseURL)), Advice: "Write it as https://HOST/PATH"}
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
	return nil
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
func (e *Endpoint) getKey(ctx context.Context) (string, error) {
	if e.key != "" || e.Key == nil {
		return e.key, nil
	}
	key, err := e.Key(ctx)
	if err != nil {
		return "", &Error{Kind: Config, Message: oneLine(err.Error()), Err: err}
	}
	if key = strings.TrimSpace(key); strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", &Error{Kind: Config, Message: "the key of " + e.Name + " holds a character that no key has", Advice: "Copy it again, without quotes or blanks"}
	}
	e.key = key
	return key, nil
}

// stalled is why a request was given up: nothing came for so long.
type stalled struct{ time.Duration }

func (s stalled) Error() string { return "nothing came for " + short(s.Duration) }

// Open makes a request with send and returns the reply to it. send gets a context that ends when the reply stalls, and the
// key. Whatever the server answered but a 200 with a stream or JSON becomes an *[Error]. The caller closes the reply.
func (e *Endpoint) Open(ctx context.Context, address string, send func(context.Context, string) (*http.Response, error)) (*Reply, error) {
	key, err := e.getKey(ctx)
	if err != nil {
		return nil, err
	}
	inner, cancel := context.WithCancelCause(ctx)
	r := &Reply{ctx: inner, cancel: cancel, parent: ctx, url: PlainURL(address)}
	r.timer = time.AfterFunc(e.FirstByte, func() { cancel(stalled{e.FirstByte}) })
	res, err := send(inner, key)
	r.timer.Stop()
	r.limit, r.timer = e.StallTimeout, time.AfterFunc(e.StallTimeout, func() { cancel(stalled{e.StallTimeout}) })
	r.timer.Stop()
	if err != nil {
		defer r.Close()
		return nil, r.fault(err, e)
	}
	r.body = res.Body
	r.events.r = r
	r.JSON = strings.Contains(res.Header.Get("Content-Type"), "json")
	page := strings.Contains(res.Header.Get("Content-Type"), "text/html")
	if res.StatusCode == http.StatusOK && !page {
		return r, nil
	}
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, maxErrorBody))
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if loc := res.Header.Get("Location"); loc != "" && res.StatusCode/100 == 3 {
		body = []byte("the server redirects to " + PlainURL(loc) + "; use that as the base URL if it is right")
	}
	fault := Classify(res.StatusCode, res.Header, body)
	if page && res.StatusCode == http.StatusOK {
		fault.Kind, fault.Advice = BadRequest, "That was a web page, no model. Check the base URL"
	}
	fault = e.Finish(fault, address)
	if fault.Kind == Auth {
		e.key = "" // it is asked for again: keys of some commands live for a short time
	}
	return nil, fault
}

// Finish completes an error for the user: which URL was asked, how the key is set, and nothing of the key itself.
func (e *Endpoint) Finish(fault *Error, address string) *Error {
	fault.URL = PlainURL(address)
	if e.key != "" {
		fault.Message = strings.ReplaceAll(fault.Message, e.key, "[key]")
	}
	if fault.Kind == Auth && e.KeyName != "" {
		fault.Advice = "Check the key in " + e.KeyName
		if e.key == "" {
			fault.Advice = "Set " + e.KeyName
		}
	}
	return fault
}

// Reply is the body of a reply, read under a watch: a read that gets nothing for the stall timeout ends it. The time in which
// its reader does something else does not count.
type Reply struct {
	// JSON says that the server sent one JSON value instead of a stream.
	JSON bool

	ctx, parent context.Context
	cancel      context.CancelCauseFunc
	timer       *time.Timer
	last        *time.Timer // ends it, when its end was seen
	limit       time.Duration
	body        io.ReadCloser
	events      sse
	url         string
}

// Read implements io.Reader.
func (r *Reply) Read(p []byte) (int, error) {
	r.timer.Reset(r.limit)
	n, err := r.body.Read(p)
	r.timer.Stop()
	return n, err
}

// Event returns the data of the next event, or the whole value of a JSON reply, valid until the next call. The end is
// io.EOF; another end is the context's error or an *[Error] of kind Broken.
func (r *Reply) Event() ([]byte, error) {
	var data []byte
	var err error
	if r.JSON {
		data, err = io.ReadAll(io.LimitReader(r, maxLine))
		if len(data) == 0 && err == nil {
			err = io.EOF
		}
	} else {
		data, err = r.events.next()
	}
	if err == nil || err == io.EOF {
		return data, err
	}
	if r.parent.Err() != nil {
		return nil, r.parent.Err()
	}
	if cause := context.Cause(r.ctx); cause != nil {
		err = cause
	}
	return nil, r.Broken("the reply broke off: "+network(err).Message, err)
}

// Within ends the reply after d, whatever still comes. It is for the little that may follow the end.
func (r *Reply) Within(d time.Duration) {
	if r.last == nil {
		r.last = time.AfterFunc(d, func() { r.cancel(stalled{d}) })
	}
}

// Broken is the error of a reply that can't be used.
func (r *Reply) Broken(message string, err error) *Error {
	return &Error{Kind: Broken, URL: r.url, Message: message, Err: err}
}

// fault says why there is no reply at all.
func (r *Reply) fault(err error, e *Endpoint) error {
	if r.parent.Err() != nil {
		return r.parent.Err()
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var s stalled
	if errors.As(context.Cause(r.ctx), &s) {
		return r.Broken("the server did not begin to answer within "+short(s.Duration), s)
	}
	fault := network(err)
	fault.URL = r.url
	return fault
}

// Close ends the request. What the server has already sent is read first, for a moment, so that the connection serves the
// next request.
func (r *Reply) Close() {
	if r.body != nil {
		r.Within(drainTimeout)
		_, _ = io.CopyN(io.Discard, r, 4<<10)
		_ = r.body.Close()
	}
	if r.last != nil {
		r.last.Stop()
	}
	r.timer.Stop()
	r.cancel(nil)
}
