package cli

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"anchor/internal/policy"
)

// sample is the project of anchor demo, and the script of its model.
//
//go:embed demo
var sample embed.FS

// demo shows the whole loop on a small project in a temporary directory: read, edit, check, edit again, check passed. It is a
// headless run like any other, with a scripted model.
func demo(ctx context.Context, sh shell, o *options) error {
	dir, err := os.MkdirTemp("", "anchor-demo-")
	if err != nil {
		return fmt.Errorf("no place for the sample project: %w", err)
	}
	if err := unpack(filepath.Join(dir, "project")); err != nil {
		return err
	}
	script, err := sample.ReadFile("demo/script.txt")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "script.txt")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		return err
	}
	const task = "The test fails. Find out why and mend it."
	fmt.Fprintf(sh.err, `A sample project was written to %s/project. A scripted model works on it; all else is real.

$ anchor -p "%s" --allow write --until 'bash test.sh'

`, dir, task)
	run := *o
	run.command, run.print, run.prompt, run.model, run.dir = "", true, task, "script:"+file, filepath.Join(dir, "project")
	run.until, run.untilRounds, run.noSession, run.noMCP, run.stream = "bash test.sh", 5, true, true, true
	run.allow = []policy.Rule{{Kind: "write"}}
	sh.in, err = os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer sh.in.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err = headless(ctx, sh, &run, cancel)
	if code(err) == exitOK {
		fmt.Fprint(sh.err, nextSteps)
	}
	return err
}

const nextSteps = `
That is the loop: the model worked until the check passed. With a model of your own, in a project of your own:

  export ANTHROPIC_API_KEY=…      (or OPENAI_API_KEY, …; or -m ollama/NAME for a local one)
  anchor                          a session that asks before it changes anything
  anchor -p "make the tests pass" --allow write --until 'go test ./...'
  anchor doctor                   says what is missing
`

// unpack writes the sample project to dir.
func unpack(dir string) error {
	return fs.WalkDir(sample, "demo/project", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, "demo/project")))
		if e.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := sample.ReadFile(path.Clean(name))
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}
