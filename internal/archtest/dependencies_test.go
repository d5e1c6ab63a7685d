package archtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestEveryDependencyHasAReason holds go.mod and the section "Dependencies" of DESIGN.md together, both ways.
func TestEveryDependencyHasAReason(t *testing.T) {
	data, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(data, &mod); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	_, reasons, _ := strings.Cut(string(page), "## Dependencies")
	direct := map[string]bool{}
	for _, r := range mod.Require {
		if r.Indirect {
			continue
		}
		direct[r.Path] = true
		if !strings.Contains(reasons, "| "+r.Path+" |") && !strings.Contains(reasons, "`"+r.Path+"`") {
			t.Errorf("%s stands in go.mod, and DESIGN.md gives no reason for it", r.Path)
		}
	}
	for line := range strings.Lines(reasons) {
		cells := strings.Split(line, "|")
		if len(cells) == 4 && strings.Contains(cells[1], "/") && !direct[strings.TrimSpace(cells[1])] {
			t.Errorf("DESIGN.md gives a reason for%s, which go.mod does not ask for", cells[1])
		}
	}
}
