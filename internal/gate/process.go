package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"anchor/internal/denial"
	"anchor/internal/policy"
)

// A job is one process with all that came from it: its process group, and the processes that carry its mark in their environment,
// wherever they went (Linux; elsewhere only the group is known).

const (
	markName = "ANCHOR_JOB"    // the variable that marks a job's processes: the gate's mark, the job's number, a dot
	patience = 2 * time.Second // between TERM and KILL
	last     = time.Second     // the most that the dead are waited for
	pause    = 20 * time.Millisecond
)

// jobs are what a gate started and of which something may run.
type jobs struct {
	mark string // ends in a dot

	mu     sync.Mutex
	count  int
	live   map[*job]struct{}
	closed bool
}

type job struct {
	all     *jobs
	process *os.Process
	mark    string
	pipe    io.ReadCloser    // what it writes
	state   *os.ProcessState // once exited is closed
	exited  chan struct{}    // closed when the first process has ended
	drained chan struct{}    // closed at the end of its output
}

// start starts cmd in a session of its own. What comes through pipe goes to out.
func (s *jobs) start(cmd *exec.Cmd, pipe io.ReadCloser, out *capture) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the session has ended")
	}
	s.count++
	j := &job{all: s, mark: fmt.Sprintf("%s%d.", s.mark, s.count), pipe: pipe, exited: make(chan struct{}), drained: make(chan struct{})}
	cmd.Env = append(cmd.Env, markName+"="+j.mark)
	cmd.SysProcAttr = ownSession()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	j.process = cmd.Process
	s.live[j] = struct{}{}
	go func() { // not cmd.Wait, which closes pipes that are still read
		defer close(j.exited)
		j.state, _ = cmd.Process.Wait()
	}()
	go func() {
		defer close(j.drained)
		out.drain(pipe)
	}()
	return j, nil
}

// settle forgets the job if nothing of it runs any more.
func (j *job) settle() {
	select {
	case <-j.drained:
		j.pipe.Close()
	default:
		return
	}
	if !groupAlive(j.process.Pid) {
		j.all.mu.Lock()
		defer j.all.mu.Unlock()
		delete(j.all.live, j)
	}
}

// end ends what belongs to some jobs and all that has the mark: TERM, a wait, KILL. It waits for that, bounded.
func end(mark string, ended ...*job) {
	groups := groupsOf(slices.Values(ended))
	signalAll(groups, mark, syscall.SIGTERM)
	for until := time.Now().Add(patience); alive(groups, mark) && time.Now().Before(until); {
		time.Sleep(pause)
	}
	signalAll(groups, mark, syscall.SIGKILL) // also for who took the mark off
	for until := time.Now().Add(last); alive(groups, mark) && time.Now().Before(until); {
		time.Sleep(pause)
		signalAll(groups, mark, syscall.SIGKILL)
	}
	for _, j := range ended {
		j.pipe.Close()
		await(j.exited, last)
		await(j.drained, last)
	}
}

// Close ends every process that the gate and its children still own and waits for them, bounded.
func (g *Gate) Close() {
	g.stopLearning()
	s := &g.jobs
	s.mu.Lock()
	live := slices.Collect(maps.Keys(s.live))
	s.closed = true
	s.mu.Unlock()
	if s.count > 0 { // else there is nothing to look for, and looking takes time
		end(s.mark, live...)
	}
}

// Kill kills what Close ends, without a wait, for a program that must end at once. It may be called while Close runs.
func (g *Gate) Kill() {
	g.jobs.mu.Lock()
	defer g.jobs.mu.Unlock()
	if g.jobs.closed = true; g.jobs.count > 0 {
		signalAll(groupsOf(maps.Keys(g.jobs.live)), g.jobs.mark, syscall.SIGKILL)
	}
}

func groupsOf(jobs iter.Seq[*job]) (groups []int) {
	for j := range jobs {
		groups = append(groups, j.process.Pid)
	}
	return groups
}

// await waits for c, for a while. It says whether c was closed.
func await(c <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}

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

// StartServer starts a server of the user's or of a trusted definition with a small environment plus env; dir is where, empty for the
// directory. It is not asked about, since the definition was; the denials hold. Close, of the server or the gate, ends it.
func (g *Gate) StartServer(ctx context.Context, command string, args []string, env []string, dir string) (Server, error) {
	a := policy.Exec{ByUser: true}
	for _, word := range append([]string{command}, args...) {
		word, err := syntax.Quote(word, syntax.LangBash)
		if err != nil {
			return nil, fmt.Errorf("the server %s can't be started: %w", command, err)
		}
		a.Command += word + " "
	}
	a.Found = denial.Scan(a.Command, denial.Env{Home: g.o.Home, Dir: g.dir})
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
	in, faultIn := cmd.StdinPipe()
	out, faultOut := cmd.StdoutPipe()
	errs, err := cmd.StderrPipe()
	if err = errors.Join(faultIn, faultOut, err); err == nil {
		s.WriteCloser, s.ReadCloser = in, out
		s.job, err = e.jobs.start(cmd, errs, s.errs)
	}
	if err != nil {
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
	io.WriteCloser // its standard input
	io.ReadCloser  // its standard output
	errs           *capture
	mask           func(string) string
	once           sync.Once
}

func (s *server) Done() <-chan struct{} { return s.exited }
func (s *server) Stderr() string        { return s.mask(s.errs.String()) }

// Close ends its input, waits a little, and ends what is left of its group.
func (s *server) Close() error {
	s.once.Do(func() {
		s.WriteCloser.Close()
		if !await(s.exited, goodbye) || groupAlive(s.process.Pid) {
			end(s.mark, s.job)
		}
		s.ReadCloser.Close()
		s.pipe.Close()
		await(s.drained, last)
		s.settle()
	})
	return nil
}
