package provider

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	later       = "Try again later"
	adviceProxy = "Check HTTPS_PROXY and NO_PROXY"
	adviceTLS   = "If the certificate is your company's own, set SSL_CERT_FILE"
)

type wording struct {
	kind            Kind
	advice, pattern string
}

// wordings knows the usual servers by what they say. Each pattern is held against "STATUS after WAIT BODY" in lower case, and
// the first that fits decides. A quota that is said to come back in a while is a rate.
func wordings() []wording {
	return []wording{
		{TooLong, "", `^413|^(400|422|500) .*(context_length_exceeded|exceed_context_size|prompt (is )?too long|input is too long|too large for model with` +
			`|(maximum|max) (context|prompt|sequence|model)[ _]len(gth)?|context (size|length|window|limit)|context the overflows` +
			`|input token count|exceeds the maximum number of tokens|exceeded model token limit|prompt exceeds max|must be <= \d+` +
			`|range of input length|reduce the length of the (messages|prompt)|too many (input )?tokens|token count of \d+ exceeds|input length .* exceeds?)`},
		{Quota, "Check the plan and the balance of this account", `^402|^4.. after 0s .*(insufficient[_ ](quota|credits?|balance|funds)` +
			`|exceeded your current quota|credit balance|billing_(error|hard)|quota (is )?(exhausted|exceeded)|out of credits|spend(ing)?[_ ]limit|payment required)`},
		{Rate, later, `^(408|409|429)`},
		{Overloaded, later, `^(503|529)`},
		{Server, later, `^5`},
		{Proxy, adviceProxy, `^407`},
		{NoModel, `"anchor models" lists what can be used`, `^404 .*model|^4.. .*(model[^.]{0,80}(not[ _]found|does not exist|doesn't exist|not exist|is not loaded)` +
			`|(unknown|invalid|no such|not a valid) model|model_not_found)`},
		{Auth, "Check the key", `^40[13]`},
		{BadRequest, "Check the base URL", `^404`},
		{BadRequest, "", ``},
	}
}

// window finds the window that an error of kind TooLong names.
const window = `(?:> |<= |n_ctx"?:\s*|tokens allowed \(|token limit: |limit (?:is|of) |\[\d+, ?|context (?:size|length|window|limit)(?: is| of)?(?: only)? ?\(?` +
	`|(?:maximum|max) (?:context|prompt|model|sequence)[ _]len(?:gth)?(?: is| of|:)? ?\(?)(\d+)|(\d+) maximum context`

// classify makes an error of an answer that is no reply. status is that of HTTP, or the one that an error inside a stream
// stands for.
func classify(status int, h http.Header, body []byte) *Error {
	message, all := words(body)
	e := &Error{Status: status, Message: cmp.Or(message, strings.ToLower(http.StatusText(status))), After: retryAfter(h, all)}
	all = strings.ToLower(all)
	said := fmt.Sprintf("%d after %s %s", status, e.After, all)
	for _, w := range wordings() {
		if regexp.MustCompile(`(?s)` + w.pattern).MatchString(said) {
			e.Kind, e.Advice = w.kind, w.advice
			break
		}
	}
	if e.Kind == TooLong {
		all = regexp.MustCompile(`(\d),(\d{3})`).ReplaceAllString(all, "$1$2")
		for _, m := range regexp.MustCompile(window).FindAllStringSubmatch(all, -1) {
			if n, _ := strconv.Atoi(m[1] + m[2]); n >= 256 && e.Limit == 0 {
				e.Limit = n
			}
		}
	}
	return e
}

// streamFault classifies an error that a server sends inside a stream: by the status in it, else by the words for its type and
// code. What is not known is the server's trouble.
func streamFault(e gjson.Result) *Error {
	for _, status := range []int64{e.Get("status").Int(), e.Get("code").Int()} {
		if status >= 400 && status < 600 {
			return classify(int(status), nil, []byte(e.Raw))
		}
	}
	const known = "529 overloaded 503 unavailable 429 rate_limit 429 quota 413 too_large 404 not_found 403 permission 402 billing 401 auth 400 context 400 invalid"
	for words := strings.Fields(known); len(words) > 0; words = words[2:] {
		if strings.Contains(e.Get("type").String()+e.Get("code").String(), words[1]) {
			status, _ := strconv.Atoi(words[0])
			return classify(status, nil, []byte(e.Raw))
		}
	}
	return classify(500, nil, []byte(e.Raw))
}

// words takes the message for the user out of a body, and everything in it that may tell the kind of the error. Of a page of
// HTML that is the title.
func words(body []byte) (message, all string) {
	text := strings.TrimSpace(strings.ToValidUTF8(string(body), ""))
	if gjson.Valid(text) {
		return oneLine(inner(gjson.Parse(text))), text
	}
	if strings.HasPrefix(text, "<") {
		m := regexp.MustCompile(`(?is)<(?:title|h1)[^>]*>(.*?)</`).FindStringSubmatch(text)
		if text = "a web page"; m != nil {
			text = html.UnescapeString(m[1])
		}
	}
	return oneLine(text), text
}

// inner finds the message in the forms in which servers wrap it: {"error": {"message"}}, {"error": "…"}, {"message"},
// {"detail"}, [{"error"}], and another provider's error as text within.
func inner(v gjson.Result) string {
	if v.Type == gjson.String && !(strings.HasPrefix(v.Str, "{") && gjson.Valid(v.Str)) {
		return v.Str
	}
	v = gjson.Parse(v.String())
	for _, path := range strings.Fields("metadata.raw 0 error errors message msg detail error_description") {
		if sub := v.Get(path); sub.Exists() {
			if s := inner(sub); s != "" {
				return s
			}
		}
	}
	return ""
}

// oneLine makes a short line of any text.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0x85 || r == utf8.RuneError }), " ")
	s = strings.TrimRight(s, ". ")
	if len(s) <= 300 {
		return s
	}
	return strings.ToValidUTF8(s[:300], "") + "…"
}

// retryAfter reads how long the server asks to wait, from its headers or, where they say nothing, from its words.
func retryAfter(h http.Header, text string) time.Duration {
	number := func(key string, unit time.Duration) time.Duration {
		f, _ := strconv.ParseFloat(h.Get(key), 64)
		return time.Duration(min(max(f, 0), 1e8) * float64(unit))
	}
	if d := cmp.Or(number("Retry-After-Ms", time.Millisecond), number("Retry-After", time.Second)); d > 0 {
		return d
	}
	if t, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, time.Until(t))
	}
	m := regexp.MustCompile(`(?i)(?:try again in |"retryDelay":\s*")((?:[\d.]+(?:h|ms|m|s))+)`).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	d, _ := time.ParseDuration(m[1])
	return d
}

// network classifies what happened below HTTP.
func network(err error) *Error {
	last := err // the outer errors repeat the address
	for next := err; next != nil; next = errors.Unwrap(next) {
		last = next
	}
	e := &Error{Kind: Network, Message: oneLine(last.Error()), Advice: "Check the network and the base URL"}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	dns, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case untrusted:
		e.Kind, e.Message, e.Advice = TLS, "the server's certificate is not trusted: "+e.Message, adviceTLS
	case plain, strings.Contains(e.Message, "HTTP response to HTTPS client"):
		e.Kind, e.Message, e.Advice = TLS, "the server does not speak TLS", "Check https:// in the base URL"
	case isOp && op.Op == "proxyconnect":
		e.Message, e.Advice = "the proxy can't be reached: "+e.Message, adviceProxy
	case isDNS:
		e.Message = "no such host: " + dns.Name
	case strings.Contains(e.Message, "refused"):
		e.Message, e.Advice = "the connection was refused", "Is the server running? Check the base URL"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "the server closed the connection"
	}
	return e
}
