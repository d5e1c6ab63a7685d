package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	files, sub := fs.Sub(sample, "demo")
	null, open := os.Open(os.DevNull)
	if err := errors.Join(sub, open, os.CopyFS(dir, files)); err != nil {
		return err
	}
	defer null.Close()
	const task, check = "The test fails. Find out why and mend it.", "bash test.sh"
	fmt.Fprintf(sh.err, "A sample project was written to %s/project. A scripted model works on it; all else is real.\n\n"+
		"$ anchor -p \"%s\" --allow write --until '%s'\n\n", dir, task, check)
	run := *o
	run.print, run.prompt, run.model, run.dir = true, task, "script:"+filepath.Join(dir, "script.txt"), filepath.Join(dir, "project")
	run.until, run.allow, run.noSession, run.noMCP, run.stream = check, []string{"write"}, true, true, true
	sh.in = null
	err = headless(ctx, sh, &run)
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
