package skill

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anchor/internal/event"
	"anchor/internal/gate"
)

// world is a repository, the directory in it, a home and a configuration directory, all real.
type world struct{ root, dir, home, config string }

func newWorld(t *testing.T, files map[string]string) (world, Finder) {
	t.Helper()
	top := t.TempDir()
	w := world{root: filepath.Join(top, "repo"), dir: filepath.Join(top, "repo/sub"), home: filepath.Join(top, "home"), config: filepath.Join(top, "home/.config/anchor")}
	for _, d := range []string{w.root + "/.git", w.dir, w.config} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g, err := gate.New(gate.Options{Dir: w.dir, Home: w.home, Env: []string{"DEPLOY_TOKEN=zq8-long-and-quite-random-71"}, Sink: func(event.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return w, Finder{Gate: g, Config: w.config, Home: w.home}
}

func find(t *testing.T, f Finder) Found {
	t.Helper()
	found, err := f.Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func skillFile(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nBody of " + name + ".\n"
}

func TestSkillsAreFoundNearestFirst(t *testing.T) {
	_, f := newWorld(t, map[string]string{
		"repo/sub/.agents/skills/pdf/SKILL.md":        skillFile("pdf", "near"),
		"repo/.claude/skills/pdf/SKILL.md":            skillFile("pdf", "far"),
		"repo/.anchor/skills/root/SKILL.md":           skillFile("root", "at the root"),
		"home/.config/anchor/skills/mine/SKILL.md":    skillFile("mine", "of the user"),
		"home/.claude/skills/theirs/SKILL.md":         skillFile("theirs", "of the user too"),
		"repo/.agents/skills/notes.txt":               "no folder",
		"repo/.agents/skills/empty/README.md":         "no skill",
		"repo/sub/.claude/skills/hand/SKILL.md":       "---\nname: hand\ndescription: by hand\ndisable-model-invocation: true\nallowed-tools: Bash(rm:*)\nlicense: MIT\nx: [1]\n---\nDo $ARGUMENTS now.\n",
		"repo/sub/.claude/skills/hand/scripts/run.sh": "echo hi\n",
	})
	found := find(t, f)
	var got []string
	for _, s := range found.Skills {
		got = append(got, s.Name+": "+s.Description)
	}
	want := []string{"pdf: near", "hand: by hand", "root: at the root", "mine: of the user", "theirs: of the user too"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if len(found.Notices) != 1 || !strings.Contains(found.Notices[0], "repo/.claude/skills/pdf/SKILL.md: skill pdf is already taken") {
		t.Errorf("notices: %q", found.Notices)
	}
	if l := Listing(found.Skills); strings.Contains(l, "hand") || !strings.Contains(l, "- pdf: near\n") {
		t.Errorf("the listing is %q", l)
	}
	set := Set{f.Gate, found.Skills}
	if _, err := set.Load(context.Background(), "hand"); err == nil {
		t.Error("the model may load a skill that only the user may call")
	}
	if body, err := set.Use(context.Background(), "hand", "this"); err != nil || !strings.Contains(body, "Do this now.") {
		t.Errorf("%q, %v", body, err)
	}
	if body, err := set.Use(context.Background(), "mine", "a b"); err != nil || !strings.Contains(body, "Body of mine.\n\nArguments: a b\n") || !strings.Contains(body, "skills/mine.") {
		t.Errorf("%q, %v", body, err)
	}
	if _, err := set.Load(context.Background(), "nope"); err == nil || !strings.Contains(err.Error(), "there are: pdf, root, mine, theirs") {
		t.Errorf("the error does not name the skills: %v", err)
	}
	// The files of a skill outside the directory are read unasked.
	mine := found.Skills[3]
	if _, err := f.Gate.Read(context.Background(), filepath.Join(mine.Dir, "SKILL.md"), 0); err != nil {
		t.Error(err)
	}
}

func TestBrokenSkillsAreTold(t *testing.T) {
	cases := map[string]string{
		"no front matter": "Hello\n", "name is missing": "---\ndescription: d\n---\n", "must be the name of its folder": skillFile("other", "d"),
		"lowercase": skillFile("Bad_Name", "d"), "description is missing": "---\nname: folder\n---\n", "front matter: ": "---\nname: [\n---\n",
		"over 1,024": skillFile("folder", strings.Repeat("d", 1025)), "over 500": "---\nname: folder\ndescription: d\ncompatibility: " + strings.Repeat("c", 501) + "\n---\n",
	}
	for want, text := range cases {
		_, f := newWorld(t, map[string]string{"repo/.agents/skills/folder/SKILL.md": text})
		found := find(t, f)
		if len(found.Skills) != 0 || len(found.Notices) != 1 || !strings.Contains(found.Notices[0], want) || !strings.Contains(found.Notices[0], "folder/SKILL.md: ") {
			t.Errorf("%s: %d skills, notices %q", want, len(found.Skills), found.Notices)
		}
	}
}

// TestPublicForms: front matter in the forms that public skills have, of several authors and for several harnesses. It loads,
// or the notice says what is wrong with it.
func TestPublicForms(t *testing.T) {
	cases := []struct{ head, description, notice string }{
		{"name: folder\ndescription: >-\n  Publish a release.\n  Use when: asked to.\ndisable-model-invocation: true\nargument-hint: \"<version>\"\narguments: [version]\n", "Publish a release. Use when: asked to.", ""},
		{"name: folder\ndescription: |\n  First line.\n  Second line.\nallowed-tools: Bash(git add:*), Bash(uv run *), Read, mcp__x__*\n", "First line. Second line.", ""},
		{"name: folder\ndescription: \"[DEV] Scan; e.g. a: b # c\"\nallowed-tools:\n  - Read\n  - Bash\nmodel: haiku\ncontext: fork\n", "[DEV] Scan; e.g. a: b # c", ""},
		{"name: folder\ndescription: 構成を確認する。「どこにあるか」を知りたい時に使う。\nuser-invocable: false\n", "構成を確認する。「どこにあるか」を知りたい時に使う。", ""},
		{"name: folder\ndescription: d\nlicense: Apache-2.0\nmetadata:\n  author: a-team\n  version: \"1.0\"\n  tags: [a, b]\nhooks:\n  PreToolUse:\n    - matcher: Bash\n", "d", ""},
		{"# a comment\nname: folder\nversion: 1.2.0\ndescription:   'it''s quoted'   \n", "it's quoted", ""},
		{"name: folder\ndescription: Use when: the colon is not quoted\n", "", "mapping values are not allowed"},
		{"name: floor_plan_annotate\ndescription: d\n", "", "lowercase"},
		{"description: a command of another harness\nargument-hint: [message]\n", "", "name is missing"},
		{"name: folder\ndescription: d\n\tallowed-tools: Read\n", "", "front matter: "},
		{"name: folder\ndescription: [a, list]\n", "", "front matter: "},
	}
	for _, c := range cases {
		for _, end := range []string{"\n", "\r\n"} {
			text := "\ufeff" + strings.ReplaceAll("---\n"+c.head+"---\n\n# Title\n", "\n", end)
			_, f := newWorld(t, map[string]string{"repo/.claude/skills/folder/SKILL.md": text})
			found := find(t, f)
			description, notices := "", strings.Join(found.Notices, "|")
			if len(found.Skills) == 1 {
				description = strings.TrimSpace(found.Skills[0].Description)
			}
			if description != c.description || (c.notice == "") != (notices == "") || !strings.Contains(notices, c.notice) {
				t.Errorf("%q: description %q, notices %q", c.head, description, notices)
			}
		}
	}
}

func TestLinksOutAreNotFollowed(t *testing.T) {
	w, f := newWorld(t, map[string]string{
		"outside/evil/SKILL.md": skillFile("evil", "d"), "outside/AGENTS.md": "OUTSIDE\n", "outside/mine/SKILL.md": skillFile("mine", "linked by the user"), "repo/.env": "A=1\n",
	})
	link := func(from, to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, to); err != nil {
			t.Fatal(err)
		}
	}
	top := filepath.Dir(w.root)
	link(top+"/outside/evil", w.root+"/.agents/skills/evil")
	link(top+"/outside/AGENTS.md", w.dir+"/AGENTS.md")
	link(w.root+"/.env", w.root+"/AGENTS.md")
	link(top+"/outside/mine", w.home+"/.agents/skills/mine")
	found := find(t, f)
	if len(found.Skills) != 1 || found.Skills[0].Name != "mine" {
		t.Errorf("skills: %v", found.Skills)
	}
	if strings.Contains(found.Instructions, "OUTSIDE") || strings.Contains(found.Instructions, "A=1") || len(found.Notices) != 3 {
		t.Errorf("instructions %q, notices %q", found.Instructions, found.Notices)
	}
}

func TestListingStaysSmall(t *testing.T) {
	var skills []Skill
	for i := range 200 {
		skills = append(skills, Skill{Name: fmt.Sprintf("skill-%d", i), Description: strings.Repeat("wörd ", 100)})
	}
	l := Listing(skills)
	if len(l) > listingSize+200*5 || strings.Count(l, "\n") != 200 {
		t.Errorf("%d bytes, %d lines", len(l), strings.Count(l, "\n"))
	}
}

func TestAgents(t *testing.T) {
	_, f := newWorld(t, map[string]string{
		"repo/.anchor/agents/reviewer.md":        "---\ndescription: reviews code\ntools: [read_file, grep]\nmodel: anthropic/claude-haiku-4-5\n---\nYou review.\n",
		"repo/sub/.claude/agents/tester.md":      "---\nname: tester\ndescription: runs tests\ntools: Read, Grep, Bash(go test:*), WebFetch, mcp__db__query\nmodel: sonnet\n---\nYou test.\n",
		"home/.config/anchor/agents/reviewer.md": "---\ndescription: another\n---\n",
		"home/.config/anchor/agents/plain.md":    "---\ndescription: has all tools\nmodel: script:/tmp/x\n---\nGo.\n",
		"home/.config/anchor/agents/Bad Name.md": "---\ndescription: d\n---\n",
	})
	found := find(t, f)
	byName := map[string]Agent{}
	for _, a := range found.Agents {
		byName[a.Name] = a
	}
	if a := byName["reviewer"]; a.Prompt != "You review." || !slices.Equal(a.Tools, []string{"read_file", "grep"}) || a.Model != "anthropic/claude-haiku-4-5" {
		t.Errorf("reviewer: %+v", a)
	}
	if a := byName["tester"]; !slices.Equal(a.Tools, []string{"read_file", "grep", "shell", "mcp__db__query"}) || a.Model != "claude-sonnet-5" {
		t.Errorf("tester: %+v", a)
	}
	if a := byName["plain"]; a.Tools != nil || a.Model != "" {
		t.Errorf("plain: %+v", a)
	}
	all := strings.Join(found.Notices, "\n")
	if len(found.Notices) != 4 {
		t.Errorf("notices: %q", found.Notices)
	}
	for _, want := range []string{`the unknown tool "WebFetch"`, "reviewer is already taken", "Bad Name", "script:/tmp/x"} {
		if !strings.Contains(all, want) {
			t.Errorf("no notice of %s in %q", want, found.Notices)
		}
	}
}

func TestInstructions(t *testing.T) {
	_, f := newWorld(t, map[string]string{
		"home/.config/anchor/AGENTS.md": "USER\n",
		"repo/CLAUDE.md":                "ROOT-CLAUDE see @docs/style.md and @someone, `@not/this`.\n\n```\n@nor/this.md\n```\ntoken zq8-long-and-quite-random-71\n",
		"repo/AGENTS.md":                "ROOT see @CLAUDE.md\n",
		"repo/docs/style.md":            "STYLE @../AGENTS.md @../../outside.md @missing.md\n",
		"outside.md":                    "OUTSIDE\n",
		"repo/sub/CLAUDE.md":            "SUB\n",
	})
	found := find(t, f)
	at := -1
	for _, part := range []string{"USER", "ROOT see", "ROOT-CLAUDE", "STYLE", "SUB"} {
		i := strings.Index(found.Instructions, part)
		if i <= at {
			t.Errorf("%s is missing or out of order in %q", part, found.Instructions)
		}
		at = i
	}
	if strings.Contains(found.Instructions, "OUTSIDE") || strings.Contains(found.Instructions, "zq8-long") {
		t.Errorf("too much in %q", found.Instructions)
	}
	all := strings.Join(found.Notices, "\n")
	if len(found.Notices) != 3 || !strings.Contains(all, "AGENTS.md: includes itself") || !strings.Contains(all, "outside.md: really lies outside") || !strings.Contains(all, "missing.md") {
		t.Errorf("notices: %q", found.Notices)
	}
}

// What settings name comes after the rest, and is held to its root.
func TestInstructionsOfSettings(t *testing.T) {
	w, f := newWorld(t, map[string]string{"repo/AGENTS.md": "ROOT\n", "repo/RULES.md": "RULES\n", "home/own.md": "OWN see @more.md\n", "home/more.md": "MORE\n"})
	f.Files = []File{{"RULES.md", w.root, w.root}, {"~/own.md", w.config, ""}, {"~/own.md", w.root, w.root}, {"none.md", w.root, w.root}}
	found := find(t, f)
	if i, j := strings.Index(found.Instructions, "ROOT"), strings.Index(found.Instructions, "RULES\n"); i < 0 || j < i || strings.Count(found.Instructions, "OWN") != 1 || !strings.Contains(found.Instructions, "MORE") {
		t.Errorf("instructions %q", found.Instructions)
	}
	if all := strings.Join(found.Notices, "\n"); len(found.Notices) != 2 || !strings.Contains(all, "own.md: really lies outside") || !strings.Contains(all, "none.md: no such file") {
		t.Errorf("notices %q", found.Notices)
	}
}

func TestInstructionsAreBounded(t *testing.T) {
	_, f := newWorld(t, map[string]string{"repo/AGENTS.md": strings.Repeat("é long\n", 20_000)})
	found := find(t, f)
	if n := len(found.Instructions); n > maxInstructions || n < maxInstructions-8 || !strings.HasSuffix(found.Instructions, "…") || len(found.Notices) != 1 {
		t.Errorf("%d bytes, notices %q", n, found.Notices)
	}
}
