package policy

import (
	"path"
	"strings"
	"testing"

	"anchor/internal/denial"
	"anchor/internal/shellread"
)

const dir, home = "/home/me/ws", "/home/me"

// disk is what there is: links by their target, everything else by name.
var disk = map[string]string{
	"notes.txt": dir + "/.env", "k": home + "/.ssh", "out": "/etc", "inside.md": dir + "/README.md", "z/.env": dir + "/.env.example", "w/.env.example": dir + "/.env",
	"disk": "/dev/sda", "h": dir + "/.git/hooks", ".env": dir + "/.env", "README.md": dir + "/README.md", "id_rsa": dir + "/id_rsa",
}

// at resolves a name as the gate would.
func at(name string) Path {
	p := Path{Name: name, Lexical: name}
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		p.Lexical = home + rest
	}
	if !path.IsAbs(p.Lexical) {
		p.Lexical = path.Join(dir, p.Lexical)
	}
	p.Lexical = path.Clean(p.Lexical)
	p.Abs = p.Lexical
	for link, to := range disk {
		if p.Lexical == dir+"/"+link || strings.HasPrefix(p.Lexical, dir+"/"+link+"/") {
			p.Abs, p.Exists = to+strings.TrimPrefix(p.Lexical, dir+"/"+link), true
		}
	}
	if p.Abs == dir {
		p.Inside, p.Rel = true, "."
	} else if rel, ok := strings.CutPrefix(p.Abs, dir+"/"); ok {
		p.Inside, p.Rel = true, rel
	}
	if strings.ContainsRune(name, 0) {
		p.Fault = "its name holds a NUL"
	}
	return p
}

func places(paths []shellread.Path) [][]Path {
	out := make([][]Path, len(paths))
	for i, p := range paths {
		if p.Glob && p.Text == "*" {
			out[i] = []Path{at("README.md"), at("id_rsa")}
		} else {
			out[i] = []Path{at(p.Text)}
		}
	}
	return out
}

func exec(command string) Exec {
	a := Exec{Command: command, Reading: shellread.Read(command), Found: denial.Scan(command, denial.Env{Home: home, Dir: dir})}
	a.Facts = Facts{Suspects: places(a.Found.Suspects), Written: places(a.Found.Written), Doomed: places(a.Found.Doomed), Home: home}
	for _, part := range a.Reading.Parts {
		a.Facts.Parts = append(a.Facts.Parts, places(part.Paths))
	}
	return a
}

// given makes Rules of --allow rules, and of --deny rules that have a ! in front; yolo is "yolo".
func given(t testing.TB, list ...string) Rules {
	r := Rules{Home: home, Dir: dir}
	for _, s := range list {
		text, deny := strings.CutPrefix(s, "!")
		rule, err := ParseRule(text)
		switch {
		case s == "yolo":
			r.Yolo = true
		case err != nil:
			t.Fatal(err)
		case deny:
			r.Deny = append(r.Deny, Sourced{rule, "--deny"})
		default:
			r.Allow = append(r.Allow, Sourced{rule, "--allow"})
		}
	}
	return r
}

func TestParseRule(t *testing.T) {
	for _, s := range []string{"read:/usr/share/**", "write", "write:docs/**", "write:~/x/{a,b}", "shell", "shell:go test", "mcp:github", "mcp:github/search"} {
		r, err := ParseRule(s)
		if err != nil || r.String() != s {
			t.Errorf("%q: %v, %v", s, r, err)
		}
	}
	for in, want := range map[string]string{"shell:find . -exec gofmt -l {} ;": "shell:find . -exec gofmt -l {} ;", "shell:grep a*b x": "shell:grep a*b x", "shell:go test ./...": "shell:go test ./...", "write:..x": "write:..x", "  shell: go   test ": "shell:go test", "mcp:github/*": "mcp:github"} {
		if r, err := ParseRule(in); err != nil || r.String() != want {
			t.Errorf("%q: %v, %v", in, r, err)
		}
	}
	for _, s := range []string{"", "read", "shel:go", "read:", "write:", "shell:", "shell: ", "mcp", "mcp:", "mcp:/x", "mcp:a/", "write:[a", "write:{a", "yolo", "Shell:go",
		// what would never match
		"shell:*", "shell:go*", "shell:npm run *", "shell:npm run test:*", "shell:go test; rm", "shell:go test ; rm", "shell:go vet && go test", "shell:go test | tail", "shell:go test > x", "shell:\"go test\"", "shell:'go' test", "shell:$X y", "shell:{a,b}", "mcp:*", "mcp:git*", "mcp:a/b*", "write:../x", "read:../**", "write:a/../../b", "read:.."} {
		if r, err := ParseRule(s); err == nil || !strings.Contains(err.Error(), "shell:WORDS") {
			t.Errorf("%q: %v, %v", s, r, err)
		}
	}
}

// TestPaths judges reads and writes; a row is what, the path, the verdict, and the rules.
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		op, path, want string
		rules          []string
	}{
		{"read", "README.md", "allow", nil}, {"read", ".", "allow", nil}, {"read", "no/such.md", "allow", nil}, {"read", dir + "/main.go", "allow", nil}, {"read", "inside.md", "allow", nil}, {"read", ".git/config", "allow", nil}, {"read", ".env.example", "allow", nil}, {"read", "certs/fullchain.pem", "allow", nil}, {"read", "./public.pem", "allow", nil}, {"read", "server.key", "deny", nil}, {"read", "./server.key", "deny", nil},
		{"read", "/etc/hosts", "ask", nil}, {"read", "../x", "ask", nil}, {"read", dir + "-backup/a", "ask", nil}, {"read", "..", "ask", nil}, {"read", "out/hosts", "ask", nil}, {"read", "a\x00b", "ask", nil}, {"read", "~/.gitconfig", "ask", nil}, {"read", "src/../../x", "ask", nil},
		{"read", "/etc/hosts", "allow", []string{"read:/etc/*"}}, {"read", "/etc/hosts", "ask", []string{"read:**"}}, {"read", "/etc/a/b", "ask", []string{"read:/etc/*"}}, {"read", "/etc/a/b", "allow", []string{"read:/etc/"}}, {"read", "~/a", "allow", []string{"read:~/**"}}, {"read", "/etc/hosts", "allow", []string{"yolo"}}, {"read", "out/hosts", "allow", []string{"read:/etc/**"}}, {"read", "out/hosts", "ask", []string{"read:" + dir + "/**"}},
		{"read", "README.md", "deny", []string{"!read:*.md"}}, {"read", "README.md", "deny", []string{"!read:**", "yolo"}}, {"read", "README.md", "allow", []string{"!write"}}, {"read", "inside.md", "deny", []string{"!read:inside.md"}}, {"read", "inside.md", "deny", []string{"!read:README.md"}}, {"read", "/etc/hosts", "deny", []string{"read:/etc/**", "!read:/etc/hosts"}},
		{"read", ".env", "deny", []string{"yolo", "read:**"}}, {"read", "notes.txt", "deny", []string{"yolo"}}, {"read", "k/id_rsa", "deny", nil}, {"read", "k", "deny", nil}, {"read", "w/.env.example", "deny", nil}, {"read", "z/.env", "deny", nil}, {"read", "~/.ssh/id_rsa", "deny", []string{"read:~/**"}}, {"read", ".ENV", "deny", nil}, {"read", ".env/", "deny", nil}, {"read", "/proc/self/environ", "deny", nil}, {"read", "/proc/self/cwd/.env", "deny", nil}, {"read", "file://" + dir + "/.env", "deny", nil}, {"read", ".env\x00.md", "deny", nil},
		{"write", "a.md", "ask", nil}, {"write", "a.md", "allow", []string{"write"}}, {"write", "docs/a", "allow", []string{"write:docs/**"}}, {"write", "docs/a", "allow", []string{"write:./docs/"}}, {"write", "src/a", "ask", []string{"write:docs/**"}}, {"write", "a.md", "allow", []string{"yolo"}}, {"write", "a.md", "ask", []string{"read:**", "shell", "mcp:a"}}, {"write", "docs/a", "allow", []string{"write:" + dir + "/docs/*"}},
		{"write", "../a", "ask", []string{"write"}}, {"write", "../a", "ask", []string{"write:**"}}, {"write", "../a", "allow", []string{"write:" + home + "/*"}}, {"write", "out/a", "ask", []string{"write", "write:out/**"}}, {"write", "/tmp/a", "allow", []string{"write:/tmp/**"}}, {"write", "~/a", "allow", []string{"write:~/a"}},
		{"write", ".git/hooks/x", "ask", []string{"write", "write:**", "write:.git/**"}}, {"write", "sub/.git/config", "ask", []string{"write"}}, {"write", ".GIT/config", "ask", []string{"write"}}, {"write", "h/pre-commit", "ask", []string{"write", "write:h/**"}}, {"write", ".git/hooks/x", "allow", []string{"write:.git/hooks/x"}}, {"write", ".git/hooks/x", "allow", []string{"yolo"}}, {"write", "bare.git/config", "ask", []string{"write"}},
		{"write", ".anchor/config.json", "ask", []string{"write"}}, {"write", "~/.bashrc", "ask", []string{"write:~/**"}}, {"write", "~/.bashrc", "allow", []string{"write:~/.bashrc"}}, {"write", ".vscode/tasks.json", "ask", []string{"write"}}, {"write", ".mcp.json", "ask", []string{"write"}}, {"write", ".gitignore", "allow", []string{"write"}}, {"write", "src/hooks/use.ts", "allow", []string{"write"}}, {"write", ".github/a.yml", "allow", []string{"write"}},
		{"write", "/dev/sda", "deny", []string{"yolo", "write:/dev/*"}}, {"write", "/dev/null", "ask", nil}, {"write", "/etc/sudoers.d/me", "deny", []string{"yolo"}}, {"write", "disk", "deny", []string{"yolo"}},
		{"write", ".env", "deny", []string{"yolo", "write"}}, {"write", "notes.txt", "deny", []string{"write"}}, {"write", "a.md", "deny", []string{"write", "!write"}}, {"write", "../a", "deny", []string{"yolo", "!write"}}, {"write", "go.sum", "deny", []string{"write", "!write:go.*"}}, {"write", "a\x00", "ask", []string{"write", "write:**"}},
	} {
		var a Action = Read{at(c.path)}
		if c.op == "write" {
			a = Write{at(c.path)}
		}
		if got := Decide(a, given(t, c.rules...)); got.Verdict.String() != c.want || got.Reason == "" || got.Rule == "" {
			t.Errorf("%s %q with %q: %+v, want %s", c.op, c.path, c.rules, got, c.want)
		}
	}
	own := at("/state/out")
	own.Own = true
	if d := Decide(Read{own}, given(t)); d.Verdict != Allow {
		t.Errorf("own file: %+v", d)
	}
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		command, want string
		rules         []string
	}{
		{"ls -la", "allow", nil}, {"cat README.md | wc -l", "allow", nil}, {"git status", "allow", nil}, {"touch x", "ask", nil}, {"cat /etc/hosts", "ask", nil}, {"cat out/hosts", "ask", nil}, {"diff /dev/null README.md", "allow", nil}, {"ls > x", "ask", nil}, {"ls *", "allow", nil}, {"du -sh *", "allow", nil}, {"cat *", "ask", nil}, {"cat -", "allow", nil},
		{"cat notes.txt", "deny", []string{"yolo", "shell"}}, {"cp notes.txt a", "deny", []string{"yolo"}}, {"cat .env", "deny", []string{"shell"}}, {"sudo ls", "deny", []string{"yolo"}}, {"cat k/id_rsa", "deny", []string{"yolo"}}, {"(cat notes.txt)", "deny", []string{"yolo"}},
		{"cat README.md > disk", "deny", []string{"yolo"}}, {"git diff -- . ':!.env'", "allow", nil}, {"git diff -- . .env", "deny", nil},
		{"touch x", "allow", []string{"shell"}}, {"cat /etc/hosts", "allow", []string{"shell"}}, {"touch x", "allow", []string{"yolo"}}, {"touch x", "ask", []string{"write", "read:**", "shell:go"}},
		{"go test ./...", "allow", []string{"shell:go test"}}, {"go test -run X ./a && go test ./b", "allow", []string{"shell:go test"}}, {"go test ./... | tail -5", "allow", []string{"shell:go test"}}, {"go test ./... 2>&1", "allow", []string{"shell:go test"}},
		{"go test ./... && touch x", "ask", []string{"shell:go test"}}, {"go test ./... && touch x", "ask", []string{"shell:go test", "shell:mkdir"}}, {"go test $(touch x)", "ask", []string{"shell:go test"}}, {"go test ./... > x", "ask", []string{"shell:go test"}}, {"go tests", "ask", []string{"shell:go test"}}, {"go", "ask", []string{"shell:go test"}}, {"X=1 go test", "ask", []string{"shell:go test"}}, {"go test; rm -r y", "ask", []string{"shell:go test"}},
		{"cp a /tmp/b", "ask", []string{"shell:cp"}}, {"cp a ../b", "ask", []string{"shell:cp"}}, {"cp a b", "allow", []string{"shell:cp"}}, {"cp a .git/hooks/x", "ask", []string{"shell:cp"}}, {"go test ./... ; cat /etc/hosts", "ask", []string{"shell:go test"}}, {"cp a out/x", "ask", []string{"shell:cp"}}, {"ls", "allow", []string{"shell:cp"}},
		{"git push", "deny", []string{"yolo", "!shell:git push"}}, {"git pull", "allow", []string{"yolo", "!shell:git push"}}, {"git -C . push", "deny", []string{"yolo", "!shell:git push"}}, {"env X=1 git push origin", "deny", []string{"yolo", "!shell:git push"}}, {"true && (git push)", "deny", []string{"yolo", "!shell:git push"}}, {"bash -c 'git push'", "deny", []string{"yolo", "!shell:git push"}}, {"/usr/bin/git push", "deny", []string{"yolo", "!shell:git push"}}, {"echo git push", "allow", []string{"!shell:git push"}}, {"g''it push", "deny", []string{"yolo", "!shell:git push"}},
		{"ls", "deny", []string{"!shell"}}, {"ls", "deny", []string{"shell", "!shell:ls"}}, {"cat README.md", "deny", []string{"!read:*.md"}}, {"cat inside.md", "deny", []string{"!read:README.md"}}, {"cp README.md x", "deny", []string{"yolo", "!read:README.md"}}, {"find . -exec rm {} +", "deny", []string{"yolo", "!shell:rm"}},
		{"echo x > n", "deny", []string{"yolo", "!write"}}, {"bash -c 'ls >> out/n'", "deny", []string{"yolo", "!write"}}, {"echo x > docs/b.md", "deny", []string{"yolo", "!write:docs/**"}}, {"cd docs && ls > b.md", "deny", []string{"yolo", "!write:docs/**"}}, {"echo x > n 2>/dev/null", "allow", []string{"yolo", "!write:docs/**"}}, {"ls 2>/dev/null", "allow", []string{"!write"}}, {"ls > /dev/null 2>&1", "allow", []string{"yolo", "!write"}},
	} {
		got := Decide(exec(c.command), given(t, c.rules...))
		if got.Verdict.String() != c.want || got.Reason == "" || got.Rule == "" {
			t.Errorf("%q with %q: %+v, want %s", c.command, c.rules, got, c.want)
		}
		if got.ReadOnly != (c.want == "allow" && got.Rule == "default") {
			t.Errorf("%q: read-only %v", c.command, got.ReadOnly)
		}
	}
}

// TestFacts takes away what makes a read-only command safe, one thing at a time.
func TestFacts(t *testing.T) {
	for name, change := range map[string]func(*Exec){
		"planted":     func(a *Exec) { a.Facts.Planted = []string{"git"} },
		"git runs":    func(a *Exec) { a.Facts.GitPrograms = []string{"core.fsmonitor"} },
		"no facts":    func(a *Exec) { a.Facts.Parts = nil },
		"empty facts": func(a *Exec) { a.Facts.Parts[0] = [][]Path{{}} },
		"a fault":     func(a *Exec) { a.Facts.Parts[0][0][0].Fault = "a loop" },
		"outside":     func(a *Exec) { a.Facts.Parts[0][0] = append(a.Facts.Parts[0][0], at("/etc/x")) },
	} {
		a := exec("git diff README.md")
		if d := Decide(a, given(t)); d.Verdict != Allow || len(a.Facts.Parts) != 1 {
			t.Fatalf("%+v %+v", d, a)
		}
		change(&a)
		if d := Decide(a, given(t)); d.Verdict != Ask || strings.Count(d.Reason, ".") > 3 {
			t.Errorf("%s: %+v", name, d)
		}
		if d := Decide(a, given(t, "shell:cp")); d.Verdict != Ask {
			t.Errorf("%s with shell:cp: %+v", name, d)
		}
	}
	if d := Decide(Exec{ByUser: true, Command: "touch x"}, given(t)); d.Verdict != Allow {
		t.Errorf("by the user: %+v", d)
	}
	if d := Decide(nil, given(t, "yolo")); d.Verdict != Deny {
		t.Errorf("no action: %+v", d)
	}
}

func TestAlways(t *testing.T) {
	for command, want := range map[string]string{
		"mkdir a": "mkdir", "touch x": "touch", "go test ./...": "go test", "git commit -m x": "git commit", "npm run build": "npm run", "npm install": "npm install", "cargo build --release": "cargo build", "docker compose up": "docker compose", "make": "make", "make | tail": "make", "cd src && make": "make", "ls && mkdir a": "mkdir",
		"python3 a.py": "", "python3.12 a.py": "", ". a": "", "bash a.sh": "", "sh -c x": "", "env make": "", "xargs rm": "", "timeout 5 make": "", "rm a": "", "chmod +x a": "", "mkdir ../a": "", "cp a /tmp": "", "mkdir a && touch b": "", "mkdir a > b": "", "git": "", "git -C a commit": "", "npx x": "", "npm exec x": "", "mkdir $(x)": "", "find . -delete": "", "sed -i s/a/b/ a": "", "X=1 make": "", "sort -o a b": "sort", "node a.js": "", "mkdir .git/hooks": "", "awk '{print > \"x\"}' a": "",
	} {
		d := Decide(exec(command), given(t))
		got := ""
		if d.Always != nil {
			got = d.Always.Rule.Arg
			if d.Always.Label != `commands that start with "`+got+`"` {
				t.Errorf("label %q", d.Always.Label)
			}
		}
		if d.Verdict != Ask || got != want {
			t.Errorf("%q: always %q, want %q (%+v)", command, got, want, d)
		}
	}
	write := Decide(Write{at("a")}, given(t)).Always
	tool := Decide(MCP{"github", "search"}, given(t)).Always
	if write.Label != "all file writes in the workspace" || tool.Label != "MCP tool github/search" {
		t.Errorf("labels %q, %q", write.Label, tool.Label)
	}
	for _, a := range []Action{Write{at("../a")}, Write{at(".git/a")}, Read{at("/etc/x")}, Write{at("~/.zshrc")}} {
		if d := Decide(a, given(t)); d.Verdict != Ask || d.Always != nil {
			t.Errorf("%+v: %+v", a, d)
		}
	}
}

// TestSuggest proves that what is suggested, given as --allow, allows the action.
func TestSuggest(t *testing.T) {
	actions := []Action{
		Read{at("/etc/a*b")}, Read{at("/etc/{x}[1]\\")}, Write{at("a")}, Write{at("../a b")}, Write{at(".git/hooks/x")}, Write{at("~/.bashrc")}, Write{at("/tmp/[a]/**")}, MCP{"github", "search"}, MCP{"a", "b/c"},
	}
	for _, c := range []string{"mkdir a", "rm -rf build", "rm -rf 'a b'", "python3 x.py", "cp a /tmp/x", "mkdir a > b", "a && b", "X=1 a", "git commit -m 'a b'", "git -C x push", "echo $(x)", "cat /etc/hosts", "cat *", "./run.sh", "a 'b  c'", "\"\" a", "if", "cat -- '*' x; frob"} {
		actions = append(actions, exec(c))
	}
	for _, a := range actions {
		d := Decide(a, given(t))
		if d.Verdict != Ask || d.Suggest == "" {
			t.Errorf("%+v: %+v", a, d)
			continue
		}
		if got := Decide(a, given(t, d.Suggest)); got.Verdict != Allow {
			t.Errorf("%q suggested for %+v: %+v", d.Suggest, a, got)
		}
		if d.Always != nil && d.Always.Rule.String() != d.Suggest {
			t.Errorf("always %q, suggested %q", d.Always.Rule, d.Suggest)
		}
	}
}

func TestMCP(t *testing.T) {
	a := MCP{"github", "search"}
	for rule, want := range map[string]Verdict{"yolo": Allow, "mcp:github": Allow, "mcp:github/search": Allow, "mcp:github/*": Allow, "mcp:git": Ask, "mcp:github/sea": Ask, "shell": Ask, "!mcp:github": Deny, "!mcp:github/search": Deny, "!mcp:github/x": Ask} {
		if d := Decide(a, given(t, rule)); d.Verdict != want {
			t.Errorf("%q: %+v", rule, d)
		}
	}
	if d := Decide(a, given(t, "yolo", "mcp:github", "!mcp:github")); d.Verdict != Deny {
		t.Errorf("deny loses: %+v", d)
	}
}

func FuzzDecide(f *testing.F) {
	f.Add("cat a", "shell:cat", "a")
	f.Add("go test", "write:{a,b}/**", "../b")
	f.Fuzz(func(t *testing.T, command, rule, name string) {
		r := Rules{Home: home, Dir: dir}
		x, err := ParseRule(rule)
		if err == nil {
			if back, err := ParseRule(x.String()); err != nil || back != x {
				t.Fatalf("%q: %v, %v", rule, back, err)
			}
			r.Allow = []Sourced{{x, "--allow"}}
		}
		for _, a := range []Action{exec(command), Read{at(name)}, Write{at(name)}, MCP{name, command}} {
			d := Decide(a, r)
			if d.Verdict == Ask && d.Suggest != "" {
				y, err := ParseRule(d.Suggest)
				if err != nil {
					t.Fatalf("%q: %v", d.Suggest, err)
				}
				if got := Decide(a, Rules{Home: home, Dir: dir, Allow: []Sourced{{y, ""}}}); got.Verdict != Allow {
					t.Fatalf("%q suggested for %+v: %+v", d.Suggest, a, got)
				}
			}
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	a := exec("cd src && grep -rn 'context.Context' --include='*.go' . | head -20 2>/dev/null; go test ./...")
	r := given(b, "shell:go test", "write:docs/**", "!shell:git push")
	for b.Loop() {
		Decide(a, r)
	}
}
