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
func judge(ctx context.Context, sh shell, o *options) error {
	b, err := prepare(ctx, sh, o)
	if err != nil {
		return err
	}
	for _, n := range b.notices {
		fmt.Fprintf(sh.err, "notice: %s\n", n)
	}
	g, err := b.newGate(gate.Options{})
	if err != nil {
		return err
	}
	defer g.Close()
	command := strings.Join(o.args, " ")
	switch {
	case command == "" && o.json:
		return judgeLines(sh.in, sh.out, g)
	case command == "":
		return usagef("policy takes a command to judge, or --json with one object a line on standard input")
	}
	d := g.Judge(command, "", "", "")
	if o.json {
		return json.NewEncoder(sh.out).Encode(toVerdict(d))
	}
	text := fmt.Sprintf("%s: %s (%s)\n", d.Verdict, d.Reason, d.Rule)
	if d.Verdict == policy.Ask && d.Suggest != "" {
		text += fmt.Sprintf("would be covered by --allow '%s'\n", d.Suggest)
	}
	_, err = io.WriteString(sh.out, text)
	return err
}

// judgeLines answers each line in order. A line that is no action is answered with deny and what is wrong with it, so that
// answers and lines stay in step. Answers are flushed when no further line is waiting.
func judgeLines(in io.Reader, out io.Writer, g *gate.Gate) error {
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriterSize(out, 64<<10)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := enc.Encode(judgeLine(line, g)); err != nil {
				return err
			}
		}
		if r.Buffered() == 0 || err != nil {
			if flush := w.Flush(); flush != nil {
				return flush
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func judgeLine(line []byte, g *gate.Gate) verdict {
	var a map[string]string
	if err := json.Unmarshal(line, &a); err != nil || len(a) != 1 {
		return verdict{"deny", `a line is {"command": …}, {"read": PATH}, {"write": PATH} or {"mcp": "SERVER/TOOL"}`, "not an action"}
	}
	for kind, value := range a {
		switch kind {
		case "command":
			return toVerdict(g.Judge(value, "", "", ""))
		case "read":
			return toVerdict(g.Judge("", value, "", ""))
		case "write":
			return toVerdict(g.Judge("", "", value, ""))
		case "mcp":
			return toVerdict(g.Judge("", "", "", value))
		}
		return verdict{"deny", fmt.Sprintf("no action %q: command, read, write or mcp", kind), "not an action"}
	}
	return verdict{}
}
