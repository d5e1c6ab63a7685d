package provider

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestClassify(t *testing.T) {
	wrap := func(s string) string { return fmt.Sprintf(`{"error":{"message":%q}}`, s) }
	for _, c := range []struct {
		status int
		body   string
		kind   Kind
		limit  int
		says   string
	}{
		{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, Auth, 0, "invalid x-api-key"},
		{403, `{"message":"forbidden for this key"}`, Auth, 0, "forbidden for this key"},
		{404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`, NoModel, 0, "claude-9"},
		{404, wrap("The model `gpt-9` does not exist or you do not have access to it."), NoModel, 0, "gpt-9"},
		{400, wrap("gpt-9 is not a valid model ID"), NoModel, 0, "gpt-9"},
		{404, `{"error":"model \"q\" not found, try pulling it first"}`, NoModel, 0, "pulling"},
		{404, wrap("Invalid URL (POST /chat/completions)"), BadRequest, 0, "Invalid URL"},
		{400, wrap("model m does not support tools"), BadRequest, 0, "does not support tools"},
		{402, wrap("Insufficient credits"), Quota, 0, "credits"},
		{429, `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your current quota"}}`, Quota, 0, "quota"},
		{400, wrap("Your credit balance is too low to access the Anthropic API."), Quota, 0, "credit balance"},
		{429, `[{"error":{"code":429,"message":"You exceeded your current quota.","details":[{"@type":"RetryInfo","retryDelay":"22s"}]}}]`, Rate, 0, "quota"},
		{429, wrap("Rate limit reached"), Rate, 0, "Rate limit"},
		{408, "", Rate, 0, "request timeout"}, {409, "", Rate, 0, "conflict"},
		{503, "", Overloaded, 0, "service unavailable"}, {529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, Overloaded, 0, "Overloaded"},
		{500, wrap("internal"), Server, 0, "internal"},
		{502, "<html>\n<head><title>502 Bad\n Gateway</title></head><body>" + strings.Repeat("<p>x", 9000), Server, 0, "502 Bad Gateway"},
		{407, "", Proxy, 0, "proxy"},
		{422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, BadRequest, 0, "field required"},
		{400, `{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"bad tool\"}}"}}}`, BadRequest, 0, "bad tool"},
		{400, "plain\ntext\x1b[31m", BadRequest, 0, "plain text"},
		{413, "<html><title>413 Request Entity Too Large</title>", TooLong, 0, "413 Request"},

		{400, wrap("prompt is too long: 214000 tokens > 200000 maximum"), TooLong, 200000, ""},
		{400, wrap("input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length"), TooLong, 200000, ""},
		{400, `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 128,000 tokens. However, your messages resulted in 130001 tokens."}}`, TooLong, 128000, ""},
		{400, wrap("Your input exceeds the context window of this model. Please adjust your input and try again."), TooLong, 0, ""},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, TooLong, 4096, ""},
		{400, wrap("request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"), TooLong, 4096, ""},
		{400, wrap("prompt too long; exceeded max context length by 300 tokens"), TooLong, 0, ""},
		{500, wrap("Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."), TooLong, 4096, ""},
		{400, wrap("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), TooLong, 1048576, ""},
		{400, wrap("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"), TooLong, 32768, ""},
		{400, wrap("This model's maximum prompt length is 131072 but the request contains 537812 tokens."), TooLong, 131072, ""},
		{400, wrap("This endpoint's maximum context length is 163840 tokens. However, you requested about 200000 tokens"), TooLong, 163840, ""},
		{422, wrap("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens"), TooLong, 4096, ""},
		{400, wrap("Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)"), TooLong, 262144, ""},
		{400, wrap("Range of input length should be [1, 129024]"), TooLong, 129024, ""},
		{400, wrap("Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192"), TooLong, 8192, ""},
		{400, wrap("prompt token count of 130000 exceeds the limit of 128000"), TooLong, 128000, ""},
		{400, wrap("The decoder prompt (length 40960) is longer than the maximum model length of 32768."), TooLong, 32768, ""},
		{400, wrap("max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens"), BadRequest, 0, ""},
		{429, wrap("Request too large: input tokens per minute limit 30000"), Rate, 0, ""},
	} {
		e := classify(c.status, nil, []byte(c.body))
		if e.Kind != c.kind || e.Limit != c.limit || !strings.Contains(e.Message, c.says) {
			t.Errorf("%d %.90s\n\tgives %s, limit %d, %q; want %s, limit %d", c.status, c.body, e.Kind, e.Limit, e.Message, c.kind, c.limit)
		}
		if strings.ContainsAny(e.Error(), "\n\x1b") || strings.Contains(e.Error(), "<html") || len(e.Error()) > 500 {
			t.Errorf("not one short line: %q", e.Error())
		}
	}
}

func TestRetryAfterForms(t *testing.T) {
	in := func(k, v string) http.Header { return http.Header{k: {v}} }
	for _, c := range []struct {
		h    http.Header
		body string
		want time.Duration
	}{
		{in("Retry-After", "7"), "", 7 * time.Second}, {in("Retry-After", "0.5"), "", 500 * time.Millisecond}, {in("Retry-After-Ms", "250"), "", 250 * time.Millisecond},
		{in("Retry-After", "soon"), "", 0}, {nil, "Please try again in 7m12s.", 7*time.Minute + 12*time.Second}, {nil, `"retryDelay": "22s"`, 22 * time.Second}, {nil, "x", 0},
		{in("Retry-After", "1e300"), "", 1e8 * time.Second}, {in("Retry-After", "-5"), "", 0}, {in("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"), "", 0},
	} {
		if got := retryAfter(c.h, c.body); got != c.want {
			t.Errorf("%v %q: %v, want %v", c.h, c.body, got, c.want)
		}
	}
	if got := retryAfter(in("Retry-After", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)), ""); got < 50*time.Second || got > time.Minute {
		t.Errorf("a date in a minute: %v", got)
	}
}

func TestNetworkUnknown(t *testing.T) {
	if e := network(fmt.Errorf("Post %q: %w", "http://u:p@h/?key=1", errors.New("boom"))); e.Kind != Network || e.Message != "boom" {
		t.Errorf("%+v", e)
	}
}
