package openai

import (
	"cmp"

	"github.com/tidwall/gjson"

	"anchor/internal/provider"
)

// Take implements [provider.Wire]. The end is a finish_reason; a [DONE] alone is none. gjson reads null as an empty text, and an
// object in the place of a text as its JSON: servers send arguments and ids so.
func (w *wire) Take(d *provider.Draft, v gjson.Result) {
	choice := v.Get("choices.0")
	delta := choice.Get("delta")
	if m := choice.Get("message"); m.IsObject() && len(d.Parts) == 0 {
		delta = m // whole, as without streaming; after deltas it only repeats them
	}
	for _, field := range []string{reasoningContent, reasoning} {
		if s := delta.Get(field).String(); s != "" {
			p := d.Part(provider.Thinking)
			p.Signature = field
			d.Add(p, s)
			break
		}
	}
	refusal, content := delta.Get("refusal").String(), delta.Get("content")
	says := content.String()
	if content.IsArray() {
		says = ""
		for _, part := range content.Array() {
			says += part.Get("text").String()
		}
	}
	d.Refused = d.Refused || refusal != ""
	if says += refusal; says != "" {
		d.Add(d.Part(provider.Text), says)
	}
	for _, c := range delta.Get("tool_calls").Array() {
		add(d, c)
	}
	d.Stop = cmp.Or(choice.Get("finish_reason").String(), d.Stop)
	for _, u := range []gjson.Result{v.Get("x_groq.usage"), v.Get("usage"), choice.Get("usage")} { // the last is Moonshot's
		if u.IsObject() {
			cached := max(u.Get("prompt_tokens_details.cached_tokens").Int(), u.Get("prompt_cache_hit_tokens").Int()) // DeepSeek
			d.Usage = provider.Usage{Input: int(u.Get("prompt_tokens").Int()), Output: int(u.Get("completion_tokens").Int()), Cached: int(cached), Known: true}
		}
	}
	d.Ends = d.Stop != ""
	d.Over = d.Ends && d.Usage.Known
}

// add adds a piece of a call to the one that it belongs to: the newest with its id, else with its index, else, where it has no
// index or nothing that begins a call, the newest. Servers give all calls of a reply the same index or id, or none, and say the name
// again, so another name or id than that call has begins a new one, and so does a name where that call has all its arguments:
// unless they are the same, or a placeholder, under the same id.
func add(d *provider.Draft, c gjson.Result) {
	id, name, args, index := c.Get("id").String(), c.Get("function.name").String(), c.Get("function.arguments").String(), -1
	if i := c.Get("index"); i.Type == gjson.Number {
		index = int(i.Int())
	}
	var same, slot, last *provider.Part
	for _, p := range d.Parts {
		if p.Type != provider.Call {
			continue
		}
		last = p
		if id != "" && p.ID == id {
			same = p
		}
		if index >= 0 && p.Index == index {
			slot = p
		}
	}
	p := cmp.Or(same, slot)
	if p == nil && (index < 0 || id+name == "") {
		p = last
	}
	other := func(a, b string) bool { return a != "" && b != "" && a != b }
	if p == nil || other(id, p.ID) || other(name, p.Name) || name != "" && (index >= 0 && p != slot ||
		id == "" && (index < 0 || provider.Whole(p.Text)) ||
		id != "" && string(p.Text) != "{}" && args != string(p.Text) && provider.Whole([]byte(args)) && provider.Whole(p.Text)) {
		p = d.Begin(&provider.Part{Type: provider.Call, Index: index})
	}
	p.ID, p.Name = cmp.Or(p.ID, id), cmp.Or(p.Name, name)
	if extra := c.Get("extra_content"); extra.IsObject() {
		p.Redacted = extraContent + extra.Raw
	}
	d.Add(p, args)
}
