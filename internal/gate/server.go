package gate

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"anchor/internal/denial"
	"anchor/internal/policy"
)

// Server is a child process that speaks over its pipes. Reading gives its standard output. Close ends it and its group.
type Server interface {
	io.ReadWriteCloser
	// Stderr returns the tail of what it wrote there, at most 4 KB.
	Stderr() string
	// Done is closed when it has ended.
	Done() <-chan struct{}
}

const (
	maxStderr = 4 << 10
	// goodbye is how long a server may take to end once its input has ended.
	goodbye = time.Second
)

// StartServer starts a server of the user's or of a trusted definition with a small environment plus env; dir is where, empty
// for the directory. It is not asked about, since the definition was; the denials hold. Close, of the server or the gate, ends it.
func (g *Gate) StartServer(ctx context.Context, command string, args []string, env []string, dir string) (Server, error) {
	line := quoted(append([]string{command}, args...))
	a := policy.Exec{Command: line, ByUser: true}
	a.Denial, _ = denial.Scan(line, denial.Env{Home: g.o.Home, Dir: g.dir})
	return pass(ctx, g, a, "Start server", nothing, func(_ context.Context, e effects) (Server, error) {
		return e.serve(command, args, env, dir)
	})
}

// quoted writes words as bash would read them back.
func quoted(words []string) string {
	out := slices.Clone(words)
	for i, w := range out {
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+-") != "" {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// serve starts a server.
func (e effects) serve(command string, args, env []string, dir string) (Server, error) {
	if dir == "" {
		dir = e.dir
	}
	cmd := exec.Command(command, args...)
	cmd.Dir, cmd.Env = dir, append(e.serverEnv(), env...)
	if !strings.ContainsAny(command, `/\`) {
		if cmd.Path = lookPath(command, e.searchPath()); cmd.Path == "" {
			return nil, fmt.Errorf("the server's program %s was not found on PATH: install it, or give its full path", command)
		}
		cmd.Err = nil
	}
	s := &server{stderr: &tail{max: maxStderr}}
	var files [6]*os.File
	for i := 0; i < len(files); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(files[:])
			return nil, err
		}
		files[i], files[i+1] = r, w
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
	s.in, s.out = files[1], files[2]
	j, err := e.jobs.start(cmd, files[4], s.stderr)
	closeAll([]*os.File{files[0], files[3], files[5]})
	if err != nil {
		closeAll([]*os.File{files[1], files[2], files[4]})
		return nil, fmt.Errorf("the server %s could not be started: %w", command, err)
	}
	s.job, s.forget = j, e.jobs.settle
	return s, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// serverEnv is what a server gets beside what its definition names.
func (s *shared) serverEnv() []string {
	names := []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
		"SYSTEMROOT", "SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT"}
	return slices.DeleteFunc(slices.Clone(s.o.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(names, name) && !strings.HasPrefix(name, "LC_")
	})
}

// server is a running server. Its standard error is what the job drains.
type server struct {
	*job
	in, out *os.File
	stderr  *tail
	forget  func(*job)
	once    sync.Once
}

func (s *server) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *server) Write(p []byte) (int, error) { return s.in.Write(p) }
func (s *server) Done() <-chan struct{}       { return s.exited }
func (s *server) Stderr() string              { return s.stderr.String() }

// Close ends its input, waits a little, and ends what is left of its group.
func (s *server) Close() error {
	s.once.Do(func() {
		s.in.Close()
		if !await(s.exited, goodbye) || groupAlive(s.cmd.Process.Pid) {
			s.end()
		}
		s.out.Close()
		s.pipe.Close()
		await(s.drained, last)
		s.forget(s.job)
	})
	return nil
}

// tail keeps the last bytes of a stream.
type tail struct {
	mu   sync.Mutex
	max  int
	data []byte
}

func (t *tail) drain(r io.Reader) { _, _ = io.Copy(t, r) }

func (t *tail) close() {}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if len(t.data) > t.max {
		t.data = slices.Clone(t.data[len(t.data)-t.max:])
	}
	return len(p), nil
}

// String returns what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.data), "\uFFFD")
}
