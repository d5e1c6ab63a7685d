package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/msg"
	"anchor/internal/tool"
)

// Talk is one session on the wire: it shows the events and asks the client. It is a gate.Approver and a tool.Asker.
type Talk struct {
	server *Server
	busy   sync.Mutex // held while a turn runs
	stop   func()     // cancels the newest turn; the server's lock guards it

	mu      sync.Mutex
	session Session
	known   bool                // to the client
	held    []sdk.SessionUpdate // what came before
	diffs   map[string][]sdk.ToolCallContent
	checks  int
}

// Event shows an event; it is a Sink.
func (t *Talk) Event(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show(e, "")
}

// send sends an update, or holds it until the session is known. The lock is held.
func (t *Talk) send(u sdk.SessionUpdate) {
	if !t.known {
		t.held = append(t.held, u)
		return
	}
	t.server.send(map[string]any{"method": sdk.ClientMethodSessionUpdate,
		"params": sdk.SessionNotification{SessionId: sdk.SessionId(t.session.ID), Update: u}})
}

// begin shows what was said before, what was held, and the commands.
func (t *Talk) begin(past []msg.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	held := t.held
	t.known = true
	t.replay(past)
	for _, u := range held {
		t.send(u)
	}
	commands := sdk.SessionAvailableCommandsUpdate{AvailableCommands: []sdk.AvailableCommand{}}
	for _, c := range t.session.Commands {
		hint := &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: c.Hint}}
		commands.AvailableCommands = append(commands.AvailableCommands, sdk.AvailableCommand{Name: c.Name, Description: c.Description, Input: hint})
	}
	t.send(sdk.SessionUpdate{AvailableCommandsUpdate: &commands})
}

// Approve asks the client for leave; it waits for the answer or the end of ctx.
func (t *Talk) Approve(ctx context.Context, r gate.Request) (gate.Answer, error) {
	options := []sdk.PermissionOption{{OptionId: "yes", Name: "Allow once", Kind: sdk.PermissionOptionKindAllowOnce}}
	if r.Always != "" {
		options = append(options, sdk.PermissionOption{OptionId: "always", Name: "Always allow: " + r.Always, Kind: sdk.PermissionOptionKindAllowAlways})
	}
	options = append(options, sdk.PermissionOption{OptionId: "no", Name: "Reject", Kind: sdk.PermissionOptionKindRejectOnce})
	content := []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(r.Detail))}
	if strings.HasPrefix(r.Detail, "@@ ") {
		_, path, _ := strings.Cut(r.Title[strings.LastIndex(r.Title, ": ")+1:], " ")
		content = hunks(t.abs(strings.TrimSpace(path)), r.Detail)
	}
	chosen, err := t.ask(ctx, r.Call, r.Title, content, options)
	always := chosen == "always" && r.Always != ""
	return gate.Answer{Yes: chosen == "yes" || always, Always: always}, err
}

// Ask puts a question of the model as a choice among its options. Other text can't be given this way.
func (t *Talk) Ask(ctx context.Context, q tool.Question) (string, bool, error) {
	var options []sdk.PermissionOption
	for _, o := range q.Options {
		options = append(options, sdk.PermissionOption{OptionId: sdk.PermissionOptionId(strconv.Quote(o)), Name: o, Kind: sdk.PermissionOptionKindAllowOnce})
	}
	options = append(options, sdk.PermissionOption{OptionId: "no", Name: "Dismiss", Kind: sdk.PermissionOptionKindRejectOnce})
	chosen, err := t.ask(ctx, q.Call, q.Text, nil, options)
	answer, _ := strconv.Unquote(chosen)
	return answer, slices.Contains(q.Options, answer), err
}

// ask puts a choice to the client, with the tool call it belongs to. It returns the id of the option, empty for none.
func (t *Talk) ask(ctx context.Context, call, title string, content []sdk.ToolCallContent, options []sdk.PermissionOption) (string, error) {
	answer, forget := t.server.ask(sdk.ClientMethodSessionRequestPermission, func(id string) any {
		return sdk.RequestPermissionRequest{SessionId: sdk.SessionId(t.session.ID), Options: options, ToolCall: sdk.ToolCallUpdate{
			ToolCallId: sdk.ToolCallId(cmp.Or(call, "ask-"+id)), Title: &title, Content: content, Status: sdk.Ptr(sdk.ToolCallStatusPending)}}
	})
	defer forget()
	select {
	case m := <-answer:
		var r sdk.RequestPermissionResponse
		if m.Error != nil {
			return "", m.Error
		}
		if err := json.Unmarshal(m.Result, &r); err != nil || r.Outcome.Selected == nil {
			return "", err
		}
		return string(r.Outcome.Selected.OptionId), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
