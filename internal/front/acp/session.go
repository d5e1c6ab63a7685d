package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/event"
)

// open makes a session and its face, and answers the request. A saved one, which the client knows by its id, is replayed before the
// answer; the updates of a new one come after it.
func (s *Server) open(request json.RawMessage, id sdk.SessionId, dir string, servers []sdk.McpServer) {
	if !filepath.IsAbs(dir) {
		s.respond(request, nil, invalid("cwd must be an absolute path, not %q", dir))
		return
	}
	s.close(id)
	t := &Talk{server: s, stop: func() {}, diffs: map[string][]sdk.ToolCallContent{}}
	session, err := s.Open(s.ctx, string(id), dir, servers, t)
	if err != nil {
		s.respond(request, nil, err)
		return
	}
	s.mu.Lock()
	if session.ID == "" {
		s.count++
		session.ID = fmt.Sprint("unsaved-", s.count)
	}
	s.sessions[session.ID] = t
	t.mu.Lock()
	t.session = session
	t.mu.Unlock()
	s.mu.Unlock()
	if id == "" {
		s.respond(request, sdk.NewSessionResponse{SessionId: sdk.SessionId(session.ID)}, nil)
	}
	t.begin(session.Past)
	if id != "" {
		s.respond(request, sdk.LoadSessionResponse{}, nil)
	}
}

// stop cancels the turn of a session, if one runs, and has next cancel the one after it. It returns the session, nil if it is not open.
func (s *Server) stop(id sdk.SessionId, next func()) *Talk {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.sessions[string(id)]
	if t != nil {
		t.stop()
		t.stop = next
	}
	return t
}

// close ends a session that is loaded anew. Its turn is cancelled and waited for.
func (s *Server) close(id sdk.SessionId) {
	s.mu.Lock()
	t := s.sessions[string(id)]
	delete(s.sessions, string(id))
	s.mu.Unlock()
	if t != nil {
		t.stop()
		t.busy.Lock()
		defer t.busy.Unlock()
		t.session.Close()
	}
}

// prompt runs a turn. One that comes while another runs ends that one first.
func (s *Server) prompt(request json.RawMessage, r sdk.PromptRequest) {
	ctx, stop := context.WithCancel(s.ctx)
	t := s.stop(r.SessionId, stop)
	if t == nil {
		stop()
		s.respond(request, nil, invalid("no session %q is open; session/load opens a saved one", r.SessionId))
		return
	}
	s.work.Go(func() {
		defer stop()
		t.busy.Lock()
		defer t.busy.Unlock()
		reason, err := t.turn(ctx, r.Prompt)
		s.respond(request, sdk.PromptResponse{StopReason: reason}, err)
	})
}

// turn runs a turn and returns its end in the protocol's words; a fault is the request's error.
func (t *Talk) turn(ctx context.Context, prompt []sdk.ContentBlock) (sdk.StopReason, error) {
	if ctx.Err() != nil {
		return sdk.StopReasonCancelled, nil
	}
	in, err := message(prompt, t.session.Mask)
	if err != nil {
		return "", err
	}
	switch end := t.session.Turn(ctx, in); end.Reason {
	case event.Cancelled:
		return sdk.StopReasonCancelled, nil
	case event.RoundLimit:
		return sdk.StopReasonMaxTurnRequests, nil
	case event.Failed:
		why := "the turn failed"
		if end.Detail != nil {
			why = *end.Detail
		}
		return "", &sdk.RequestError{Code: -32603, Message: why}
	}
	return sdk.StopReasonEndTurn, nil
}
