package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anchor/internal/gate"
	"anchor/internal/tool"
)

// What a server can be; State.Status has one of them.
const (
	starting  = "starting"
	ready     = "ready"
	waiting   = "waiting" // for its next start
	failed    = "failed"
	untrusted = "untrusted"
	disabled  = "disabled"
	signIn    = "sign in"
)

const (
	connectLimit = 60 * time.Second // from the start of a server to the list of its tools
	probeLimit   = 10 * time.Second // for a server over HTTP to answer in the newest protocol
	settled      = time.Minute      // a server that ran so long starts from the shortest pause again
	farewell     = 2 * time.Second  // for a session to end
	calm         = time.Second      // between two lists, however often a server says that its tools changed
	stdioVersion = "2025-11-25"     // newer ones begin with a request at which many servers hang
)

// pauses are the waits before the next start of a server that could not be started or died. After the last one it is given up.
var pauses = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute}

// server is one server. run owns it; the rest reads its state.
type server struct {
	Definition
	o       Options
	legal   string // its part of its tools' names
	http    *http.Client
	login   auth.OAuthHandler // of a sign-in; nil for the kept tokens
	changed chan struct{}     // says, once, that the tools changed
	told    map[string]bool   // the notices that came already; run's alone
	calls   calls

	mu      sync.Mutex
	status  string
	err     error
	session *sdk.ClientSession // nil unless ready
	offered []tool.Tool
}

func newServer(o Options, d Definition, legal string, t http.RoundTripper) *server {
	return &server{Definition: d, o: o, legal: legal, http: &http.Client{Transport: t, CheckRedirect: sameHost},
		changed: make(chan struct{}, 1), told: map[string]bool{}}
}

// final is an error after which a server is not started again.
type final struct {
	status string
	error
}

// run keeps the server running until ctx ends.
func (s *server) run(ctx context.Context) {
	defer s.set(failed, errors.New("the session has ended"))
	for attempt := 0; ; attempt++ {
		began := time.Now()
		err := s.serve(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > settled {
			attempt = 0
		}
		end := final{}
		if errors.As(err, &end) || s.o.Once || attempt >= len(pauses) {
			s.giveUp(err)
			<-ctx.Done()
			return
		}
		s.set(waiting, err)
		s.tell("%v; it is started again after a pause, meanwhile its tools are not there", err)
		select {
		case <-time.After(pauses[attempt]):
		case <-ctx.Done():
			return
		}
	}
}

// giveUp ends the tries to run the server.
func (s *server) giveUp(err error) {
	end := final{status: failed}
	errors.As(err, &end)
	s.set(end.status, err)
	if end.status != disabled {
		s.tell("%v", err)
	}
}

// serve runs the server once, and returns why it ended or could not be started.
func (s *server) serve(ctx context.Context) error {
	d, err := s.admit(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l, err := s.connect(ctx, d)
	if err != nil {
		return err
	}
	gone := make(chan error, 1)
	go func() { gone <- l.session.Wait() }()
	err = s.follow(ctx, l.session, gone)
	s.set(starting, nil)
	l.end()
	return l.explain(err)
}

// link is a connection. process is nil over HTTP.
type link struct {
	session *sdk.ClientSession
	process gate.Server
}

// end ends the process, then the session, which may not wait long for what the server owes.
func (l link) end() {
	if l.process != nil {
		l.process.Close()
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if l.session != nil {
			_ = l.session.Close()
		}
	}()
	select {
	case <-closed:
	case <-time.After(farewell):
	}
}

// explain adds the last that the process wrote to its standard error.
func (l link) explain(err error) error {
	if err == nil || l.process == nil || strings.TrimSpace(l.process.Stderr()) == "" {
		return err
	}
	lines := strings.Split(strings.TrimSpace(l.process.Stderr()), "\n")
	return fmt.Errorf("%w; it last wrote: %s", err, cut(strings.Join(lines[max(0, len(lines)-3):], " | "), 400))
}

// follow offers the tools of a session, again whenever they change, until it ends.
func (s *server) follow(ctx context.Context, session *sdk.ClientSession, gone <-chan error) error {
	for {
		listing, stop := context.WithTimeout(ctx, connectLimit)
		err := s.list(listing, session)
		stop()
		if err != nil {
			return err
		}
		select {
		case <-time.After(calm):
		case err := <-gone:
			return cmp.Or(err, errEnded)
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-s.changed:
		case err := <-gone:
			return cmp.Or(err, errEnded)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errEnded = errors.New("it ended")

// admit says whether the server may start, and returns its definition with the variables in it replaced.
func (s *server) admit(ctx context.Context) (Definition, error) {
	if s.Fault != nil {
		return s.Definition, final{failed, fmt.Errorf("its definition in %s is wrong: %w", s.Source, s.Fault)}
	}
	if s.Disabled {
		return s.Definition, final{disabled, errors.New("it is disabled in " + s.Source)}
	}
	if s.Dir != "" {
		if trusted, err := s.o.Trusted(ctx, s.Definition); !trusted {
			why := "you have not trusted it as it is now"
			if err != nil {
				why = err.Error()
			}
			return s.Definition, final{untrusted, fmt.Errorf("it is not started: the project's file %s defines it, and %s; `anchor mcp trust %s` shows it and asks", s.Source, why, s.Name)}
		}
	}
	d, err := s.Definition.expand(s.o.Getenv)
	if err != nil {
		return d, final{failed, err}
	}
	s.learn(d)
	return d, nil
}

// learn teaches the masker what the definition hands to the server.
func (s *server) learn(d Definition) {
	s.o.Gate.Masker().AddEnv(environment(d))
	for name, value := range d.Headers {
		_, token, _ := strings.Cut(value, " ") // of "Bearer TOKEN"
		s.o.Gate.Masker().Add("header "+name, token)
		s.o.Gate.Masker().Add("header "+name, value)
	}
	s.o.Gate.Masker().Add("client secret of "+s.Name, d.OAuth.ClientSecret)
}

func environment(d Definition) (out []string) {
	for name, value := range d.Env {
		out = append(out, name+"="+value)
	}
	return out
}

// connect starts the server and shakes hands.
func (s *server) connect(ctx context.Context, d Definition) (l link, err error) {
	limited, stop := context.WithTimeout(ctx, connectLimit)
	defer stop()
	if d.Type == "http" {
		l.session, err = s.dial(limited, d)
	} else if l, err = s.spawn(limited, d); err != nil && l.process != nil {
		l.end()
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it did not answer within %v", connectLimit)
	}
	return l, l.explain(err)
}

// spawn starts a process and connects to it over its pipes.
func (s *server) spawn(ctx context.Context, d Definition) (l link, err error) {
	if l.process, err = s.o.Gate.StartServer(ctx, d.Command, d.Args, environment(d), d.folder(s.o.Gate.Dir())); err != nil {
		return link{}, final{failed, err}
	}
	l.session, err = s.client().Connect(ctx, newPipe(l.process), &sdk.ClientSessionOptions{ProtocolVersion: stdioVersion})
	return l, err
}

// client is what a server sees of anchor: it offers nothing but calls of tools.
func (s *server) client() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "anchor", Version: s.o.Version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case s.changed <- struct{}{}:
			default:
			}
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			s.calls.progress(r.Params.ProgressToken)
		},
	})
}

// tell gives the user a notice about the server, each once.
func (s *server) tell(format string, args ...any) {
	text := s.o.Gate.Mask("MCP server " + s.Name + ": " + fmt.Sprintf(format, args...))
	if !s.told[text] {
		s.told[text] = true
		s.o.Notice(text)
	}
}

// set changes the state. Only a session that is ready has tools.
func (s *server) set(status string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.session, s.offered = status, nil, nil
	if err != nil {
		s.err = err
	}
}

func (s *server) tools() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offered
}

func (s *server) state() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := State{Name: s.Name, Source: s.Source, Status: s.status}
	if s.err != nil && s.status != ready {
		out.Error = s.o.Gate.Mask(s.err.Error())
	}
	for _, t := range s.offered {
		out.Tools = append(out.Tools, t.Spec().Name)
	}
	return out
}
