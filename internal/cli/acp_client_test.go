package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// acpClient returns how acpx, a client of another hand, is run in a fresh directory with anchor as its agent. ANCHOR_NPM names a
// directory with acpx, node and @agentclientprotocol/sdk in its node_modules.
func acpClient(t *testing.T, script string) (dir string, run func(args ...string) (string, error)) {
	npm := os.Getenv("ANCHOR_NPM")
	if npm == "" {
		t.Skip("ANCHOR_NPM names no directory with node_modules of acpx, node and @agentclientprotocol/sdk")
	}
	home, dir := t.TempDir(), t.TempDir()
	bin := filepath.Join(home, "anchor")
	if out, err := exec.Command("go", "build", "-o", bin, "anchor").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	model := filepath.Join(home, "model.txt")
	if err := os.WriteFile(model, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(npm, "node_modules", ".bin")
	run = func(args ...string) (string, error) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		c := exec.CommandContext(ctx, filepath.Join(tools, "acpx"), append([]string{"--agent", bin + " acp -m script:" + model, "--ttl", "1"}, args...)...)
		c.Dir, c.Env = dir, []string{"PATH=" + tools + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home}
		out, err := c.CombinedOutput()
		if strings.Contains(string(out), "Queue owner is shutting down") && ctx.Err() == nil { // acpx says that one may try again
			return run(args...)
		}
		return string(out), err
	}
	return dir, run
}

// judged lets the TypeScript SDK's validators judge what was said, where it is there.
func judged(lines string) error {
	npm := os.Getenv("ANCHOR_NPM")
	if npm == "" {
		return nil
	}
	c := exec.Command(filepath.Join(npm, "node_modules", ".bin", "node"), "testdata/acp_validate.mjs", npm)
	c.Stdin = strings.NewReader(lines)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, said)
	}
	return nil
}

// A real client: a prompt, a tool call with its permission given and refused, and every message valid by the TypeScript SDK.
func TestACPClient(t *testing.T) {
	dir, run := acpClient(t, "reply\nthink Hm.\ntext Hello\ncall write_file {\"path\": \"hello.txt\", \"content\": \"hello\\n\"}\nreply\ntext Done.\n")
	out, err := run("--deny-all", "exec", "go")
	if _, made := os.Stat(filepath.Join(dir, "hello.txt")); err != nil && !strings.Contains(out, "The user said no") || made == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = run("--approve-all", "--format", "json", "exec", "go")
	if data, _ := os.ReadFile(filepath.Join(dir, "hello.txt")); err != nil || string(data) != "hello\n" || !strings.Contains(out, "end_turn") {
		t.Fatalf("%v %q\n%s", err, data, out)
	}
	if err := judged(out); err != nil {
		t.Error(err)
	}
}

// A session of a real client: other processes go on with it, and a prompt is cancelled.
func TestACPClientResumesAndCancels(t *testing.T) {
	dir, run := acpClient(t, "reply\ncall shell {\"command\": \"[ -e begun ] || { touch begun; sleep 50; }\"}\nreply\ntext Still here.\n")
	if out, err := run("sessions", "new"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ended := make(chan string)
	go func() {
		out, _ := run("--approve-all", "prompt", "go")
		ended <- out
	}()
	for _, err := os.Stat(filepath.Join(dir, "begun")); err != nil; _, err = os.Stat(filepath.Join(dir, "begun")) {
		select {
		case out := <-ended:
			t.Fatal(out)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if out, err := run("cancel"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out := <-ended; !strings.Contains(out, "cancelled") {
		t.Errorf("not cancelled: %s", out)
	}
	if out, err := run("--approve-all", "prompt", "there?"); err != nil || !strings.Contains(out, "end_turn") {
		t.Errorf("%v\n%s", err, out)
	}
}
