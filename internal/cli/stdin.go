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
	firstByte = 500 * time.Millisecond // how long an open pipe may stay silent before it is given up
	silence   = 60 * time.Second       // how long it may pause once something came
	maxPiped  = 512 << 10              // what is taken from it, in bytes
)

// piped returns the prompt of -p: its value with piped standard input, masked, as a fenced block, or for "-" standard input
// alone.
func (w *work) piped(ctx context.Context) (string, error) {
	text, alone := w.o.prompt, w.o.prompt == "-"
	info, err := w.sh.in.Stat()
	pipe := err == nil && info.Mode()&os.ModeCharDevice == 0 && !info.IsDir() // a pipe, a socket or a file, not a terminal or /dev/null
	if alone || pipe {
		wait := firstByte
		if alone {
			wait = time.Hour
		}
		data, notice, err := readPiped(ctx, w.sh.in, wait)
		if err != nil {
			return "", err
		}
		if notice != "" {
			w.notices = append(w.notices, notice)
		}
		body := strings.ToValidUTF8(string(data), "\uFFFD")
		if pipe {
			body = w.gate.Mask(body)
		}
		if alone {
			text = body
		} else if strings.TrimSpace(body) != "" {
			text += "\n\nStandard input:\n\n" + fenced(body)
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("--print takes a prompt that is not blank")
	}
	return text, nil
}

// readPiped reads until the end, the bound, or too long a silence; wait bounds the wait for the first byte. The reading goroutine
// may stay in its read; it ends with the process.
func readPiped(ctx context.Context, in io.Reader, wait time.Duration) (data []byte, notice string, err error) {
	pieces := make(chan []byte)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer close(pieces)
		for {
			p := make([]byte, 32<<10)
			n, err := in.Read(p)
			select {
			case pieces <- p[:n]:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		select {
		case p, ok := <-pieces:
			if data = append(data, p...); !ok {
				return data, "", nil
			}
			if len(data) > maxPiped {
				return data[:maxPiped], fmt.Sprintf("standard input is longer than %d KB; the rest was left out", maxPiped>>10), nil
			}
			wait = silence
		case <-time.After(wait):
			if len(data) > 0 {
				return data, fmt.Sprintf("standard input was silent for %v; what came until then was taken", silence), nil
			}
			return nil, fmt.Sprintf("standard input is open but nothing came within %v, so it is left out; from a slow command, use -p \"PROMPT $(COMMAND)\", or give it a file", wait), nil
		case <-ctx.Done():
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
