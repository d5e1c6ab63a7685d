package provider_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"anchor/internal/msg"
	"anchor/internal/provider"
)

// fake fails with each error in turn, after a piece of text if shows is true, then answers.
type fake struct {
	errs  []error
	shows bool
	times []time.Time
}

func (f *fake) Stream(_ context.Context, _ provider.Request, show func(provider.Chunk)) (provider.Done, error) {
	f.times = append(f.times, time.Now())
	n := len(f.times) - 1
	if f.shows {
		show(provider.TextDelta{Text: "x"})
	}
	if n < len(f.errs) {
		return provider.Done{}, f.errs[n]
	}
	return provider.Done{Reply: &msg.Assistant{}}, nil
}

// collect returns the retry chunks, whether the reply was whole, and the error.
func collect(ctx context.Context, p provider.Provider) (retries []provider.Retrying, whole bool, err error) {
	done, err := p.Stream(ctx, provider.Request{}, func(c provider.Chunk) {
		if r, ok := c.(provider.Retrying); ok {
			retries = append(retries, r)
		}
	})
	return retries, done.Reply != nil, err
}

func many(n int, e *provider.Error) (out []error) {
	for range n {
		out = append(out, e)
	}
	return out
}

func TestRetryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{errs: many(99, &provider.Error{Kind: provider.Overloaded, Status: 529, Message: "Overloaded"})}
		retries, done, err := collect(t.Context(), provider.WithRetry(f))
		var e *provider.Error
		if len(f.times) != 8 || len(retries) != 7 || done || !errors.As(err, &e) || !strings.Contains(e.Message, "after 8 tries") {
			t.Fatalf("%d tries, %v, %v", len(f.times), retries, err)
		}
		want := 500 * time.Millisecond
		for i := 1; i < 8; i++ {
			if d := f.times[i].Sub(f.times[i-1]); d > want || d < want*3/4 {
				t.Errorf("wait %d is %v, want up to a quarter less than %v", i, d, want)
			}
			want = min(2*want, 8*time.Second)
		}
		if m := retries[0].Message; !strings.HasPrefix(m, "529: Overloaded; trying again in ") || !strings.HasSuffix(m, "(2 of 8)") || retries[0].Void {
			t.Errorf("%+v", retries[0])
		}
	})
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{shows: true, errs: []error{&provider.Error{Kind: provider.Rate, Status: 429, After: 90 * time.Second}}}
		retries, done, err := collect(t.Context(), provider.WithRetry(f))
		if !done || err != nil || f.times[1].Sub(f.times[0]) != 90*time.Second || !retries[0].Void {
			t.Errorf("%v %v %v %v", f.times, retries, done, err)
		}
		f = &fake{errs: []error{&provider.Error{Kind: provider.Rate, Status: 429, Message: "slow", After: 5 * time.Minute}}}
		begin := time.Now()
		retries, _, err = collect(t.Context(), provider.WithRetry(f))
		if len(retries) != 0 || time.Since(begin) != 0 || err == nil || !strings.Contains(err.Error(), "wait 5m0s") {
			t.Errorf("%v %v", retries, err)
		}
	})
}

func TestRetryKinds(t *testing.T) {
	again := map[provider.Kind]bool{provider.Rate: true, provider.Overloaded: true, provider.Server: true, provider.Network: true, provider.Broken: true}
	for _, k := range []provider.Kind{
		provider.Auth, provider.NoModel, provider.Quota, provider.Rate, provider.Overloaded, provider.Server, provider.TooLong, provider.BadRequest,
		provider.Network, provider.TLS, provider.Proxy, provider.Broken, provider.Config,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{errs: []error{&provider.Error{Kind: k}}}
			if _, done, err := collect(t.Context(), provider.WithRetry(f)); done != again[k] || (err == nil) != done {
				t.Errorf("%s: done %v, %v", k, done, err)
			}
		})
	}
}

func TestRetryBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{errs: many(99, &provider.Error{Kind: provider.Network, After: 2 * time.Minute})}
		begin := time.Now()
		if _, _, err := collect(t.Context(), provider.WithRetry(f)); err == nil || time.Since(begin) > 13*time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
	synctest.Test(t, func(t *testing.T) { // a cancel ends a wait
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		f := &fake{errs: many(1, &provider.Error{Kind: provider.Rate, After: time.Minute})}
		begin := time.Now()
		if _, _, err := collect(ctx, provider.WithRetry(f)); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}
