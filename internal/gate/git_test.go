package gate

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@e", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %s", args, out)
	}
}

func TestGitPrograms(t *testing.T) {
	for config, want := range map[string]string{
		"[user]\n\tname = t\n[core]\n\tpager = less\n\tfsmonitor = x\n\thooksPath = h\n[alias]\n\tx = !sh\n": "",
		"[diff]\n\texternal = x\n":                                   "diff.external",
		"[diff \"a b\"]\n\ttextconv = x":                             "diff.a b.textconv",
		"[DIFF \"Q]\"] Command = x":                                  "diff.Q].command",
		"[filter \"lfs\"]\n\tclean = x\n\trequired = true":           "filter.lfs.clean",
		"[include]\n\tpath = ../x":                                   "include.path",
		"[includeIf \"gitdir:/x\"]\n path = y":                       "includeif.gitdir:/x.path",
		"[gpg.ssh]\n\tprogram = x":                                   "gpg.ssh.program",
		"[log]\n\tshowSignature":                                     "log.showsignature",
		"[co\\\nre]\n[diff\n external = x":                           "?",
		"[diff\n external = x":                                       "?",
		"[user] # a \\\n[diff]\n\texternal = x":                      "diff.external",
		"# a \\\n[diff]\n\texternal = x":                             "diff.external",
		"[user] name = a;b \\\n[diff]\n\texternal = x":               "diff.external",
		"[user] [diff] external = x":                                 "diff.external",
		"[diff]\n\tb = \"a#\" \\\n[user]\n\texternal = x":            "diff.external",
		"[diff]\r\n\tb = a \\\r\n[user]\r\n\texternal = x\r\n":       "diff.external",
		"[pretty]\n\tx = %G?":                                        "pretty.x",
		"[user]\n\tname = a \\\n[diff]\n\tb = c\n[diff]external = x": "diff.external",
	} {
		w := newWorld(t, map[string]string{".git/config": config, ".git/HEAD": "ref: refs/heads/main\n"})
		if got := strings.Join(gitPrograms([]string{w.Dir()}), " "); got != want {
			t.Errorf("%q: %q, want %q", config, got, want)
		}
	}
}

func TestGitProgramsInOtherPlaces(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1", "../out/lib/l": "1"})
	lib := filepath.Join(w.root, "out", "lib")
	for _, dir := range []string{w.Dir(), lib} {
		git(t, dir, "init", "-q")
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-qm", "one")
	}
	git(t, w.Dir(), "submodule", "--quiet", "add", lib, "lib")
	git(t, w.Dir(), "worktree", "add", "-q", "../tree")
	tree := filepath.Join(w.root, "tree")
	for _, dir := range []string{w.Dir(), w.path("lib"), tree} {
		if got := gitPrograms([]string{dir}); len(got) != 0 {
			t.Errorf("%s: %v", dir, got)
		}
	}
	git(t, w.path("lib"), "config", "diff.external", "x")
	if got := gitPrograms([]string{w.Dir()}); !slices.Equal(got, []string{"diff.external"}) {
		t.Errorf("of the submodule: %v", got)
	}
	git(t, w.Dir(), "config", "filter.f.clean", "x")
	if got := gitPrograms([]string{tree}); !slices.Contains(got, "filter.f.clean") {
		t.Errorf("of the worktree: %v", got)
	}
	git(t, w.Dir(), "clone", "-q", "--bare", lib, "sub/store")
	git(t, w.path("sub/store"), "config", "diff.external", "x")
	for _, end := range []string{"", "\n", "\r\n", "\x00more"} {
		w.put("sub/.git", "gitdir: store"+end)
		if got := gitPrograms([]string{w.path("sub")}); !slices.Equal(got, []string{"diff.external"}) {
			t.Errorf("%q: %v", end, got)
		}
	}
	w.put("sub/.git", "gitdir: "+lib+"/.git\n")
	if got := gitPrograms([]string{w.path("sub")}); len(got) != 1 {
		t.Errorf("a .git that leads elsewhere: %v", got)
	}
}
