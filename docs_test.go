package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// block is a fenced block of a page.
type block struct {
	file string
	line int
	info string
	text string
}

// TestDocs runs the commands of the README and docs/. A block marked sh is run by bash, line after line, in a fresh
// directory with a fresh home and anchor on PATH; each page has one directory. A block marked "sh no-run" is not run: it
// needs a key, a network, a desktop, or it is this test.
func TestDocs(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs bash")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the pages are for a Unix shell")
	}
	bin := buildAnchor(t)
	ran := 0
	for _, page := range pages(t) {
		var scripts []block
		for _, b := range blocks(t, page) {
			if b.info == "sh" {
				scripts = append(scripts, b)
			}
		}
		ran += len(scripts)
		if len(scripts) > 0 {
			t.Run(page, func(t *testing.T) {
				t.Parallel()
				run(t, bin, scripts)
			})
		}
	}
	if ran < 1 {
		t.Error("no page has a command that is run")
	}
}

// buildAnchor builds the program for a test.
func buildAnchor(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "anchor")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// TestDocsMarks keeps an eye on marks that would silently not be run.
func TestDocsMarks(t *testing.T) {
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			switch strings.Fields(b.info + " -")[0] {
			case "bash", "shell", "console":
				t.Errorf("%s:%d: mark it sh, or sh no-run", b.file, b.line)
			}
		}
	}
}

// TestDocsLinks finds links to files that are not there.
func TestDocsLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range pages(t) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: link to %s, which is not there", page, m[1])
			}
		}
	}
}

func pages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{"README.md", "DESIGN.md", "CONTRIBUTING.md"}, docs...)
}

// blocks returns the fenced blocks of a page.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	var open *block
	for i, line := range strings.Split(string(data), "\n") {
		info, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open == nil:
			open = &block{file: page, line: i + 1, info: strings.TrimSpace(info)}
		case fence:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	if open != nil {
		t.Errorf("%s:%d: the block does not end", page, open.line)
	}
	return out
}

// run runs the blocks of one page, one after the other.
func run(t *testing.T, bin string, scripts []block) {
	root := t.TempDir()
	home, work := filepath.Join(root, "home"), filepath.Join(root, "work")
	for _, d := range []string{home, work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=" + home, "TMPDIR=" + root, "TERM=dumb", "LANG=C.UTF-8", "PATH=" + filepath.Dir(bin) + ":" + os.Getenv("PATH"),
		"ANCHOR_SRC=" + mustGetwd(t), "GOPATH=" + goEnv(t, "GOPATH"), "GOCACHE=" + goEnv(t, "GOCACHE"), "GOFLAGS=-mod=mod", "GOPROXY=" + goEnv(t, "GOPROXY"),
		"GIT_CONFIG_GLOBAL=" + filepath.Join(home, "gitconfig"), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com"}
	for _, b := range scripts {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		cmd := exec.CommandContext(ctx, "bash", "-eu", "-c", b.text)
		cmd.Dir, cmd.Env, cmd.WaitDelay = work, env, 5*time.Second
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		cancel()
		if err != nil {
			t.Fatalf("%s:%d: %v\n%s\n%s", b.file, b.line, err, b.text, out.String())
		}
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
