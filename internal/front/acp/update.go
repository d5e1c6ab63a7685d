package acp

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/event"
	"anchor/internal/msg"
)

// kindOf returns the protocol's kind of a tool.
func kindOf(tool string) sdk.ToolKind {
	switch tool {
	case "read_file":
		return sdk.ToolKindRead
	case "list_dir", "glob", "grep":
		return sdk.ToolKindSearch
	case "write_file", "edit_file":
		return sdk.ToolKindEdit
	case "shell":
		return sdk.ToolKindExecute
	}
	return sdk.ToolKindOther
}

// updates says what the client is told of an event. Of a sub-agent these are its tool calls, with its id in front, and what is
// worth telling; its text is for the agent that started it.
func (t *talk) updates(e event.Event, agent string) []sdk.SessionUpdate {
	tell := func(text string) []sdk.SessionUpdate {
		return []sdk.SessionUpdate{sdk.UpdateAgentThoughtText(strings.TrimPrefix(agent+": ", ": ") + text + "\n")}
	}
	id := func(call string) string { return strings.TrimPrefix(agent+"/"+call, "/") }
	switch e := e.(type) {
	case event.Text:
		if agent == "" {
			return []sdk.SessionUpdate{sdk.UpdateAgentMessageText(e.Text)}
		}
	case event.Thinking:
		if agent == "" {
			return []sdk.SessionUpdate{sdk.UpdateAgentThoughtText(e.Text)}
		}
	case event.ToolStart:
		return []sdk.SessionUpdate{t.call(id(e.ID), strings.TrimPrefix(agent+": ", ": ")+title(e.Name, e.Summary), e.Name, e.Input)}
	case event.Diff:
		all := append(t.diffs[id(e.ID)], hunks(t.abs(e.Path), e.Diff)...)
		t.diffs[id(e.ID)] = all
		return []sdk.SessionUpdate{sdk.UpdateToolCall(sdk.ToolCallId(id(e.ID)), sdk.WithUpdateContent(all), sdk.WithUpdateLocations([]sdk.ToolCallLocation{{Path: t.abs(e.Path)}}))}
	case event.ToolEnd:
		return []sdk.SessionUpdate{t.end(id(e.ID), e.OK, e.Result)}
	case event.LoopWarning:
		return tell(e.Message)
	case event.Compacting:
		return tell("Older turns are being summarized.")
	case event.Notice:
		return tell(e.Message)
	case event.Check:
		t.checks++
		check := id("check-" + strconv.Itoa(t.checks))
		return []sdk.SessionUpdate{t.call(check, "check "+e.Command, "shell", nil), t.end(check, e.Passed, e.Output)}
	case event.SubAgent:
		return t.updates(e.Event, id(e.Agent))
	}
	return nil
}

func title(name, summary string) string {
	return strings.TrimSpace(name + " " + event.Visible(summary))
}

// call is the start of a tool call. Its location is the path in its input.
func (t *talk) call(id, title, tool string, input json.RawMessage) sdk.SessionUpdate {
	options := []sdk.ToolCallStartOpt{sdk.WithStartKind(kindOf(tool)), sdk.WithStartStatus(sdk.ToolCallStatusInProgress)}
	var args struct{ Path string }
	if json.Unmarshal(input, &args) == nil && args.Path != "" {
		options = append(options, sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: t.abs(args.Path)}}))
	}
	if len(input) > 0 {
		options = append(options, sdk.WithStartRawInput(input))
	}
	return sdk.StartToolCall(sdk.ToolCallId(id), title, options...)
}

// end is the end of a tool call: its diffs, or its result. A failed one has both.
func (t *talk) end(id string, ok bool, result string) sdk.SessionUpdate {
	status, content := sdk.ToolCallStatusCompleted, t.diffs[id]
	delete(t.diffs, id)
	if !ok {
		status = sdk.ToolCallStatusFailed
	}
	if !ok || len(content) == 0 {
		content = append(content, sdk.ToolContent(sdk.TextBlock(result)))
	}
	return sdk.UpdateToolCall(sdk.ToolCallId(id), sdk.WithUpdateStatus(status), sdk.WithUpdateContent(content))
}

// replay is a conversation as updates.
func (t *talk) replay(past []msg.Message) (out []sdk.SessionUpdate) {
	for _, m := range past {
		switch m := m.(type) {
		case *msg.User:
			out = append(out, sdk.UpdateUserMessageText(m.Text))
		case *msg.Summary:
			out = append(out, sdk.UpdateAgentThoughtText(m.Text))
		case *msg.Tool:
			out = append(out, t.end(m.CallID, m.OK, m.Text))
		case *msg.Assistant:
			for _, b := range m.Blocks {
				switch b := b.(type) {
				case msg.Text:
					out = append(out, sdk.UpdateAgentMessageText(b.Text))
				case msg.Thinking:
					if b.Text != "" {
						out = append(out, sdk.UpdateAgentThoughtText(b.Text))
					}
				case msg.Call:
					out = append(out, t.call(b.ID, t.session.Title(b), b.Name, b.Args))
				}
			}
		}
	}
	return out
}

// abs is a path as the protocol wants it.
func (t *talk) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.session.Dir, filepath.FromSlash(path))
}

// hunks turns a unified diff into the protocol's, which hold the text before and after: one for each hunk.
func hunks(path, unified string) (out []sdk.ToolCallContent) {
	for hunk := range strings.SplitSeq("\n"+unified, "\n@@ ") {
		head, body, _ := strings.Cut(hunk, "\n")
		if body == "" {
			continue
		}
		before, after := sides(strings.TrimSuffix(body, "\n") + "\n")
		d := sdk.ToolDiffContent(path, after, before)
		if strings.HasPrefix(head, "-0,0 ") {
			d.Diff.OldText = nil
		}
		out = append(out, d)
	}
	return out
}

// sides returns the texts before and after of the lines of a hunk.
func sides(lines string) (before, after string) {
	last := ""
	for line := range strings.Lines(lines) {
		switch line[0] {
		case '-':
			before += line[1:]
		case '+':
			after += line[1:]
		case ' ':
			before, after = before+line[1:], after+line[1:]
		case '\\': // the line before it has no newline
			if last != "+" {
				before = strings.TrimSuffix(before, "\n")
			}
			if last != "-" {
				after = strings.TrimSuffix(after, "\n")
			}
		}
		last = line[:1]
	}
	return before, after
}
