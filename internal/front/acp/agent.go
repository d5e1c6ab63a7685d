package acp

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/event"
)

// agent answers the client's requests. Each runs in a goroutine of the connection's; cancel comes in order with other notifications.
type agent struct{ s *Server }

// Initialize says what is offered. A client that asks for another version is told the one that is spoken.
func (a agent) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		AgentInfo:       &sdk.Implementation{Name: "anchor", Title: sdk.Ptr("anchor"), Version: a.s.Version},
		AuthMethods:     []sdk.AuthMethod{},
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: sdk.PromptCapabilities{Image: true, EmbeddedContext: true},
			McpCapabilities:    sdk.McpCapabilities{Http: true},
			SessionCapabilities: sdk.SessionCapabilities{
				Close: &sdk.SessionCloseCapabilities{}, List: &sdk.SessionListCapabilities{}, Resume: &sdk.SessionResumeCapabilities{}},
		},
	}, nil
}

// NewSession opens a new session.
func (a agent) NewSession(_ context.Context, r sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if err := absolute(r.Cwd); err != nil {
		return sdk.NewSessionResponse{}, err
	}
	id, err := a.s.open("", r.Cwd, r.McpServers, false)
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(id)}, err
}

// LoadSession goes on with a saved session and replays it first.
func (a agent) LoadSession(_ context.Context, r sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	if err := absolute(r.Cwd); err != nil {
		return sdk.LoadSessionResponse{}, err
	}
	_, err := a.s.open(string(r.SessionId), r.Cwd, r.McpServers, true)
	return sdk.LoadSessionResponse{}, err
}

// ResumeSession goes on with a saved session.
func (a agent) ResumeSession(_ context.Context, r sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	if err := absolute(r.Cwd); err != nil {
		return sdk.ResumeSessionResponse{}, err
	}
	_, err := a.s.open(string(r.SessionId), r.Cwd, r.McpServers, false)
	return sdk.ResumeSessionResponse{}, err
}

func absolute(dir string) error {
	if !filepath.IsAbs(dir) {
		return invalid("cwd must be an absolute path, not %q", dir)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return sdk.NewInvalidParams(map[string]any{"error": fmt.Sprintf(format, args...)})
}

// ListSessions lists the saved sessions, newest first.
func (a agent) ListSessions(_ context.Context, r sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	dir := ""
	if r.Cwd != nil {
		dir = *r.Cwd
	}
	list, err := a.s.List(dir)
	out := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
	for _, i := range list {
		out.Sessions = append(out.Sessions, sdk.SessionInfo{SessionId: sdk.SessionId(i.ID), Cwd: i.Dir, Title: &i.Title, UpdatedAt: sdk.Ptr(i.Time.Format(time.RFC3339))})
	}
	return out, err
}

// CloseSession cancels what runs in a session and frees what it holds. It stays saved.
func (a agent) CloseSession(_ context.Context, r sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	done, err := a.s.begin()
	if err != nil {
		return sdk.CloseSessionResponse{}, err
	}
	defer done()
	if !a.s.drop(string(r.SessionId)) {
		err = invalid("no session %q is open", r.SessionId)
	}
	return sdk.CloseSessionResponse{}, err
}

// Cancel cancels the turn of a session, if one runs.
func (a agent) Cancel(_ context.Context, r sdk.CancelNotification) error {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if t := a.s.sessions[string(r.SessionId)]; t != nil {
		t.stop()
	}
	return nil
}

// Prompt runs a turn. One that comes while another runs ends that one first.
func (a agent) Prompt(ctx context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	done, err := a.s.begin()
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	defer done()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(a.s.ctx, stop)()
	a.s.mu.Lock()
	t := a.s.sessions[string(r.SessionId)]
	if t != nil {
		t.stop()
		t.stop = stop
	}
	a.s.mu.Unlock()
	select {
	case a.s.prompted <- struct{}{}:
	default:
	}
	if t == nil {
		return sdk.PromptResponse{}, invalid("no session %q is open; session/load opens a saved one", r.SessionId)
	}
	in, err := message(r.Prompt, t.session.Mask)
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	select {
	case t.busy <- struct{}{}:
		defer func() { <-t.busy }()
	case <-ctx.Done():
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
	}
	return stopReason(t.session.Turn(ctx, in))
}

// stopReason is the end of a turn in the protocol's words; a fault is the request's error.
func stopReason(end event.TurnEnd) (r sdk.PromptResponse, err error) {
	switch end.Reason {
	case event.Cancelled:
		r.StopReason = sdk.StopReasonCancelled
	case event.RoundLimit:
		r.StopReason = sdk.StopReasonMaxTurnRequests
	case event.Failed:
		why := "the turn failed"
		if end.Detail != nil {
			why = *end.Detail
		}
		return r, &sdk.RequestError{Code: -32603, Message: why}
	default:
		r.StopReason = sdk.StopReasonEndTurn
	}
	return r, nil
}

// Authenticate is not offered: keys come from the environment and the settings.
func (a agent) Authenticate(context.Context, sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodAuthenticate)
}

// SetSessionMode is not offered.
func (a agent) SetSessionMode(context.Context, sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	return sdk.SetSessionModeResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionSetMode)
}

// SetSessionConfigOption is not offered.
func (a agent) SetSessionConfigOption(context.Context, sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	return sdk.SetSessionConfigOptionResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionSetConfigOption)
}
