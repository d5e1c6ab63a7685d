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

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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
	settled = time.Minute // a server that ran so long starts from the shortest pause again
	calm    = time.Second // between two lists, however often a server says that its tools changed
)

// pauses are the waits before the next start of a server that could not be started or died. After the last one it is given up.
var pauses = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute}

// server is one server. run owns it; the rest reads its state.
type server struct {
	Definition
	o       Options
	http    *http.Client
	changed chan struct{}   // says, once, that the tools must be listed
	told    map[string]bool // the notices that came already; run's alone
	alive   sync.Map        // what gives a running call its time again, by its progress token

	mu  sync.Mutex
	now State
}

func newServer(o Options, d Definition, client *http.Client) *server {
	return &server{Definition: d, o: o, http: client, changed: make(chan struct{}, 1), told: map[string]bool{}}
}

// final is an error after which a server is not started again.
type final struct {
	status string
	error
}

// run keeps the server running until ctx ends.
func (s *server) run(ctx context.Context) {
	for attempt := 0; ; attempt++ {
		began := time.Now()
		err := s.serve(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > settled {
			attempt = 0
		}
		if errors.As(err, new(final)) || s.o.Once || attempt >= len(pauses) {
			s.giveUp(err)
			return
		}
		s.set(State{Status: waiting}, err)
		s.tell("%v; it is started again after a pause, meanwhile its tools are not there", err)
		select {
		case <-time.After(pauses[attempt]):
			s.set(State{Status: starting}, nil)
		case <-ctx.Done():
			return
		}
	}
}

// giveUp ends the tries to run the server.
func (s *server) giveUp(err error) {
	end := final{status: failed}
	errors.As(err, &end)
	s.set(State{Status: end.status}, err)
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
	if err == nil {
		err = s.follow(ctx, l.session)
	}
	s.set(State{Status: starting}, nil)
	l.end()
	return l.explain(err)
}

// follow offers the tools of a session, again whenever they change, until it ends.
func (s *server) follow(ctx context.Context, session *sdk.ClientSession) error {
	gone := make(chan error, 1)
	go func() { gone <- session.Wait() }() // until the session is closed
	s.listSoon()
	var pause <-chan time.Time
	for next := s.changed; ; {
		select {
		case <-next:
			if err := s.list(ctx, session); err != nil {
				return err
			}
			next, pause = nil, time.After(calm)
		case <-pause:
			next = s.changed
		case err := <-gone:
			return cmp.Or(err, errors.New("it ended"))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *server) listSoon() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// admit says whether the server may start, and returns its definition with the variables in it replaced.
func (s *server) admit(ctx context.Context) (Definition, error) {
	d := s.Definition
	if d.Fault != nil {
		return d, final{failed, fmt.Errorf("its definition in %s is wrong: %w", d.Source, d.Fault)}
	}
	if d.Disabled {
		return d, final{disabled, errors.New("it is disabled in " + d.Source)}
	}
	if trusted, err := s.o.Trusted(ctx, d); !trusted {
		err = cmp.Or(err, errors.New("you have not trusted it as it is now"))
		return d, final{untrusted, fmt.Errorf("it is not started: the project's file %s defines it, and %w; `anchor mcp trust %s` shows it and asks", d.Source, err, d.Name)}
	}
	d, err := d.expand(s.o.Getenv)
	if err != nil {
		return d, final{failed, err}
	}
	m := s.o.Gate.Masker() // learns what the server is given
	m.AddEnv(environment(d))
	m.Add("client secret of "+d.Name, d.OAuth.ClientSecret)
	for name, value := range d.Headers {
		_, token, _ := strings.Cut(value, " ") // of "Bearer TOKEN"
		m.Add("header "+name, token+"\n"+value)
	}
	return d, nil
}

func environment(d Definition) (out []string) {
	for name, value := range d.Env {
		out = append(out, name+"="+value)
	}
	return out
}

// tell gives the user a notice about the server, each once.
func (s *server) tell(format string, args ...any) {
	text := s.o.Gate.Mask("MCP server " + s.Name + ": " + fmt.Sprintf(format, args...))
	if !s.told[text] {
		s.told[text] = true
		s.o.Notice(text)
	}
}

// set changes the state. Without an error the last one stays, until the server is ready.
func (s *server) set(to State, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch to.Name = s.Name; {
	case err != nil:
		to.Error = s.o.Gate.Mask(err.Error())
	case to.Status != ready:
		to.Error = s.now.Error
	}
	s.now = to
}

func (s *server) state() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}
