package gate

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anchor/internal/secret"
)

// commandEnv is the environment of every command: anchor's own without secrets (by name, or by the shape of the value) and without what makes bash or git do more
// than the text says; pagers, prompts and editors are off (an editor fails, so that nothing is accepted in silence).
func (s *shared) commandEnv() []string {
	shapes := secret.NewMasker()
	env := slices.DeleteFunc(slices.Clone(s.o.Env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return steersShell(name) || steersGit(name) || strings.HasSuffix(name, "PAGER") ||
			((secret.Variable(name) || shapes.Mask(value) != value) && !slices.Contains(s.o.PassEnv, name))
	})
	return append(env, "AGENT=anchor", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat",
		"EDITOR=false", "VISUAL=false", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false",
		"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive")
}

// steersShell names what bash reads from its environment before or beside the command.
func steersShell(name string) bool {
	return strings.HasPrefix(name, "BASH_FUNC_") ||
		slices.Contains([]string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "GLOBIGNORE", "CDPATH", "IFS", "PS4", "POSIXLY_CORRECT", "BASH_XTRACEFD", markName}, name)
}

// steersGit names what sends git to another repository or other settings.
func steersGit(name string) bool {
	return strings.HasPrefix(name, "GIT_CONFIG") && name != "GIT_CONFIG_NOSYSTEM" && name != "GIT_CONFIG_GLOBAL" && name != "GIT_CONFIG_SYSTEM" ||
		slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_EXEC_PATH", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"}, name)
}

// quietEnv is the environment of a command that runs unasked: nothing in it names a program or options for one.
func (s *shared) quietEnv(env []string) []string {
	keep := []string{"GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"}
	env = slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(keep, name) ||
			strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "RIPGREP_") ||
			strings.HasPrefix(name, "LESS") || strings.HasPrefix(name, "PYTHON") || strings.HasPrefix(name, "RUBY") || strings.HasPrefix(name, "PERL") ||
			slices.Contains([]string{"GREP_OPTIONS", "GREP_COLORS", "NODE_OPTIONS", "AWKPATH", "AWKLIBPATH", "FD_CONFIG_PATH", "BAT_CONFIG_PATH", "BAT_OPTS",
				"JQ_COLORS", "TREE_COLORS", "RUSTC_WRAPPER", "RUSTFLAGS", "GOFLAGS", "GOTOOLCHAIN", "JAVA_TOOL_OPTIONS", "MANPATH", "MANOPT", "PATH"}, name)
	})
	return append(env, "PATH="+strings.Join(s.cleanPath(), string(filepath.ListSeparator)),
		"GIT_OPTIONAL_LOCKS=0", "GOTOOLCHAIN=local", "GOFLAGS=-mod=readonly", "GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null",
		"GIT_CONFIG_KEY_2=safe.bareRepository", "GIT_CONFIG_VALUE_2=explicit")
}

// searchPath is PATH, entry by entry.
func (s *shared) searchPath() []string {
	for _, kv := range s.o.Env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			return filepath.SplitList(list)
		}
	}
	return nil
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
		for _, suffix := range executableSuffixes() {
			file := filepath.Join(dir, name+suffix)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && executable(info) {
				return file
			}
		}
	}
	return ""
}

// bash finds bash outside the directory.
func (s *shared) bash() (string, error) {
	if file := lookPath("bash", append(slices.Clone(s.cleanPath()), "/bin", "/usr/bin")); file != "" {
		return file, nil
	}
	return "", errors.New("bash was not found on PATH: install it, commands are run with it")
}
