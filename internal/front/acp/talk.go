package acp

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

// talk is one session on the wire: it shows the events and asks the client. It is a gate.Approver and a tool.Asker.
type talk struct {
	conn    *sdk.AgentSideConnection
	session Session
	busy    chan struct{} // holds one while a turn runs
	stop    func()        // cancels the turn that runs; the server's lock guards it

	mu     sync.Mutex
	open   bool                // the client knows the session
	held   []sdk.SessionUpdate // what came before
	diffs  map[string][]sdk.ToolCallContent
	checks int
	asked  int
}

// Event shows an event; it is a Sink.
func (t *talk) Event(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.send(t.updates(e, ""))
}

// send sends updates in order, or holds them until the session is open. The lock is held. A write that fails ends the connection, so
// its error is no news here.
func (t *talk) send(list []sdk.SessionUpdate) {
	if !t.open {
		t.held = append(t.held, list...)
		return
	}
	for _, u := range list {
		_ = t.conn.SessionUpdate(context.Background(), sdk.SessionNotification{SessionId: sdk.SessionId(t.session.ID), Update: u})
	}
}

// release opens the session: what was held goes out, and the list of commands.
func (t *talk) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = true
	held := t.held
	t.held = nil
	commands := sdk.SessionAvailableCommandsUpdate{AvailableCommands: []sdk.AvailableCommand{}}
	for _, c := range t.session.Commands {
		hint := &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: c.Hint}}
		commands.AvailableCommands = append(commands.AvailableCommands, sdk.AvailableCommand{Name: c.Name, Description: c.Description, Input: hint})
	}
	t.send(append(held, sdk.SessionUpdate{AvailableCommandsUpdate: &commands}))
}

// Approve asks the client for leave; it waits for the answer or the end of ctx.
func (t *talk) Approve(ctx context.Context, r gate.Request) (gate.Answer, error) {
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
func (t *talk) Ask(ctx context.Context, q tool.Question) (string, bool, error) {
	var options []sdk.PermissionOption
	for i, o := range q.Options {
		options = append(options, sdk.PermissionOption{OptionId: sdk.PermissionOptionId(strconv.Itoa(i)), Name: o, Kind: sdk.PermissionOptionKindAllowOnce})
	}
	options = append(options, sdk.PermissionOption{OptionId: "no", Name: "Dismiss", Kind: sdk.PermissionOptionKindRejectOnce})
	chosen, err := t.ask(ctx, q.Call, q.Text, nil, options)
	i := slices.IndexFunc(options, func(o sdk.PermissionOption) bool { return string(o.OptionId) == chosen })
	if i < 0 || i >= len(q.Options) {
		return "", false, err
	}
	return q.Options[i], true, err
}

// ask puts a choice to the client, with the tool call it belongs to. It returns the id of the option, empty for none.
func (t *talk) ask(ctx context.Context, call, title string, content []sdk.ToolCallContent, options []sdk.PermissionOption) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	t.mu.Lock()
	t.asked++
	id := cmp.Or(call, "ask-"+strconv.Itoa(t.asked))
	t.mu.Unlock()
	r, err := t.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{SessionId: sdk.SessionId(t.session.ID), Options: options,
		ToolCall: sdk.ToolCallUpdate{ToolCallId: sdk.ToolCallId(id), Title: &title, Content: content, Status: sdk.Ptr(sdk.ToolCallStatusPending)}})
	if err != nil || r.Outcome.Selected == nil {
		return "", err
	}
	return string(r.Outcome.Selected.OptionId), nil
}
