package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"anchor/internal/gate"
	"anchor/internal/policy"
)

// verdict is one answer of anchor policy --json.
type verdict struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Rule     string `json:"rule"`
}

func toVerdict(d policy.Decision) verdict { return verdict{d.Verdict.String(), d.Reason, d.Rule} }

// judge is anchor policy: one command from the arguments, or with --json an action a line from standard input.
func (w *work) judge(ctx context.Context) error {
	command := strings.Join(w.o.args, " ")
	switch {
	case len(w.o.args) == 0 && w.o.json:
		return judgeLines(w.sh.in, w.sh.out, w.gate)
	case command == "":
		return usagef("policy takes a command to judge, or --json with one object a line on standard input")
	}
	d := w.gate.Judge(command, "", "", "")
	if w.o.json {
		return json.NewEncoder(w.sh.out).Encode(toVerdict(d))
	}
	text := fmt.Sprintf("%s: %s (%s)", d.Verdict, d.Reason, d.Rule)
	if d.Verdict == policy.Ask && d.Suggest != "" {
		text += fmt.Sprintf("\nwould be covered by --allow '%s'", d.Suggest)
	}
	return say(w.sh.out, text)
}

// judgeLines answers each line in order. A line that is no action is answered with deny and what is wrong with it, so that
// answers and lines stay in step. Answers are flushed when no further line is waiting.
func judgeLines(in io.Reader, out io.Writer, g *gate.Gate) error {
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriterSize(out, 64<<10)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	batch := g.Batch()
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			_ = enc.Encode(judgeLine(line, batch)) // a fault of writing comes again with Flush
		}
		if r.Buffered() == 0 || err != nil {
			if flush := w.Flush(); flush != nil {
				return flush
			}
			batch = g.Batch()
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func judgeLine(line []byte, g *gate.Gate) verdict {
	var a map[string]string
	if err := json.Unmarshal(line, &a); err == nil && len(a) == 1 {
		server, tool, _ := strings.Cut(a["mcp"], "/")
		if a["command"] != "" || a["read"] != "" || a["write"] != "" || server != "" && tool != "" {
			return toVerdict(g.Judge(a["command"], a["read"], a["write"], a["mcp"]))
		}
	}
	return verdict{"deny", `a line is {"command": …}, {"read": PATH}, {"write": PATH} or {"mcp": "SERVER/TOOL"}, and none is empty`, "not an action"}
}
