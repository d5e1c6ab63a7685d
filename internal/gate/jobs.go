package gate

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// A job is one command with all that came from it. Its processes are those of its session and those that carry its mark in
// their environment, wherever they went (Linux; elsewhere only its process group is known).

const (
	// markName is the variable that marks a job's processes: the gate's mark, a dot, the job's number.
	markName = "ANCHOR_JOB"
	// patience is the time between TERM and KILL; wait for the dead is bounded by last.
	patience = 2 * time.Second
	last     = time.Second
	pause    = 20 * time.Millisecond
)

// jobs are the commands that a gate started and that may have something running.
type jobs struct {
	mark string

	mu     sync.Mutex
	count  int
	live   map[*job]struct{}
	closed bool
}

// sink takes a job's output: drain reads it to its end, close ends what is kept.
type sink interface {
	drain(io.Reader)
	close()
}

type job struct {
	cmd     *exec.Cmd
	mark    string
	pipe    *os.File // the reading end of its output
	out     sink
	exited  chan struct{} // closed when the first process has ended
	drained chan struct{} // closed at the end of its output
}

var errClosed = errors.New("the session has ended")

func newMark() string { return rand.Text() }

// start starts a command whose output comes through pipe and goes to out.
func (s *jobs) start(cmd *exec.Cmd, pipe *os.File, out sink) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	s.count++
	j := &job{cmd: cmd, mark: s.mark + "." + strconv.Itoa(s.count), pipe: pipe, out: out,
		exited: make(chan struct{}), drained: make(chan struct{})}
	cmd.Env = append(cmd.Env, markName+"="+j.mark)
	newSession(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if s.live == nil {
		s.live = map[*job]struct{}{}
	}
	s.live[j] = struct{}{}
	go func() {
		defer close(j.exited)
		_ = cmd.Wait() // the status is read from cmd.ProcessState
	}()
	go func() {
		defer close(j.drained)
		out.drain(pipe)
	}()
	return j, nil
}

// settle forgets a job of which nothing runs any more.
func (s *jobs) settle(j *job) {
	select {
	case <-j.drained:
		j.pipe.Close()
	default:
		return
	}
	if !groupAlive(j.cmd.Process.Pid) {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.live, j)
	}
}

// status returns how the first process ended.
func (j *job) status() (exit int, signal string) {
	if !await(j.exited, last) {
		return -1, "killed"
	}
	return j.cmd.ProcessState.ExitCode(), signalName(j.cmd.ProcessState)
}

// end ends all processes of the job and waits for that, bounded.
func (j *job) end() {
	endAll(j.cmd.Process.Pid, j.mark)
	await(j.exited, last)
}

// endAll ends the processes of a session and those with the mark: TERM, a wait, KILL as long as there are any.
func endAll(session int, mark string) {
	terminate(session, mark)
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(pause) {
		if !alive(session, mark) {
			return
		}
	}
	for until := time.Now().Add(last); time.Now().Before(until) && alive(session, mark); time.Sleep(pause) {
		kill(session, mark)
	}
}

// Close ends every process that the gate and its children still own and waits for them, bounded.
func (g *Gate) Close() {
	s := &g.jobs
	s.mu.Lock()
	s.closed = true
	live, none := s.live, s.count == 0
	s.live = nil
	s.mu.Unlock()
	if none {
		return // there is nothing to look for, and looking takes time
	}
	var all sync.WaitGroup
	for j := range live {
		all.Go(func() {
			j.end()
			j.pipe.Close()
			await(j.drained, last)
			j.out.close()
		})
	}
	all.Wait()
	if alive(0, s.mark+".") {
		endAll(0, s.mark+".")
	}
}
