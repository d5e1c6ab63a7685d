package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// The bounds of trying again.
const (
	maxTries  = 8
	firstWait = 500 * time.Millisecond // doubled each time
	maxWait   = 8 * time.Second        // of our own
	maxAfter  = 2 * time.Minute        // that a server may ask for
	maxRetry  = 10 * time.Minute       // after so long no new try is begun
)

// WithRetry returns p with requests that are made again when they fail in a way that may pass ([Error.Retryable]). Each new
// try is told by a [Retrying] chunk before its wait. A wait hears the context. A server that asks to wait longer than two
// minutes is not waited for: the error says how long it wants.
func WithRetry(p Provider) Provider { return retrier{p} }

type retrier struct{ Provider }

// Stream asks until there is a whole reply or an error that stays.
func (r retrier) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return Sequence(ctx, func(ctx context.Context, show func(Chunk)) (Done, error) {
		begin := time.Now()
		for try := 1; ; try++ {
			done, shown, err := r.once(ctx, req, show)
			if err == nil {
				return done, nil
			}
			if ctx.Err() != nil {
				return Done{}, ctx.Err()
			}
			fault, err := passing(err, try, time.Since(begin))
			if err != nil {
				return Done{}, err
			}
			wait := min(maxWait, firstWait<<(try-1))
			wait = max(fault.After, wait-time.Duration(rand.Float64()*float64(wait)/4))
			show(Retrying{fmt.Sprintf("%s; trying again in %s (%d of %d)", fault.said(), short(wait), try+1, maxTries), shown})
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return Done{}, ctx.Err()
			}
		}
	})
}

// once makes one request. It says whether chunks came.
func (r retrier) once(ctx context.Context, req Request, show func(Chunk)) (done Done, shown bool, err error) {
	for c, err := range r.Provider.Stream(ctx, req) {
		if err != nil {
			return done, shown, err
		}
		if whole, ok := c.(Done); ok {
			return whole, shown, nil
		}
		shown = true
		show(c)
	}
	return done, shown, nil
}

// passing returns what is wrong, if another try makes sense, else the error that ends the request.
func passing(err error, try int, spent time.Duration) (*Error, error) {
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.Retryable() {
		return nil, err
	}
	last := *e
	switch {
	case e.After > maxAfter:
		last.Message += ". The server asks to wait " + short(e.After)
		last.Advice = "Try again then"
	case try >= maxTries || spent > maxRetry:
		last.Message += fmt.Sprintf(" (after %d tries)", try)
	default:
		return e, nil
	}
	return nil, &last
}

// short rounds a wait to what a reader needs.
func short(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
