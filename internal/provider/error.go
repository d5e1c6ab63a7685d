package provider

import (
	"fmt"
	"time"
)

// Kind classifies what went wrong with a request.
type Kind string

// The kinds. Retryable are Overloaded, Rate, Network, Broken and Server.
const (
	Auth       Kind = "auth"           // 401, 403: wrong or missing key
	NoModel    Kind = "no_model"       // the model does not exist for this key
	Quota      Kind = "quota"          // 402 or a 429 that says the quota is exhausted
	Rate       Kind = "rate"           // 429, 408, 409: slow down
	Overloaded Kind = "overloaded"     // 529, 503
	Server     Kind = "server"         // other 5xx
	TooLong    Kind = "context_length" // the prompt is over the window, in any wording, 413 included
	BadRequest Kind = "bad_request"    // other 4xx
	Network    Kind = "network"        // no connection, DNS, reset, timeout
	TLS        Kind = "tls"            // certificate trouble
	Proxy      Kind = "proxy"          // the proxy refused
	Broken     Kind = "broken"         // the stream broke, stalled, ended early or was not understood
	Config     Kind = "config"         // no key, odd characters in it: nothing was sent
)

// Error is a failed request. Its text is one line for the user that says what was asked of which URL, what the server
// said, and what to do; never the key, never a page of HTML.
type Error struct {
	Kind    Kind
	Status  int           // HTTP status, 0 if there was none
	URL     string        // what was asked, without user info or query
	Message string        // what the server or the network said, short, one line
	Advice  string        // what to do next
	After   time.Duration // Retry-After, 0 if none was sent
	Limit   int           // the window in tokens that a TooLong error named, 0 if none
}

// Error returns the line for the user.
func (e *Error) Error() string {
	s := e.said()
	if e.URL != "" {
		s = e.URL + ": " + s
	}
	if e.Advice != "" {
		s += ". " + e.Advice
	}
	return s
}

// said is the error in the few words that fit in a notice.
func (e *Error) said() string {
	if e.Status != 0 {
		return fmt.Sprintf("%d: %s", e.Status, e.Message)
	}
	return e.Message
}

// Retryable says whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case Rate, Overloaded, Server, Network, Broken:
		return true
	}
	return false
}
