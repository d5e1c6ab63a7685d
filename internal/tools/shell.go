package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"anchor/internal/gate"
	"anchor/internal/tool"
)

type shellArgs struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty" about:"seconds, default 120, at most 3600"`
}

func shell() tool.Tool {
	return tool.Of(spec("shell", false, "Run a bash command in the working directory: each call in a fresh shell, no terminal, empty stdin. Background children outlive the call."),
		func(a shellArgs) string { return a.Command },
		func(ctx context.Context, env tool.Env, a shellArgs) (tool.Result, error) {
			switch {
			case strings.TrimSpace(a.Command) == "":
				return tool.Fail("command is empty: nothing was run."), nil
			case a.Timeout < 0 || a.Timeout > 3600:
				return tool.Fail(fmt.Sprintf("timeout is in seconds, from 1 to 3600, not %d: nothing was run.", a.Timeout)), nil
			}
			timeout := time.Duration(cmp.Or(a.Timeout, 120)) * time.Second
			out, err := env.Gate.Exec(ctx, gate.Command{Text: a.Command, Timeout: timeout})
			if err != nil && !out.Cancelled {
				return tool.Result{}, err
			}
			return ran(out, timeout), err
		})
}

// ran makes the result of a command that ran: its output first, how it ended last.
func ran(out gate.Output, timeout time.Duration) tool.Result {
	var b strings.Builder
	b.WriteString(cmp.Or(out.Text, "(no output)"))
	line := func(format string, args ...any) {
		if !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, format, args...)
	}
	if out.Saved != "" {
		line("[the whole output is in %s: read_file or grep it]", out.Saved)
	}
	if out.Background != "" {
		line("[children still run in the background; what they write goes to %s]", out.Background)
	}
	r := tool.Result{Outcome: tool.Exited}
	switch {
	case out.Cancelled:
		line("cancelled: the command was ended; it may have had effects")
		r.Outcome = tool.Failed
	case out.TimedOut:
		line("timed out after %v: the command and its children were ended; it may have had effects. Give a longer timeout, or run it in the background.", timeout)
		r.Outcome = tool.Failed
	case out.Signal != "":
		line("ended by a signal (%s); exit code %d", out.Signal, out.Exit)
	default:
		line("exit code %d", out.Exit)
		if out.Exit == 0 {
			r.Outcome = tool.OK
		}
	}
	r.Text = b.String()
	return r
}
