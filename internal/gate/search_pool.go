package gate

import (
	"context"
	"sync"
)

// pool runs tasks on a few goroutines, the newest first, so that a tree is gone through depth first and little waits at a
// time. A task may push further ones. buf is a buffer of the goroutine's that tasks may grow and reuse.
type pool struct {
	mu    sync.Mutex
	wake  sync.Cond
	tasks []task
	busy  int
	err   error
}

type task func(buf *[]byte) error

func (p *pool) push(t task) {
	p.mu.Lock()
	p.tasks = append(p.tasks, t)
	p.mu.Unlock()
	p.wake.Signal()
}

// run returns when all tasks are done, or with the first error of one or of ctx once those at work have returned.
func (p *pool) run(ctx context.Context, n int, first task) error {
	p.wake.L = &p.mu
	p.push(first)
	var all sync.WaitGroup
	for range n {
		all.Go(func() { p.work(ctx) })
	}
	all.Wait()
	return p.err
}

func (p *pool) work(ctx context.Context) {
	var buf []byte
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.tasks) == 0 && p.busy > 0 && p.err == nil {
			p.wake.Wait()
		}
		if p.err == nil {
			p.err = ctx.Err()
		}
		if p.err != nil || len(p.tasks) == 0 {
			p.wake.Broadcast()
			return
		}
		t := p.tasks[len(p.tasks)-1]
		p.tasks = p.tasks[:len(p.tasks)-1]
		p.busy++
		p.mu.Unlock()
		err := t(&buf)
		p.mu.Lock()
		p.busy--
		if err != nil && p.err == nil {
			p.err = err
		}
	}
}
