package cli

import (
	"context"
	"os"
	"syscall"
	"time"
)

// watchReader cancels the context with errGone when the reader of standard output goes away while nothing is written: a
// command may run for long without a word. The kernel shows the writing end of a pipe without readers as readable.
func watchReader(ctx context.Context, out *os.File, cancel context.CancelCauseFunc) {
	if info, err := out.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	fd := int(out.Fd())
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var set syscall.FdSet
		if fd >= len(set.Bits)*64 {
			return
		}
		set.Bits[fd/64] = 1 << (fd % 64)
		if n, err := syscall.Select(fd+1, &set, nil, nil, &syscall.Timeval{}); err == nil && n > 0 {
			cancel(errGone)
			return
		}
	}
}
