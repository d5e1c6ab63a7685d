package provider

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Advice that several kinds of trouble share.
const (
	adviceProxy = "Check HTTPS_PROXY and NO_PROXY"
	adviceTLS   = "If the certificate is your company's own, set SSL_CERT_FILE"
)

// Classify makes an error of an answer that is no reply. It knows the wordings of the usual servers; the status decides
// where the words say nothing. status is that of HTTP, or the one that an error inside a stream stands for.
func Classify(status int, h http.Header, body []byte) *Error {
	message, all := words(body)
	e := &Error{Status: status, Message: message, After: retryAfter(h, all)}
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(status))
	}
	low := strings.ToLower(all)
	switch {
	case status == 413 || tooLong(status, low):
		e.Kind, e.Limit = TooLong, limit(low)
	case status == 402 || status/100 == 4 && e.After == 0 && spent(low):
		e.Kind, e.Advice = Quota, "Check the plan and the balance of this account"
	case status == 429 || status == 408 || status == 409:
		e.Kind, e.Advice = Rate, "Try again later"
	case status == 503 || status == 529:
		e.Kind, e.Advice = Overloaded, "Try again later"
	case status >= 500:
		e.Kind, e.Advice = Server, "Try again later"
	case status == 407:
		e.Kind, e.Advice = Proxy, adviceProxy
	case noModel(status, low):
		e.Kind, e.Advice = NoModel, `"anchor models" lists what can be used`
	case status == 401 || status == 403:
		e.Kind, e.Advice = Auth, "Check the key"
	case status == 404:
		e.Kind, e.Advice = BadRequest, "Check the base URL"
	default:
		e.Kind = BadRequest
	}
	return e
}

// StreamFault classifies an error that a server sends inside a stream: by the status in it, else by the words for its type and
// code. What is not known is the server's trouble.
func StreamFault(raw []byte) *Error {
	var e struct {
		Type   string          `json:"type"`
		Code   json.RawMessage `json:"code"`
		Status int             `json:"status"`
	}
	_ = json.Unmarshal(raw, &e)
	if e.Status == 0 {
		_ = json.Unmarshal(e.Code, &e.Status)
	}
	if e.Status >= 400 && e.Status < 600 {
		return Classify(e.Status, nil, raw)
	}
	for _, k := range []struct {
		word   string
		status int
	}{
		{"overloaded", 529}, {"unavailable", 503}, {"rate_limit", 429}, {"quota", 429}, {"too_large", 413}, {"not_found", 404}, {"permission", 403},
		{"billing", 402}, {"auth", 401}, {"context", 400}, {"invalid", 400},
	} {
		if strings.Contains(e.Type+string(e.Code), k.word) {
			return Classify(k.status, nil, raw)
		}
	}
	return Classify(500, nil, raw)
}

// words takes the message for the user out of a body, and everything in it that may tell the kind of the error.
func words(body []byte) (message, all string) {
	text := strings.TrimSpace(strings.ToValidUTF8(string(body), ""))
	var v any
	if json.Unmarshal(body, &v) == nil {
		return oneLine(inner(v)), text
	}
	if strings.HasPrefix(text, "<") {
		text = title(text)
	}
	return oneLine(text), text
}

// inner finds the message in the forms in which servers wrap it: {"error": {"message"}}, {"error": "…"}, {"message"},
// {"detail"}, [{"error"}], and a provider's own error as text within.
func inner(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return inner(v[0])
		}
	case map[string]any:
		if meta, ok := v["metadata"].(map[string]any); ok {
			if raw, ok := meta["raw"].(string); ok && raw != "" {
				message, _ := words([]byte(raw))
				return message
			}
		}
		for _, k := range []string{"error", "errors", "message", "msg", "detail", "error_description"} {
			if s := inner(v[k]); s != "" {
				return s
			}
		}
	}
	return ""
}

// title is all that is kept of a page of HTML.
func title(page string) string {
	for _, tag := range []string{"title", "h1"} {
		if m := regexp.MustCompile(`(?is)<` + tag + `[^>]*>(.*?)</` + tag).FindStringSubmatch(page); m != nil {
			return html.UnescapeString(m[1])
		}
	}
	return "a web page"
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
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1e8) * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(t))
	}
	m := regexp.MustCompile(`(?i)(?:try again in |"retryDelay":\s*")((?:[\d.]+(?:h|ms|m|s))+)`).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	d, _ := time.ParseDuration(m[1])
	return max(0, d)
}

// tooLong knows a prompt over the window in the words of the usual servers.
func tooLong(status int, low string) bool {
	if status != 400 && status != 422 && status != 500 || strings.Contains(low, "per minute") {
		return false
	}
	return regexp.MustCompile(`context_length_exceeded|exceed_context_size|prompt (is )?too long|input is too long|too large for model with` +
		`|(maximum|max) (context|prompt|sequence|model)[ _]len(gth)?|context (size|length|window|limit)|context the overflows` +
		`|input token count|exceeds the maximum number of tokens|exceeded model token limit|prompt exceeds max|must be <= \d+` +
		`|range of input length|reduce the length of the (messages|prompt)|too many (input )?tokens|token count of \d+ exceeds|input length .* exceeds?`).MatchString(low)
}

// limit reads the window out of such words, 0 if they don't name it.
func limit(low string) int {
	low = regexp.MustCompile(`(\d),(\d{3})`).ReplaceAllString(low, "$1$2")
	for _, p := range []string{
		`> (\d+)`, `n_ctx"?:\s*(\d+)`, `(?:maximum|max) (?:context|prompt|model|sequence)[ _]len(?:gth)?(?: is| of|:)? ?\(?(\d+)`,
		`(\d+) maximum context`, `tokens allowed \((\d+)`, `context (?:size|length|window|limit)(?: is| of)?(?: only)? ?\(?(\d+)`,
		`<= (\d+)`, `token limit: (\d+)`, `\[\d+, ?(\d+)\]`, `limit (?:is|of) (\d+)`,
	} {
		if m := regexp.MustCompile(p).FindStringSubmatch(low); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n >= 256 {
				return n
			}
		}
	}
	return 0
}

// spent knows an account that has nothing left, which no waiting mends.
func spent(low string) bool {
	return regexp.MustCompile(`insufficient[_ ](quota|credits?|balance|funds)|exceeded your current quota|credit balance|billing_(error|hard)|quota (is )?(exhausted|exceeded)|out of credits|spend(ing)?[_ ]limit|payment required`).MatchString(low)
}

// noModel knows a model that is not there. A path that is not there does not speak of a model.
func noModel(status int, low string) bool {
	if status == 404 {
		return strings.Contains(low, "model")
	}
	return status/100 == 4 && regexp.MustCompile(`model[^.]{0,80}(not[ _]found|does not exist|doesn't exist|not exist|is not loaded)|(unknown|invalid|no such|not a valid) model|model_not_found|not a valid model`).MatchString(low)
}

// network classifies what happened below HTTP.
func network(err error) *Error {
	e := &Error{Kind: Network, Err: err, Advice: "Check the network and the base URL"}
	var op *net.OpError
	var dns *net.DNSError
	var own *tls.CertificateVerificationError
	var name x509.HostnameError
	var issuer x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	text := innermost(err)
	switch {
	case errors.As(err, &own), errors.As(err, &name), errors.As(err, &issuer):
		e.Kind, e.Message, e.Advice = TLS, "the server's certificate is not trusted: "+text, adviceTLS
	case errors.As(err, &record), strings.Contains(text, "HTTP response to HTTPS client"):
		e.Kind, e.Message, e.Advice = TLS, "the server does not speak TLS", "Check https:// in the base URL"
	case errors.As(err, &op) && op.Op == "proxyconnect":
		e.Kind, e.Message, e.Advice = Proxy, "the proxy can't be reached: "+text, adviceProxy
	case errors.As(err, &dns):
		e.Message = "no such host: " + dns.Name
	case strings.Contains(text, "refused"):
		e.Message, e.Advice = "the connection was refused", "Is the server running? Check the base URL"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "the server closed the connection"
	default:
		e.Message = text
	}
	return e
}

// innermost is the last error of a chain in words: the outer ones repeat the address.
func innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return oneLine(err.Error())
		}
		err = next
	}
}
