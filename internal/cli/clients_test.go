package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The clients that docs/json.md shows drive a session: one approval is given, one is refused.
func TestDocumentedClients(t *testing.T) {
	page, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		lang  string
		needs []string
	}{{"python", []string{"python3"}}, {"sh no-run", []string{"bash", "jq"}}} {
		t.Run(c.lang, func(t *testing.T) {
			for _, program := range c.needs {
				if _, err := exec.LookPath(program); err != nil || runtime.GOOS == "windows" {
					t.Skip("needs " + program)
				}
			}
			code := regexp.MustCompile("(?s)```" + c.lang + "\n(.*?)```").FindStringSubmatch(string(page))
			if code == nil || strings.Count(code[1], "\n") > 40 {
				t.Fatal("the page has no short client")
			}
			dir, home := t.TempDir(), t.TempDir()
			bin := filepath.Join(home, "bin")
			if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "anchor"), "anchor").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			model := "reply\ncall write_file {\"path\": \"a.txt\", \"content\": \"a\\n\"}\ncall shell {\"command\": \"touch b.txt\"}\nreply\ntext All done.\n"
			for name, text := range map[string]string{"model.txt": model, "drive": code[1]} {
				if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p := exec.Command(c.needs[0], filepath.Join(home, "drive"), "go", "-m", "script:"+filepath.Join(home, "model.txt"))
			p.Dir, p.Stdin = dir, strings.NewReader("yes\nno\n")
			p.Env = append(os.Environ(), "HOME="+home, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := p.CombinedOutput()
			_, a := os.Stat(filepath.Join(dir, "a.txt"))
			_, b := os.Stat(filepath.Join(dir, "b.txt"))
			if err != nil || a != nil || b == nil || !strings.Contains(string(out), "All done.") || !strings.Contains(string(out), "all file writes in the workspace") {
				t.Errorf("%v, %v, %v\n%s", err, a, b, out)
			}
		})
	}
}
