package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	// firstByte is how long an open pipe may stay silent before it is given up.
	firstByte = 500 * time.Millisecond
	// silence is how long it may pause once something came.
	silence = 60 * time.Second
	// maxPiped bounds what is taken from it, in bytes.
	maxPiped = 512 << 10
)

// prompt returns the prompt of -p: its value with piped standard input as a fenced block, or for "-" standard input alone.
// mask is applied to what was piped. notice is something to tell the user, or empty.
func prompt(ctx context.Context, value string, in *os.File, mask func(string) string) (text, notice string, err error) {
	if value == "-" {
		var data []byte
		data, notice, err = readPiped(ctx, in, 0)
		if err != nil {
			return "", "", err
		}
		if text = strings.ToValidUTF8(string(data), "\uFFFD"); piped(in) {
			text = mask(text)
		}
	} else {
		text = value
		if piped(in) {
			var data []byte
			data, notice, err = readPiped(ctx, in, firstByte)
			if err != nil {
				return "", "", err
			}
			if body := strings.ToValidUTF8(string(data), "\uFFFD"); strings.TrimSpace(body) != "" {
				text += "\n\nStandard input:\n\n" + fenced(mask(body))
			}
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", "", usagef("--print takes a prompt that is not blank")
	}
	return text, notice, nil
}

// piped says whether something may come from standard input: a pipe, a socket or a file, not a terminal or /dev/null.
func piped(in *os.File) bool {
	info, err := in.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0 && !info.IsDir()
}

// readPiped reads until the end, the bound, or too long a silence; wait bounds the wait for the first byte (0: silence
// does). The reading goroutine may stay in its read; it ends with the process.
func readPiped(ctx context.Context, in io.Reader, wait time.Duration) (data []byte, notice string, err error) {
	pieces := make(chan []byte)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(pieces)
		for {
			p := make([]byte, 32<<10)
			n, err := in.Read(p)
			if n > 0 {
				select {
				case pieces <- p[:n]:
				case <-stop:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	if wait == 0 {
		wait = time.Hour
	}
	for {
		timer := time.NewTimer(wait)
		select {
		case p, ok := <-pieces:
			timer.Stop()
			if data = append(data, p...); !ok {
				return data, notice, nil
			}
			if len(data) > maxPiped {
				return data[:maxPiped], fmt.Sprintf("standard input is longer than %d KB; the rest was left out", maxPiped>>10), nil
			}
			wait = silence
		case <-timer.C:
			if len(data) > 0 {
				notice = fmt.Sprintf("standard input was silent for %v; what came until then was taken", silence)
			}
			return data, notice, nil
		case <-ctx.Done():
			timer.Stop()
			return nil, "", context.Cause(ctx)
		}
	}
}

// fenced puts text into a code fence that is longer than any in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
