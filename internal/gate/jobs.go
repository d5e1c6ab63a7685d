package gate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A job is one process with all that came from it: the processes of its session, and those that carry its mark in their
// environment, wherever they went (Linux; elsewhere only its process group is known).

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

// status returns how the first process ended.
func (j *job) status() (exit int, signal string) {
	if !await(j.exited, last) || j.state == nil {
		return -1, "killed"
	}
	return j.state.ExitCode(), signalName(j.state)
}

// end ends all processes of the job and the reading of its output, and waits for that, bounded.
func (j *job) end() {
	endAll([]int{j.process.Pid}, j.mark)
	j.pipe.Close()
	await(j.exited, last)
	await(j.drained, last)
}

// endAll ends the processes of some sessions and those with the mark: TERM, a wait, KILL as long as there are any.
func endAll(sessions []int, mark string) {
	terminate(sessions, mark)
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(pause) {
		if !alive(sessions, mark) {
			return
		}
	}
	for until := time.Now().Add(last); time.Now().Before(until) && alive(sessions, mark); time.Sleep(pause) {
		kill(sessions, mark)
	}
}

// Close ends every process that the gate and its children still own and waits for them, bounded.
func (g *Gate) Close() {
	g.stopLearning()
	s := &g.jobs
	s.mu.Lock()
	s.closed = true
	live, none := s.live, s.count == 0
	s.live = nil
	s.mu.Unlock()
	if none {
		return // there is nothing to look for, and looking takes time
	}
	var sessions []int
	for j := range live {
		sessions = append(sessions, j.process.Pid)
	}
	endAll(sessions, s.mark)
	for j := range live {
		j.pipe.Close()
		await(j.exited, last)
		await(j.drained, last)
	}
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
