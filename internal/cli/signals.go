package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// signals ends the program in order: the first SIGINT, SIGTERM or SIGHUP cancels the context with what stoppedBy says; one that
// comes while it ends already ends the process at once. While a turn of an interactive session runs, SIGINT cancels only that.
type signals struct {
	cancel context.CancelCauseFunc            // ends the program's context
	stop   func()                             // stops to listen
	turn   atomic.Pointer[context.CancelFunc] // of the running interactive turn, or nil
	kill   atomic.Pointer[func()]             // kills what still runs, or nil
	deaf   atomic.Int64                       // until this time, in nanoseconds, SIGINT is meant for another program in the terminal
}

// watch starts to listen. SIGPIPE is caught so that a closed standard output is an error of the write and does not kill the
// process; commands get the default back.
func watch() (context.Context, *signals) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &signals{cancel: cancel}
	c, done := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	s.stop = func() { signal.Stop(c); close(c); <-done; cancel(nil) }
	go func() {
		defer close(done)
		for caught := range c {
			sig := caught.(syscall.Signal)
			if sig == syscall.SIGPIPE || sig == syscall.SIGINT && time.Now().UnixNano() < s.deaf.Load() {
				continue
			}
			if turn := s.turn.Swap(nil); turn != nil && sig == syscall.SIGINT {
				(*turn)()
				continue
			}
			if ctx.Err() != nil {
				if kill := s.kill.Load(); kill != nil {
					(*kill)()
				}
				os.Exit(128 + int(sig))
			}
			cancel(stoppedBy(sig))
		}
	}()
	return ctx, s
}

// during lets SIGINT cancel f's context alone.
func (s *signals) during(ctx context.Context, f func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.turn.Store(&cancel)
	defer s.turn.Store(nil)
	f(ctx)
}
