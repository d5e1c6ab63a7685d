package provider

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
)

// all reads every event of a stream.
func all(r io.Reader) (out []string, err error) {
	next := eventsOf(r)
	for {
		data, err := next()
		if err != nil {
			return out, err
		}
		out = append(out, string(data))
	}
}

func TestSSE(t *testing.T) {
	const events = "data: a\n\ndata:b\ndata: c\n\n: comment\nevent: x\nid\n\n\ndata: d é€😀\n\ndata: last"
	want := "a|b\nc|d é€😀|last"
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		text := strings.ReplaceAll(events, "\n", end)
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(text), "by the byte": iotest.OneByteReader(strings.NewReader(text)), "with EOF": iotest.DataErrReader(strings.NewReader(text))} {
			got, err := all(r)
			if strings.Join(got, "|") != want || !errors.Is(err, io.EOF) {
				t.Errorf("%s, %s: %q, %v", name, how, got, err)
			}
		}
	}
	if _, err := all(iotest.TimeoutReader(strings.NewReader("data: a\n"))); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("a fault of the reader: %v", err)
	}
	if _, err := all(io.LimitReader(endless{}, maxLine+100_000)); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("a line without an end: %v", err)
	}
}

// endless sends one line for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzSSE(f *testing.F) {
	f.Add("data: a\r\n\r\ndata: b\r\rdata: c\n\n", 3)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		whole, _ := all(strings.NewReader(text))
		pieces, _ := all(iotest.OneByteReader(strings.NewReader(text)))
		if strings.Join(whole, "\x00") != strings.Join(pieces, "\x00") {
			t.Errorf("%q gives %q, by the byte %q", text, whole, pieces)
		}
	})
}

// pinging is a wire whose server sends one word, then pings for ever.
type pinging struct {
	Wire
	ctx  context.Context
	word string
}

func (p *pinging) Send(ctx context.Context, _, _ string, _ []byte) (*http.Response, error) {
	p.ctx = ctx
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(p)}, nil
}

func (p *pinging) Read(b []byte) (int, error) {
	select {
	case <-time.After(50 * time.Second):
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	}
	defer func() { p.word = "" }()
	return copy(b, cmp.Or(p.word, ": ping\n\ndata: {\"type\":\"ping\"}\n\n")), nil
}

func (*pinging) Head(Request) map[string]any                    { return map[string]any{} }
func (*pinging) Messages(out []byte, _ string, _ []Turn) []byte { return out }
func (*pinging) Learn(*Error, []byte) bool                      { return false }

func (*pinging) Take(d *Draft, v gjson.Result) {
	d.Add(d.Part(Text), v.Get("text").String())
}

// Pings alone keep no reply alive for ever, and what came before them counts.
func TestPings(t *testing.T) {
	for stall, want := range map[time.Duration]time.Duration{time.Minute: 10 * time.Minute, 20 * time.Minute: 20 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			e := &Endpoint{BaseURL: "http://h", StallTimeout: stall, FirstByte: stall}
			c := &Client{Endpoint: e, Wire: &pinging{word: "data: {\"text\":\"hello\"}\n\n"}}
			begin := time.Now()
			_, err := c.Stream(t.Context(), Request{}, func(Chunk) {})
			if err == nil || !strings.Contains(err.Error(), "nothing but pings came for "+want.String()) || time.Since(begin) != want+50*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		})
	}
}

// pieces is a body that comes in parts; each is one read.
type pieces []string

func (p *pieces) Read(b []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(b, (*p)[0])
	*p = (*p)[1:]
	return n, nil
}

func (*pieces) Close() error { return nil }

func replyOf(body ...string) *reply {
	p := pieces(body)
	r := &reply{c: &Client{Endpoint: &Endpoint{StallTimeout: time.Minute}}, parent: context.Background(), body: &p}
	r.ctx, r.cancel = context.WithCancelCause(r.parent)
	r.watch = time.AfterFunc(time.Minute, func() {})
	r.keep(time.Minute)
	return r
}

func TestAStreamIsTheSameHoweverItIsCut(t *testing.T) {
	for text, want := range map[string]string{
		"data: {\"a\": \" b [{\"}\n\n: ping\n\ndata: {\"c\":\n data: 1}\ndata: 2}\n\n": `{"a": " b [{"}` + "|" + `{"c":` + "\n2}",
		" \n\r\n{\"whole\":\n [1]}\n": "{\"whole\":\n [1]}\n",
	} {
		for cut := range len(text) {
			r := replyOf(text[:cut], text[cut:])
			var got []string
			for range strings.Count(want, "|") + 1 {
				v, err := r.next()
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				got = append(got, v.Raw)
			}
			if g := strings.Join(got, "|"); g != want && g != strings.TrimSpace(want) {
				t.Errorf("cut at %d: %q, want %q", cut, g, want)
			}
		}
	}
}

func TestAnEventIsReadWithoutWaitingForTheNext(t *testing.T) {
	p := pieces{"data: 1\n\n", "data: 2\n\n"}
	r := replyOf()
	r.body = &p
	if v, err := r.next(); err != nil || v.Int() != 1 || len(p) != 1 {
		t.Errorf("%v, %v, %d pieces left", v, err, len(p))
	}
	if _, err := r.next(); err != nil || len(p) != 0 {
		t.Errorf("%v, %d pieces left", err, len(p))
	}
}
