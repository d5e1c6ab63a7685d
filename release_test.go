package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestRelease builds one target twice, from two clones in different places, and wants the same bytes; what is in the
// archive then runs, with the version that the archive's name has.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds twice")
	}
	for _, program := range []string{"bash", "git", "tar", "gzip"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs " + program)
		}
	}
	if runtime.GOOS != "linux" {
		t.Skip("releases are built on Linux")
	}
	if err := exec.Command("git", "rev-parse", "--verify", "-q", "HEAD").Run(); err != nil {
		t.Skip("needs a git checkout")
	}
	var sums []string
	var out string
	for _, place := range []string{"a", "somewhere/else"} {
		dir := filepath.Join(t.TempDir(), place)
		out = filepath.Join(dir, "out")
		clone := filepath.Join(dir, "clone")
		sh(t, ".", "git", "clone", "-q", ".", clone)
		cmd := exec.Command("bash", filepath.Join(clone, "script", "release"), "linux/"+runtime.GOARCH)
		cmd.Env = append(os.Environ(), "OUT="+out)
		if log, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		data, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(data))
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds of one commit differ:\n%s%s", sums[0], sums[1])
	}

	name := regexp.MustCompile(`\S+\.tar\.gz`).FindString(sums[1])
	sh(t, out, "sha256sum", "-c", "SHA256SUMS")
	sh(t, out, "tar", "xzf", name)
	root := filepath.Join(out, strings.TrimSuffix(name, ".tar.gz"))
	version := strings.TrimSuffix(strings.TrimPrefix(name, "anchor-"), "-linux-"+runtime.GOARCH+".tar.gz")
	if got := sh(t, root, "./anchor", "version"); !strings.Contains(got, version) || !strings.Contains(got, "commit") {
		t.Errorf("anchor version says %q, want %s and the commit", got, version)
	}
	if info, err := os.Stat(filepath.Join(root, "anchor")); err != nil || info.Size() > 25<<20 {
		t.Errorf("the program is larger than the 25 MB of the README: %v, %v", info.Size(), err)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if data, err := os.ReadFile(filepath.Join(root, "completions", "anchor."+shell)); err != nil || len(data) == 0 {
			t.Errorf("no completion for %s: %v", shell, err)
		}
	}
}

// sh runs a program and returns what it printed.
func sh(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
