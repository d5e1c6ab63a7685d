package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	sdk "github.com/coder/acp-go-sdk"

	"anchor/internal/front/wire"
)

// JSON-RPC 2.0 with the SDK's messages. The SDK's own connection keeps no order between a prompt and the cancel that follows it, or
// a response and the updates after it, and drops in silence what it can't read; here all goes in order, and each request is answered.

// packet is a request, a notification or a response of the client's.
type packet struct {
	ID, Params, Result json.RawMessage
	Method             string
	Error              *sdk.RequestError
}

var null = json.RawMessage("null")

// hear handles one line.
func (s *Server) hear(line wire.Line) {
	var m packet
	err := line.Err
	if err == nil {
		err = json.Unmarshal(line.Text, &m)
	}
	var other *json.UnmarshalTypeError // JSON, but no message
	switch {
	case err != nil && !errors.As(err, &other):
		s.respond(null, nil, sdk.NewParseError(detail(err)))
	case err == nil && m.Method != "":
		s.request(m)
	case err == nil && (m.Result != nil || m.Error != nil):
		s.mu.Lock()
		defer s.mu.Unlock()
		if to := s.waiting[string(m.ID)]; to != nil {
			delete(s.waiting, string(m.ID))
			to <- m
		}
	default:
		if m.ID == nil {
			m.ID = null
		}
		s.respond(m.ID, nil, sdk.NewInvalidRequest(detail(errors.New("this is no request, notification or response of JSON-RPC 2.0"))))
	}
}

// decode reads what a request holds. If it is wrong, the client is told and ok is false.
func decode[T any, P interface {
	*T
	Validate() error
}](s *Server, m packet) (params T, ok bool) {
	err := json.Unmarshal(m.Params, &params)
	if err == nil {
		err = P(&params).Validate()
	}
	if err != nil {
		s.respond(m.ID, nil, invalid("%v", err))
	}
	return params, err == nil
}

// respond answers a request; a notification has no id and gets no answer.
func (s *Server) respond(id json.RawMessage, result any, err error) {
	var fault *sdk.RequestError
	switch {
	case id == nil:
	case err == nil:
		s.send(map[string]any{"id": id, "result": result})
	default:
		if !errors.As(err, &fault) {
			fault = sdk.NewInternalError(detail(err))
		}
		s.send(map[string]any{"id": id, "error": fault})
	}
}

// ask sends a request; its response comes on the channel. forget ends the waiting and withdraws a request without a response.
func (s *Server) ask(method string, params func(id string) any) (answer chan packet, forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	id := strconv.Itoa(s.count)
	answer = make(chan packet, 1)
	s.waiting[id] = answer
	s.send(map[string]any{"id": json.RawMessage(id), "method": method, "params": params(id)})
	return answer, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.waiting[id] != nil {
			delete(s.waiting, id)
			s.send(map[string]any{"method": "$/cancel_request", "params": map[string]any{"requestId": json.RawMessage(id)}})
		}
	}
}

// send writes a message. A queue that has failed ends the server, so its error is no news here.
func (s *Server) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	line, err := json.Marshal(m)
	if err != nil {
		panic(err) // a message without a form: a fault of the program
	}
	_, _ = s.out.Write(append(line, '\n'))
}

func invalid(format string, args ...any) error {
	return sdk.NewInvalidParams(detail(fmt.Errorf(format, args...)))
}

// NoSession is the error for a session that is not there.
func NoSession(err error) error {
	return &sdk.RequestError{Code: -32002, Message: "Resource not found", Data: detail(err)}
}

func detail(err error) any { return map[string]any{"error": err.Error()} }
