//go:build unix

package cli

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watchReader calls gone when the reader of standard output goes away while nothing is written: a command may run for long
// without a word. Where the kernel does not show that, it shows with the next write.
func watchReader(ctx context.Context, out *os.File, gone func(error)) {
	if info, err := out.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	poll := []unix.PollFd{{Fd: int32(out.Fd())}}
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := unix.Poll(poll, 0); err == nil && poll[0].Revents&unix.POLLERR != 0 {
			gone(syscall.EPIPE)
			return
		}
	}
}
