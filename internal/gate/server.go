package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"anchor/internal/denial"
	"anchor/internal/policy"
)

// Server is a child process that speaks over its pipes. Reading gives its standard output. Close ends it and its group.
type Server interface {
	io.ReadWriteCloser
	// Stderr returns what it wrote there, masked: the first and the last part, at most about 4,000 characters.
	Stderr() string
	// Done is closed when it has ended.
	Done() <-chan struct{}
}

const (
	maxStderr = 4_000
	goodbye   = time.Second // how long a server may take to end once its input has ended
)

// StartServer starts a server of the user's or of a trusted definition with a small environment plus env; dir is where, empty
// for the directory. It is not asked about, since the definition was; the denials hold. Close, of the server or the gate, ends it.
func (g *Gate) StartServer(ctx context.Context, command string, args []string, env []string, dir string) (Server, error) {
	var line []string
	for _, word := range append([]string{command}, args...) {
		word, err := syntax.Quote(word, syntax.LangBash)
		if err != nil {
			return nil, fmt.Errorf("the server %s can't be started: %w", command, err)
		}
		line = append(line, word)
	}
	a := policy.Exec{Command: strings.Join(line, " "), ByUser: true}
	a.Denial, _ = denial.Scan(a.Command, denial.Env{Home: g.o.Home, Dir: g.dir})
	return pass(ctx, g, a, "Start server", nothing, func(_ context.Context, e effects) (Server, error) {
		return e.serve(command, args, env, dir)
	})
}

// serve starts a server.
func (e effects) serve(command string, args, env []string, dir string) (Server, error) {
	file := command
	if !strings.ContainsAny(command, `/\`) {
		if file = lookPath(command, e.searchPath()); file == "" {
			return nil, fmt.Errorf("the server's program %s was not found on PATH: install it, or give its full path", command)
		}
	}
	cmd := exec.Command(file, args...)
	cmd.Args[0], cmd.Dir, cmd.Env = command, dir, append(e.serverEnv(), env...)
	if dir == "" {
		cmd.Dir = e.dir
	}
	s := &server{errs: e.capture(maxStderr), mask: e.Mask}
	var faults [4]error
	var errs io.ReadCloser
	s.in, faults[0] = cmd.StdinPipe()
	s.out, faults[1] = cmd.StdoutPipe()
	if errs, faults[2] = cmd.StderrPipe(); errors.Join(faults[:]...) == nil {
		s.job, faults[3] = e.jobs.start(cmd, errs, s.errs)
	}
	if err := errors.Join(faults[:]...); err != nil {
		return nil, fmt.Errorf("the server %s could not be started: %w", command, err)
	}
	return s, nil
}

// serverEnv is what a server gets beside what its definition names.
func (s *shared) serverEnv() []string {
	return slices.DeleteFunc(slices.Clone(s.o.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !listed(name, `PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TMPDIR TMP TEMP SSL_CERT_FILE SSL_CERT_DIR
			HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
			SYSTEMROOT SystemRoot USERPROFILE APPDATA LOCALAPPDATA PATHEXT`)
	})
}

// server is a running server. Its standard error is what the job drains.
type server struct {
	*job
	in   io.WriteCloser
	out  io.ReadCloser
	errs *capture
	mask func(string) string
	once sync.Once
}

func (s *server) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *server) Write(p []byte) (int, error) { return s.in.Write(p) }
func (s *server) Done() <-chan struct{}       { return s.exited }
func (s *server) Stderr() string              { return s.mask(s.errs.String()) }

// Close ends its input, waits a little, and ends what is left of its group.
func (s *server) Close() error {
	s.once.Do(func() {
		s.in.Close()
		if !await(s.exited, goodbye) || groupAlive(s.process.Pid) {
			s.end()
		}
		s.out.Close()
		s.pipe.Close()
		await(s.drained, last)
		s.settle()
	})
	return nil
}
