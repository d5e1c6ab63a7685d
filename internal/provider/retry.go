package provider

import (
	"context"
	"errors"
	"fmt"
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
func (r retrier) Stream(ctx context.Context, req Request, show func(Chunk)) (Done, error) {
	begin := time.Now()
	for try := 1; ; try++ {
		shown := false
		done, err := r.Provider.Stream(ctx, req, func(c Chunk) { shown = true; show(c) })
		e, known := errors.AsType[*Error](err)
		switch {
		case err == nil:
			return done, nil
		case ctx.Err() != nil:
			return done, ctx.Err()
		case !known || !e.Retryable():
			return done, err
		case e.After > maxAfter:
			e.Message, e.Advice = e.Message+". The server asks to wait "+short(e.After), "Try again then"
			return done, e
		case try == maxTries || time.Since(begin) > maxRetry:
			e.Message += fmt.Sprintf(" (after %d tries)", try)
			return done, e
		}
		wait := min(maxWait, firstWait<<(try-1))
		wait = max(e.After, wait-time.Duration(rand.Float64()*float64(wait)/4))
		show(Retrying{fmt.Sprintf("%s; trying again in %s (%d of %d)", e.said(), short(wait), try+1, maxTries), shown})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return done, ctx.Err()
		}
	}
}

// short rounds a wait to what a reader needs.
func short(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
