package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signals ends the program in order: the first SIGINT, SIGTERM or SIGHUP cancels the context with what stoppedBy says; a second
// one ends the process at once. While a turn of an interactive session runs, SIGINT cancels only that.
type signals struct {
	cancel context.CancelCauseFunc // ends the program's context
	stop   func()                  // stops to listen
	mu     sync.Mutex
	turn   context.CancelFunc // of the running interactive turn, or nil
	seen   bool
}

// watch starts to listen. SIGPIPE is caught so that a closed standard output is an error of the write and does not kill the
// process; commands get the default back.
func watch() (context.Context, *signals) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c, pipe := make(chan os.Signal, 4), make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(pipe, syscall.SIGPIPE)
	s := &signals{cancel: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sig := range c {
			s.hear(sig.(syscall.Signal))
		}
	}()
	s.stop = func() {
		signal.Stop(c)
		signal.Stop(pipe)
		close(c)
		<-done
		cancel(nil)
	}
	return ctx, s
}

func (s *signals) hear(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.turn != nil && sig == syscall.SIGINT:
		s.turn()
		s.turn = nil
	case s.seen:
		os.Exit(128 + int(sig))
	default:
		s.seen = true
		s.cancel(stoppedBy(sig))
	}
}

// during lets SIGINT cancel f's context alone.
func (s *signals) during(ctx context.Context, f func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	set := func(turn context.CancelFunc) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.turn = turn
	}
	set(cancel)
	defer set(nil)
	f(ctx)
}
