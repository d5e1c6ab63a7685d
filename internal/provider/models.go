package provider

import (
	"cmp"
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"anchor/internal/model"
)

// Listed is a model that a server says it has. Window is in tokens, 0 where the server does not tell it.
type Listed struct {
	ID     string
	Window int
}

// windows are the fields in which servers name a window: one that is loaded or set counts before one that the model could have.
const windows = "loaded_context_length max_model_len meta.n_ctx context_length context_window max_context_length max_input_tokens meta.n_ctx_train"

// ListTimeout is enough of a limit for a question for the models of a server.
const ListTimeout = 5 * time.Second

// Models asks the server which models it has, and their windows, and waits no longer than limit. It must not be called while a
// request runs.
func (c *Client) Models(ctx context.Context, limit time.Duration) ([]Listed, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := c.open(limited, c.ListPath, nil)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, c.finish(&Error{Kind: Network, Message: "no answer within " + short(limit)}, PlainURL(c.BaseURL+"/"+c.ListPath))
	} else if err != nil {
		return nil, err
	}
	defer r.close()
	list, err := r.next()
	out := []Listed{}
	for _, m := range append(list.Get(`data.#(id!="")#`).Array(), list.Get(`#(id!="")#`).Array()...) {
		window := 0
		for _, field := range strings.Fields(windows) {
			window = cmp.Or(window, int(m.Get(field).Int()))
		}
		out = append(out, Listed{m.Get("id").String(), window})
	}
	return out, err
}

// suggest adds to an error about a missing model the nearest name that the server has.
func (c *Client) suggest(ctx context.Context, name string, fault *Error) {
	models, _ := c.Models(ctx, ListTimeout)
	var ids []string
	for _, m := range models {
		ids = append(ids, m.ID)
	}
	if near := model.Nearest(name, ids, 0); near != "" {
		fault.Advice = "The nearest model here is " + near + `; "anchor models" lists all`
	}
}

// Window asks Ollama, whose list does not tell, for the context window of a model: the one that it is loaded with, or that is set for it; else
// what the model could have, and most is true: the server may load it with less. 0 if the server is no Ollama.
func (c *Client) Window(ctx context.Context, name string) (tokens int, most bool) {
	ctx, cancel := context.WithTimeout(ctx, ListTimeout)
	defer cancel()
	ask := func(path string, body []byte) (out gjson.Result) {
		if r, err := c.open(ctx, path, body); err == nil {
			defer r.close()
			out, _ = r.next()
		}
		return out
	}
	loaded := ask("/api/ps", nil).Get("models")
	if !loaded.IsArray() { // another server, which a POST might confuse
		return 0, false
	}
	for _, m := range loaded.Array() {
		if is, n := m.Get("name").String(), int(m.Get("context_length").Int()); n > 0 && (is == name || is == name+":latest") {
			return n, false
		}
	}
	shown := ask("/api/show", Encode(map[string]any{"model": name}))
	if set := regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`).FindStringSubmatch(shown.Get("parameters").String()); set != nil {
		tokens, _ = strconv.Atoi(set[1])
		return tokens, false
	}
	family := shown.Get(`model_info.general\.architecture`).String()
	return int(shown.Get("model_info." + family + `\.context_length`).Int()), true
}
