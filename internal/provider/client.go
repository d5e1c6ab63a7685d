package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"anchor/internal/msg"
)

// Wire is what differs between the APIs that models are asked over. A field or message is the same, byte for byte, as long as
// what it is made of is, so that caches hit.
type Wire interface {
	// Send makes a request for a path under the base URL: a POST if there is a body. key may be empty.
	Send(ctx context.Context, key, path string, body []byte) (*http.Response, error)
	// Head returns the fields of a request but for the model, the tools and the messages.
	Head(Request) map[string]any
	// Tools encodes the tool definitions.
	Tools([]msg.Spec) []byte
	// Encode makes the turn of one message for a model. What servers would refuse is left out or said in words.
	Encode(m msg.Message, model string) Turn
	// Messages appends the messages of a request, a comma after each. No two neighbours of the turns are of the same side.
	Messages(out []byte, system string, turns []Turn) []byte
	// Take adds an event of a reply to its draft, and says in it when the reply ends.
	Take(*Draft, gjson.Result)
	// Learn reads in an error to a request what the server does not take, and says whether to ask again without it.
	Learn(fault *Error, body []byte) bool
}

// Client is a [Provider] over a wire.
type Client struct {
	*Endpoint
	Wire
	Path, ListPath string // of requests, and of the list of models, under the base URL

	key   string
	cache map[msg.Message]Turn // of the last request's messages, for the model
	model string
	specs []msg.Spec
	tools []byte // of specs
	size  int    // of the last body
}

// Stream implements [Provider].
func (c *Client) Stream(ctx context.Context, req Request, show func(Chunk)) (Done, error) {
	r, err := c.ask(ctx, req)
	if err != nil {
		return Done{}, err
	}
	defer r.close()
	return c.read(r, req, NewDraft(show))
}

// ask sends a request, again without what the server does not take.
func (c *Client) ask(ctx context.Context, req Request) (*reply, error) {
	for {
		body := c.body(req)
		r, err := c.open(ctx, c.Path, body)
		fault, ok := errors.AsType[*Error](err)
		if !ok {
			return r, err
		}
		if fault.Kind == NoModel {
			c.suggest(ctx, req.Model, fault)
		}
		if !c.Learn(fault, body) {
			return nil, fault
		}
	}
}

// read reads a reply to its explicit end.
func (c *Client) read(r *reply, req Request, d *Draft) (Done, error) {
	for ended := false; ; {
		v, err := r.next()
		if err != nil && !ended {
			return Done{}, err
		}
		if e := v.Get("error"); e.IsObject() || e.String() != "" {
			return Done{}, c.finish(streamFault(e), r.url)
		}
		if err == nil {
			c.Take(d, v)
		}
		switch {
		case d.Stop == "error":
			return Done{}, r.broken("the server gave up in the middle of the reply")
		case d.Over || err != nil:
			return d.Done(c.Name, req), nil
		case d.Ends && !ended:
			ended = true
			r.keep(afterEnd)
		case d.grew && !ended:
			d.grew = false
			r.keep(c.quiet())
		}
	}
}

// open makes a request and returns the answer if it is a 200 with a stream or JSON; all else is an *[Error]. The caller
// closes it.
func (c *Client) open(ctx context.Context, path string, body []byte) (*reply, error) {
	if err := c.getKey(ctx); err != nil {
		return nil, err
	}
	r := &reply{c: c, parent: ctx, url: PlainURL(c.BaseURL + "/" + path)}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.watch = time.AfterFunc(c.FirstByte, func() { r.cancel(errStalled) })
	res, err := c.Send(r.ctx, c.key, path, body) //nolint:bodyclose // reply closes it
	r.watch.Stop()
	if err != nil {
		defer r.close()
		return nil, r.fault(err)
	}
	r.body, r.events = res.Body, eventsOf(r)
	r.keep(c.quiet())
	kind := res.Header.Get("Content-Type")
	page := strings.Contains(kind, "text/html")
	if r.json = strings.Contains(kind, "json"); res.StatusCode == http.StatusOK && !page {
		return r, nil
	}
	defer r.close()
	text, err := io.ReadAll(io.LimitReader(r, maxErrorBody))
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if to := res.Header.Get("Location"); to != "" && res.StatusCode/100 == 3 {
		text = []byte("the server redirects to " + PlainURL(to) + "; use that as the base URL if it is right")
	}
	fault := classify(res.StatusCode, res.Header, text)
	if page && res.StatusCode == http.StatusOK {
		fault.Kind, fault.Advice = BadRequest, "That was a web page, no model. Check the base URL"
	}
	return nil, c.finish(fault, r.url)
}

// finish completes an error for the user: which URL was asked, how the key is set, and nothing of the key itself. A key
// that was refused is asked for again: those of some commands live for a short time.
func (c *Client) finish(fault *Error, url string) *Error {
	fault.URL = cmp.Or(fault.URL, url)
	if c.key != "" {
		fault.Message = strings.ReplaceAll(fault.Message, c.key, "[key]")
	}
	if fault.Kind == Auth && c.KeyName != "" {
		if fault.Advice = "Check the key in " + c.KeyName; c.key == "" {
			fault.Advice = "Set " + c.KeyName
		}
		c.key = ""
	}
	return fault
}

// body puts a request together. What the last request had too is not encoded again: messages never change, so their address
// is enough of a key.
func (c *Client) body(req Request) []byte {
	head := c.Head(req)
	head["model"], head["stream"] = req.Model, true
	if len(req.Tools) > 0 {
		if !reflect.DeepEqual(c.specs, req.Tools) {
			c.specs, c.tools = slices.Clone(req.Tools), c.Tools(req.Tools)
		}
		head["tools"] = json.RawMessage(c.tools)
	}
	if c.model != req.Model {
		c.model, c.cache = req.Model, nil
	}
	next := make(map[msg.Message]Turn, len(req.Messages))
	var turns []Turn
	for _, m := range req.Messages {
		t, ok := c.cache[m]
		if !ok {
			t = c.Encode(m, req.Model)
		}
		next[m] = t
		turns = addTurn(turns, t)
	}
	c.cache = next
	out := append(make([]byte, 0, c.size+c.size/8+4096), bytes.TrimSuffix(Encode(head), []byte("}"))...)
	out = c.Messages(append(out, `,"messages":[`...), req.System, turns)
	c.size = len(out)
	return append(bytes.TrimSuffix(out, []byte(",")), "]}"...)
}

// Listed is a model that a server says it has. Window is in tokens, 0 where the server does not tell it.
type Listed struct {
	ID     string
	Window int
}

// ListTimeout bounds a question for the models of a server.
const ListTimeout = 5 * time.Second

// Models asks the server which models it has, and their windows, which each kind of server names in its own way: one that is loaded
// or set counts before one that the model could have. It must not be called while a request runs.
func (c *Client) Models(ctx context.Context) ([]Listed, error) {
	ctx, cancel := context.WithTimeout(ctx, ListTimeout)
	defer cancel()
	r, err := c.open(ctx, c.ListPath, nil)
	if err != nil {
		return nil, err
	}
	defer r.close()
	list, err := r.next()
	if err != nil {
		return nil, err
	}
	out := []Listed{}
	for _, m := range list.Get(`data.#(id!="")#`).Array() {
		window := 0
		for _, field := range strings.Fields("loaded_context_length max_model_len meta.n_ctx context_length context_window max_context_length max_input_tokens meta.n_ctx_train") {
			window = cmp.Or(window, int(m.Get(field).Int()))
		}
		out = append(out, Listed{m.Get("id").String(), window})
	}
	return out, nil
}

// ollamaSet finds the window in the parameters of a model, a setting a line.
var ollamaSet = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`)

// Window asks Ollama, whose list does not tell, for the context window of a model: the one that it is loaded with, or that is set for it; else
// what the model could have, and most is true: the server may load it with less. 0 if the server is no Ollama. Bounds as for Models.
func (c *Client) Window(ctx context.Context, model string) (tokens int, most bool) {
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
		if name := m.Get("name").String(); name == model || name == model+":latest" {
			tokens = int(m.Get("context_length").Int())
		}
	}
	if tokens > 0 {
		return tokens, false
	}
	shown := ask("/api/show", Encode(map[string]any{"model": model}))
	if set := ollamaSet.FindStringSubmatch(shown.Get("parameters").String()); set != nil {
		tokens, _ = strconv.Atoi(set[1])
		return tokens, false
	}
	shown.Get("model_info").ForEach(func(key, value gjson.Result) bool {
		if strings.HasSuffix(key.String(), ".context_length") {
			tokens = int(value.Int())
		}
		return tokens == 0
	})
	return tokens, true
}

// suggest adds to an error about a missing model the nearest name that the server has.
func (c *Client) suggest(ctx context.Context, model string, fault *Error) {
	models, err := c.Models(ctx)
	if err != nil || len(models) == 0 {
		return
	}
	near := slices.MaxFunc(models, func(a, b Listed) int { return cmp.Compare(likeness(model, a.ID), likeness(model, b.ID)) })
	fault.Advice = "The nearest model here is " + near.ID + `; "anchor models" lists all`
}

// likeness is how much of two names is the same in the same order, from 0 to 1.
func likeness(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	row := make([]int, len(b)+1)
	for i := range len(a) {
		diagonal := 0
		for j := range len(b) {
			next := max(row[j], row[j+1])
			if a[i] == b[j] {
				next = diagonal + 1
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}
