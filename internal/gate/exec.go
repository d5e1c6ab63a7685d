package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"anchor/internal/secret"
)

// A command runs as bash -c TEXT, the very text that was judged, in a session of its own without a terminal. Both its streams are one
// pipe, drained always. It is over when bash has ended; what it left running in the background keeps the pipe, and its later output goes
// to a file, until Close ends it. A timeout or a cancel ends all that came from the command: TERM, 2 s, KILL.

const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = time.Hour
	defaultLimit   = 30_000
	// lastWords is how long the pipe may stay open after bash has ended before what holds it counts as background.
	lastWords = 200 * time.Millisecond
	// moreWords is how often that is waited for again while output still comes.
	moreWords = 20
)

// Command is a command for bash.
type Command struct {
	Text    string
	Timeout time.Duration // 0: 120 s; at most 1 h
	ByUser  bool          // the user named it (--until, !cmd): it is not asked about
	Limit   int           // how many characters of output are kept in Output.Text (0: 30,000)
}

// Output is what a command gave. Text is both streams in order, masked, without escape codes, valid UTF-8, its middle left out (with a
// line that says so) if over the limit.
type Output struct {
	Text       string
	Exit       int    // -1 if it was ended by a signal
	Signal     string // "killed", … if it was
	TimedOut   bool
	Cancelled  bool
	Saved      string // the file that holds the whole output, if Text does not
	Background string // the file that gets the later output of children that live on, if any do
}

// errConfine says that a command could not be confined. It was not started.
var errConfine = errors.New("the command could not be confined")

// Exec runs a command with bash in the directory: stdin empty, own session, pagers and prompts off, secret variables removed. A timeout
// or the end of ctx ends the whole group (TERM, then KILL). Children left behind live until Close. Errors: *Refusal, or that bash could
// not be started. A cancelled command returns its Output with ctx's error.
func (g *Gate) Exec(ctx context.Context, c Command) (Output, error) {
	a := g.execAction(c.Text)
	a.ByUser = c.ByUser
	for {
		out, err := pass(ctx, g, a, "Run command", func(looks) (string, error) { return c.Text, nil },
			func(ctx context.Context, e effects) (Output, error) { return e.run(ctx, c, a.Reading.Programs) })
		if !errors.Is(err, errConfine) {
			return out, err
		}
		a.Reading.ReadOnly, a.Reading.Parts, a.Reading.Reason = false, nil, err.Error() // then it must be asked about
	}
}

// run starts a command that names some programs, and waits for it.
func (e effects) run(ctx context.Context, c Command, programs []string) (out Output, err error) {
	<-e.learned
	kept := e.capture(cmp.Or(c.Limit, defaultLimit))
	j, err := e.start(c.Text, programs, kept)
	if err != nil {
		return out, err
	}
	timer := time.NewTimer(min(cmp.Or(c.Timeout, defaultTimeout), maxTimeout))
	defer timer.Stop()
	select {
	case <-j.exited:
	case <-timer.C:
		out.TimedOut = true
	case <-ctx.Done():
		out.Cancelled = true
	}
	if out.TimedOut || out.Cancelled {
		end(j.mark, j)
	}
	for i, before := 0, int64(-1); !await(j.drained, lastWords); i++ {
		taken := kept.taken.Load()
		if taken == before || i == moreWords {
			kept.detach()
			break
		}
		before = taken
	}
	j.settle()
	out.Text, out.Saved, out.Background = kept.result()
	out.Exit, out.Signal = -1, "killed"
	if await(j.exited, last) && j.state != nil {
		out.Exit, out.Signal = j.state.ExitCode(), ""
		if st, ok := j.state.Sys().(syscall.WaitStatus); ok && st.Signaled() {
			out.Signal = st.Signal().String()
		}
	}
	if out.Cancelled {
		err = ctx.Err()
	}
	return out, err
}

// start starts a command, confined if that was promised.
func (e effects) start(text string, programs []string, out *capture) (j *job, err error) {
	bash := lookPath("bash", append(slices.Clone(e.cleanPath()), "/bin", "/usr/bin"))
	if bash == "" {
		return nil, errors.New("bash was not found on PATH: install it, commands are run with it")
	}
	if info, err := os.Stat(e.dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the directory %s is gone, so nothing can be run in it: make it again, with a file tool or by hand", e.dir)
	}
	cmd := exec.Command(bash, "--noprofile", "--norc", "-c", text)
	cmd.Args[0] = "bash" // as messages of bash name it
	cmd.Dir, cmd.Env = e.dir, slices.Clone(e.env())
	start := func() error {
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		cmd.Stderr = cmd.Stdout
		j, err = e.jobs.start(cmd, pipe, out)
		return err
	}
	if e.decision.ReadOnly {
		cmd.Env = e.quietEnv(cmd.Env)
		err = e.confine(e.confinedGrants(programs), start)
	} else {
		err = start()
	}
	if err != nil {
		return nil, fmt.Errorf("the command could not be started: %w", err)
	}
	return j, nil
}

// steering names what bash and git read from their environment before or beside the command; a star stands for any text.
const steering = `BASH_FUNC_* BASH_ENV ENV SHELLOPTS BASHOPTS GLOBIGNORE CDPATH OLDPWD IFS PS4 POSIXLY_CORRECT BASH_XTRACEFD *PAGER ANCHOR_JOB
	GIT_CONFIG GIT_CONFIG_COUNT GIT_CONFIG_KEY_* GIT_CONFIG_VALUE_* GIT_CONFIG_PARAMETERS GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE
	GIT_OBJECT_DIRECTORY GIT_NAMESPACE GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_PREFIX GIT_EXEC_PATH`

// options names what gives programs options or names further ones: nothing for a command that runs unasked.
const options = `GIT_* LD_* DYLD_* RIPGREP_* LESS* PYTHON* RUBY* PERL* GREP_OPTIONS GREP_COLORS NODE_OPTIONS AWKPATH AWKLIBPATH FD_CONFIG_PATH
	BAT_CONFIG_PATH BAT_OPTS JQ_COLORS TREE_COLORS RUSTC_WRAPPER RUSTFLAGS JAVA_TOOL_OPTIONS MANPATH MANOPT`

// listed says whether a name is one of a list of words, each with at most one star.
func listed(name, list string) bool {
	for word := range strings.FieldsSeq(list) {
		before, after, star := strings.Cut(word, "*")
		if name == word || star && len(name) >= len(word)-1 && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			return true
		}
	}
	return false
}

// commandEnv is the environment of every command: anchor's own without secrets (by name, or by the shape of the value) and without what
// makes bash or git do more than the text says; pagers, prompts and editors are off (an editor fails, so that nothing is accepted in
// silence).
func (s *shared) commandEnv() []string {
	shapes := secret.NewMasker()
	env := slices.DeleteFunc(slices.Clone(s.o.Env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return listed(name, steering) || (secret.Variable(name) || shapes.Mask(value) != value) && !slices.Contains(s.o.PassEnv, name)
	})
	return append(env, "PWD="+s.dir, "AGENT=anchor", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat",
		"EDITOR=false", "VISUAL=false", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false",
		"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive")
}

// HideEnv keeps variables from commands, but those of PassEnv, and masks their values: keys whose names do not say so. It is called
// before anything runs.
func (g *Gate) HideEnv(names []string) {
	g.o.Env = slices.DeleteFunc(slices.Clone(g.o.Env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		if !slices.Contains(names, name) {
			return false
		}
		g.masker.Add("environment variable "+name, strings.TrimSpace(value))
		return !slices.Contains(g.o.PassEnv, name)
	})
}

// quietEnv is the environment of a command that runs unasked: nothing in it names a program or options for one, git takes what would run
// one or write from here, not from the repository, and fetches nothing.
func (s *shared) quietEnv(env []string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return listed(name, options) && !listed(name, "GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_PAGER GIT_*EDITOR GIT_TERMINAL_PROMPT")
	})
	settings, instead := s.userGitSettings()
	if instead {
		env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull)
	}
	settings = append(settings, "core.fsmonitor=false", "core.hooksPath=/dev/null", "safe.bareRepository=explicit", "diff.autoRefreshIndex=false")
	for i, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)), "PATH="+strings.Join(s.cleanPath(), string(filepath.ListSeparator)),
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GOTOOLCHAIN=local", "GOFLAGS=-mod=readonly", "GOPROXY=off",
		"TEST_TELEMETRY_DIR="+os.DevNull) // where go keeps counts of its use: a setting of its own, GOTELEMETRY, is not taken from here
}

// searchPath is PATH, entry by entry.
func (s *shared) searchPath() []string { return filepath.SplitList(s.vars()["PATH"]) }

// lookPath finds a program in one of the folders, or returns "".
func lookPath(name string, folders []string) string {
	for _, dir := range folders {
		if file, err := exec.LookPath(dir + separator + name); err == nil {
			return file
		}
	}
	return ""
}
