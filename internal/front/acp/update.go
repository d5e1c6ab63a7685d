package acp

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/event"
	"anchor/internal/msg"
)

// kindOf returns the protocol's kind of a tool.
func kindOf(tool string) sdk.ToolKind {
	return cmp.Or(map[string]sdk.ToolKind{"read_file": sdk.ToolKindRead, "list_dir": sdk.ToolKindSearch, "glob": sdk.ToolKindSearch, "grep": sdk.ToolKindSearch,
		"write_file": sdk.ToolKindEdit, "edit_file": sdk.ToolKindEdit, "shell": sdk.ToolKindExecute}[tool], sdk.ToolKindOther)
}

// show tells the client of an event. Of a sub-agent these are its tool calls, with its id in front, and what is worth telling; its text
// is for the agent that started it.
func (t *Talk) show(e event.Event, agent string) {
	id := func(call string) string { return strings.TrimPrefix(agent+"/"+call, "/") }
	say := func(text string) string { return strings.TrimPrefix(agent+": ", ": ") + text }
	tell := func(text string) { t.send(sdk.UpdateAgentThoughtText(say(text) + "\n")) }
	switch e := e.(type) {
	case event.Text:
		t.send(sdk.UpdateAgentMessageText(e.Text))
	case event.Thinking:
		t.send(sdk.UpdateAgentThoughtText(e.Text))
	case event.ToolStart:
		t.call(id(e.ID), e.Name, say(e.Name+" "+event.Visible(e.Summary)), e.Input)
	case event.Diff:
		t.diffs[id(e.ID)] = append(t.diffs[id(e.ID)], hunks(t.abs(e.Path), e.Diff)...)
	case event.ToolEnd:
		t.end(id(e.ID), e.OK, e.Result)
	case event.LoopWarning:
		tell(e.Message)
	case event.Compacting:
		tell("Older turns are being summarized.")
	case event.Notice:
		tell(e.Message)
	case event.Check:
		t.checks++
		check := "check-" + strconv.Itoa(t.checks)
		t.call(check, "shell", "check "+e.Command, nil)
		t.end(check, e.Passed, e.Output)
	case event.SubAgent:
		switch e.Event.(type) {
		case event.Text, event.Thinking:
		default:
			t.show(e.Event, id(e.Agent))
		}
	}
}

// call is the start of a tool call. Its location is the path in its input, which also makes a title where none is given.
func (t *Talk) call(id, tool, title string, input json.RawMessage) {
	var args struct{ Path, Command, Pattern string }
	_ = json.Unmarshal(input, &args) // the model may have sent anything
	title = strings.TrimSpace(cmp.Or(title, tool+" "+event.Visible(cmp.Or(args.Command, args.Pattern, args.Path))))
	options := []sdk.ToolCallStartOpt{sdk.WithStartKind(kindOf(tool)), sdk.WithStartStatus(sdk.ToolCallStatusInProgress)}
	if args.Path != "" {
		options = append(options, sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: t.abs(args.Path)}}))
	}
	if json.Valid(input) {
		options = append(options, sdk.WithStartRawInput(input))
	}
	t.send(sdk.StartToolCall(sdk.ToolCallId(id), title, options...))
}

// end is the end of a tool call: its diffs, or its result. A failed one has both.
func (t *Talk) end(id string, ok bool, result string) {
	status, content := sdk.ToolCallStatusCompleted, t.diffs[id]
	delete(t.diffs, id)
	if !ok {
		status = sdk.ToolCallStatusFailed
	}
	if !ok || len(content) == 0 {
		content = append(content, sdk.ToolContent(sdk.TextBlock(result)))
	}
	t.send(sdk.UpdateToolCall(sdk.ToolCallId(id), sdk.WithUpdateStatus(status), sdk.WithUpdateContent(content)))
}

// replay shows a conversation.
func (t *Talk) replay(past []msg.Message) {
	for _, m := range past {
		switch m := m.(type) {
		case *msg.User:
			t.send(sdk.UpdateUserMessageText(m.Text))
		case *msg.Summary:
			t.send(sdk.UpdateAgentThoughtText(m.Text))
		case *msg.Tool:
			t.end(m.CallID, m.OK, m.Text)
		case *msg.Assistant:
			for _, b := range m.Blocks {
				switch b := b.(type) {
				case msg.Text:
					t.send(sdk.UpdateAgentMessageText(b.Text))
				case msg.Thinking:
					if b.Text != "" {
						t.send(sdk.UpdateAgentThoughtText(b.Text))
					}
				case msg.Call:
					t.call(b.ID, b.Name, "", b.Args)
				}
			}
		}
	}
}

// abs is a path as the protocol wants it.
func (t *Talk) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.session.Dir, filepath.FromSlash(path))
}

// hunks turns a unified diff into the protocol's, which hold the text before and after: one for each hunk.
func hunks(path, unified string) (out []sdk.ToolCallContent) {
	for hunk := range strings.SplitSeq("\n"+unified, "\n@@ ") {
		if head, body, _ := strings.Cut(hunk, "\n"); body != "" {
			before, after := sides(strings.TrimSuffix(body, "\n") + "\n")
			d := sdk.ToolDiffContent(path, after, before)
			if strings.HasPrefix(head, "-0,0 ") {
				d.Diff.OldText = nil
			}
			out = append(out, d)
		}
	}
	return out
}

// sides returns the texts before and after of the lines of a hunk.
func sides(hunk string) (string, string) {
	var before, after strings.Builder
	lines := slices.Collect(strings.Lines(hunk))
	for i, line := range lines {
		kind, text := line[0], line[1:]
		if i+1 < len(lines) && lines[i+1][0] == '\\' { // it has no newline
			text = strings.TrimSuffix(text, "\n")
		}
		if kind == '-' || kind == ' ' {
			before.WriteString(text)
		}
		if kind == '+' || kind == ' ' {
			after.WriteString(text)
		}
	}
	return before.String(), after.String()
}
