package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anchor/internal/secret"
)

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

// commandEnv is the environment of every command: anchor's own without secrets (by name, or by the shape of the value) and
// without what makes bash or git do more than the text says; pagers, prompts and editors are off (an editor fails, so that
// nothing is accepted in silence).
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

// quietEnv is the environment of a command that runs unasked: nothing in it names a program or options for one, git takes
// what would run one or write from here, not from the repository, and fetches nothing.
func (s *shared) quietEnv(env []string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return listed(name, options) && !listed(name, "GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_PAGER GIT_*EDITOR GIT_TERMINAL_PROMPT")
	})
	settings := []string{"core.fsmonitor=false", "core.hooksPath=/dev/null", "safe.bareRepository=explicit", "diff.autoRefreshIndex=false"}
	for i, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)), "PATH="+strings.Join(s.cleanPath(), string(filepath.ListSeparator)),
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GOTOOLCHAIN=local", "GOFLAGS=-mod=readonly", "GOPROXY=off",
		"TEST_TELEMETRY_DIR="+os.DevNull) // where go keeps counts of its use: a setting of its own, GOTELEMETRY, is not taken from here
}

// searchPath is PATH, entry by entry.
func (s *shared) searchPath() []string { return filepath.SplitList(s.variable("PATH")) }

// variable returns a variable of the environment that anchor was started with.
func (s *shared) variable(name string) string {
	for _, kv := range slices.Backward(s.o.Env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// ownEntry says whether an entry of PATH is relative or lies in the directory.
func (s *shared) ownEntry(entry string) bool {
	if !filepath.IsAbs(entry) {
		return true
	}
	_, inside := s.within(resolved(entry))
	return inside
}

// lookPath finds a program in one of the folders, or returns "".
func lookPath(name string, folders []string) string {
	for _, dir := range folders {
		for _, suffix := range programSuffixes() {
			file := filepath.Join(dir, name+suffix)
			if info, err := os.Stat(file); err == nil && program(info) {
				return file
			}
		}
	}
	return ""
}
