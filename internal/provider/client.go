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
	"slices"
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
	// Encode makes the turn of one message. What servers would refuse is left out or said in words.
	Encode(m msg.Message) Turn
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

	key, refused string
	cache        map[msg.Message]Turn // of the last request's messages
	specs        []msg.Spec
	tools        []byte // of specs
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
		e := v.Get("error")
		if v.Get("object").String() == "error" || v.Get("type").String() == "error" && !e.Exists() {
			e = v
		}
		if e.IsObject() || e.String() != "" {
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
	if c.key == "" && c.Key != nil {
		var err error
		if c.key, err = c.Key(ctx, c.refused); err != nil {
			return nil, &Error{Kind: Config, Message: oneLine(err.Error())}
		}
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
	r.body = res.Body
	r.keep(c.quiet())
	page := strings.Contains(res.Header.Get("Content-Type"), "text/html")
	if res.StatusCode == http.StatusOK && !page {
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

// finish completes an error for the user: which URL was asked, how the key is set, and nothing of the key itself.
func (c *Client) finish(fault *Error, url string) *Error {
	fault.URL = cmp.Or(fault.URL, url)
	if c.key != "" {
		fault.Message = strings.ReplaceAll(fault.Message, c.key, "[key]")
	}
	if fault.Kind == Auth && c.KeyName != "" {
		if fault.Advice = "Check the key in " + c.KeyName; c.key == "" {
			fault.Advice = "Set " + c.KeyName
		}
		c.key, c.refused = "", c.key
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
	next := make(map[msg.Message]Turn, len(req.Messages))
	var turns []Turn
	for _, m := range req.Messages {
		t, ok := c.cache[m]
		if !ok {
			t = c.Encode(m)
		}
		next[m] = t
		turns = addTurn(turns, t)
	}
	c.cache = next
	out := c.Messages(append(bytes.TrimSuffix(Encode(head), []byte("}")), `,"messages":[`...), req.System, turns)
	return append(bytes.TrimSuffix(out, []byte(",")), "]}"...)
}
