package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// RetryOptions tune [WithRetry]. A zero field takes its default.
type RetryOptions struct {
	Tries int           // requests at most; 8
	First time.Duration // the first wait, doubled each time; 500 ms
	Most  time.Duration // the longest wait of our own; 8 s
	After time.Duration // the longest wait that a server may ask for; 2 minutes
	Total time.Duration // no new try is begun after so long; 10 minutes
}

// WithRetry returns p with requests that are made again when they fail in a way that may pass ([Error.Retryable]). Each new
// try is told by a [Retrying] chunk before its wait. A wait hears the context. A server that asks to wait longer than
// o.After is not waited for: the error says how long it wants.
func WithRetry(p Provider, o RetryOptions) Provider {
	o.Tries = cmp.Or(o.Tries, 8)
	o.First, o.Most = cmp.Or(o.First, 500*time.Millisecond), cmp.Or(o.Most, 8*time.Second)
	o.After, o.Total = cmp.Or(o.After, 2*time.Minute), cmp.Or(o.Total, 10*time.Minute)
	return retrier{p, o}
}

type retrier struct {
	Provider
	o RetryOptions
}

// Stream asks until there is a whole reply or an error that stays.
func (r retrier) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		begin := time.Now()
		for try := 1; ; try++ {
			shown, stopped, err := r.once(ctx, req, yield)
			if stopped || err == nil {
				return
			}
			wait, fault := r.wait(ctx, err, try, time.Since(begin))
			if fault != nil {
				yield(nil, fault)
				return
			}
			text := fmt.Sprintf("%s; trying again in %s (%d of %d)", cause(err), short(wait), try+1, r.o.Tries)
			if !yield(Retrying{Message: text, Void: shown}, nil) {
				return
			}
			if err := sleep(ctx, wait); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// once makes one request. It says whether chunks came, whether the reader wants no more, and how the request failed.
func (r retrier) once(ctx context.Context, req Request, yield func(Chunk, error) bool) (shown, stopped bool, err error) {
	for c, err := range r.Provider.Stream(ctx, req) {
		if err != nil {
			return shown, false, err
		}
		if !yield(c, nil) {
			return shown, true, nil
		}
		shown = true
	}
	return shown, false, nil
}

// wait returns how long to wait before the next try, or the error that ends the request.
func (r retrier) wait(ctx context.Context, err error, try int, spent time.Duration) (time.Duration, error) {
	var e *Error
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case !errors.As(err, &e) || !e.Retryable():
		return 0, err
	case e.After > r.o.After:
		long := *e
		long.Message += ". The server asks to wait " + short(e.After)
		long.Advice = "Try again then"
		return 0, &long
	case try >= r.o.Tries || spent > r.o.Total:
		last := *e
		last.Message += fmt.Sprintf(" (after %d tries)", try)
		return 0, &last
	}
	backoff := min(r.o.Most, r.o.First<<min(try-1, 20))
	backoff -= time.Duration(rand.Float64() * float64(backoff) / 4)
	return max(backoff, e.After), nil
}

// cause is an error in the few words that fit in a notice: no URL, no advice.
func cause(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if e.Status != 0 {
		return fmt.Sprintf("%d: %s", e.Status, e.Message)
	}
	return e.Message
}

// short rounds a wait to what a reader needs.
func short(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
