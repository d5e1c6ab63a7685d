package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"anchor/internal/front/jsonl/jsonltest"
)

// TestFleet runs 20 headless runs side by side in one directory: each has its result line, its file and its session, and
// the sessions are listed and shown.
func TestFleet(t *testing.T) {
	const runs = 20
	bin, dir, home := buildAnchor(t), t.TempDir(), t.TempDir()
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	sessions, valid := make([]string, runs), jsonltest.Valid(t)
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			script := filepath.Join(home, fmt.Sprintf("script-%d.txt", i))
			text := fmt.Sprintf("reply\ncall write_file {\"path\": \"out-%d.txt\", \"content\": \"work of %d\\n\"}\n\nreply\ntext done %d\n", i, i, i)
			if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
				t.Error(err)
				return
			}
			cmd := exec.Command(bin, "-p", fmt.Sprintf("task %d", i), "--json", "--allow", "write", "-m", "script:"+script)
			cmd.Dir, cmd.Env = dir, env
			out, err := cmd.Output()
			lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
			for _, line := range lines {
				if err := valid(string(line)); err != nil {
					t.Error(err)
				}
			}
			var result struct {
				Type, Status, Text, Session string
				FilesChanged                []string `json:"files_changed"`
			}
			if bad := json.Unmarshal(lines[len(lines)-1], &result); bad != nil || err != nil {
				t.Errorf("run %d: %v, %v\n%s", i, err, bad, out)
				return
			}
			if got, want := fmt.Sprint(result.Type, result.Status, result.Text, result.FilesChanged), fmt.Sprintf("resultcompleteddone %d[out-%d.txt]", i, i); got != want {
				t.Errorf("run %d ended as %s, want %s", i, got, want)
			}
			if data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("out-%d.txt", i))); err != nil || string(data) != fmt.Sprintf("work of %d\n", i) {
				t.Errorf("run %d wrote %q, %v", i, data, err)
			}
			sessions[i] = result.Session
		})
	}
	all.Wait()

	anchor := func(args ...string) string {
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	list := anchor("sessions")
	if n := strings.Count(list, "\n"); n != runs {
		t.Errorf("%d sessions are listed, want %d:\n%s", n, runs, list)
	}
	for i, id := range sessions {
		if id == "" || strings.Count(list, id) != 1 {
			t.Errorf("session %q of run %d is not listed once", id, i)
		} else if shown := anchor("sessions", "show", id); !strings.Contains(shown, fmt.Sprintf("task %d", i)) || !strings.Contains(shown, fmt.Sprintf("done %d", i)) {
			t.Errorf("session %s does not hold run %d whole:\n%s", id, i, shown)
		}
	}
}
