package home

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// Edit lets the user change text in their editor, a shell command that takes a file, with the terminal as its own, and returns what
// they made of it. The end of ctx ends the editor. An editor that fails changes nothing.
func Edit(ctx context.Context, editor, text string, env []string, in, out *os.File) (string, error) {
	f, err := os.CreateTemp("", "anchor-*.md")
	if err != nil {
		return "", explain(err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	if _, err := f.WriteString(text); err != nil {
		return "", explain(err)
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", editor+` "$1"`, "editor", f.Name())
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, in, out, out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor %s: %w; VISUAL or EDITOR may name another", editor, err)
	}
	data, err := Read(f.Name(), 32<<20) // a new file of this name, where the editor wrote one
	return string(data), err
}
