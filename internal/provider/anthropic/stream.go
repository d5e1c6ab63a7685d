package anthropic

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"anchor/internal/provider"
)

// Take implements [provider.Wire]. Only a message_stop is an end; unknown events mean nothing.
func (w *wire) Take(d *provider.Draft, v gjson.Result) {
	index, delta, b := int(v.Get("index").Int()), v.Get("delta"), v.Get("content_block")
	switch v.Get("type").String() {
	case "message_stop":
		d.Over = true
	case "message_start", "message_delta":
		d.Stop = cmp.Or(delta.Get("stop_reason").String(), d.Stop)
		count(&d.Usage, v.Get("message.usage"))
		count(&d.Usage, v.Get("usage"))
	case "content_block_start":
		p := &provider.Part{Index: index, ID: b.Get("id").String(), Name: b.Get("name").String()}
		p.Type, p.Signature, p.Redacted = strings.TrimPrefix(b.Get("type").String(), "redacted_"), b.Get("signature").String(), b.Get("data").String()
		d.Add(d.Begin(p), b.Get("text").String()+b.Get("thinking").String()+b.Get("input").String())
	case "content_block_delta":
		p := part(d, index, delta.Get("type").String())
		d.Add(p, delta.Get("text").String()+delta.Get("thinking").String()+delta.Get("partial_json").String())
		p.Signature += delta.Get("signature").String()
	}
}

// part finds the newest block with an index. A server that did not begin it gets one of the delta's kind.
func part(d *provider.Draft, index int, kind string) *provider.Part {
	for i := len(d.Parts) - 1; i >= 0; i-- {
		if d.Parts[i].Index == index {
			return d.Parts[i]
		}
	}
	kind, _, _ = strings.Cut(kind, "_")
	return d.Begin(&provider.Part{Type: kind, Index: index})
}

// count takes numbers in; each is that of the whole reply so far.
func count(to *provider.Usage, u gjson.Result) {
	get := func(field string) int { return int(u.Get(field + "_tokens").Int()) }
	read := get("cache_read_input")
	to.Input, to.Output = max(to.Input, get("input")+read+get("cache_creation_input")), max(to.Output, get("output"))
	to.Cached, to.Known = max(to.Cached, read), to.Input+to.Output > 0
}
