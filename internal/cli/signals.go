package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signals ends the program in order: the first SIGINT, SIGTERM or SIGHUP cancels the context with a signalError; a second
// one ends the process at once. While a turn of an interactive session runs, SIGINT cancels only that.
type signals struct {
	mu   sync.Mutex
	turn context.CancelFunc // of the running interactive turn, or nil
	seen bool
}

// watch starts to listen; stop ends that. SIGPIPE is caught so that a closed standard output is an error of the write and
// does not kill the process; commands get the default back.
func (s *signals) watch(parent context.Context) (ctx context.Context, cancel context.CancelCauseFunc, stop func()) {
	ctx, cancel = context.WithCancelCause(parent)
	c, pipe := make(chan os.Signal, 4), make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(pipe, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-c:
				s.hear(sig.(syscall.Signal), cancel)
			case <-done:
				return
			}
		}
	}()
	return ctx, cancel, func() { signal.Stop(c); signal.Stop(pipe); close(done); cancel(nil) }
}

func (s *signals) hear(sig syscall.Signal, cancel context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil && sig == syscall.SIGINT {
		s.turn()
		s.turn = nil
		return
	}
	if s.seen {
		os.Exit(128 + int(sig))
	}
	s.seen = true
	cancel(signalError{sig})
}

// during lets SIGINT cancel f's context alone.
func (s *signals) during(ctx context.Context, f func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.turn = cancel
	s.mu.Unlock()
	f(ctx)
	s.mu.Lock()
	s.turn = nil
	s.mu.Unlock()
}
