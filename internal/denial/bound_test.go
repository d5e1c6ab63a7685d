package denial

import (
	"strings"
	"testing"
)

// TestBounded scans hostile texts: what stands at their end must still be found. A scan that is not bounded would not end
// within the time limit of the test run.
func TestBounded(t *testing.T) {
	const n = 50_000
	big := strings.Repeat("a", 4000)
	for name, c := range map[string]string{
		"substitutions": strings.Repeat("$(", 4*n) + "\nsudo id", "closed": strings.Repeat("$(", n) + "x" + strings.Repeat(")", n) + "; sudo id", "backticks": strings.Repeat("`", 4*n) + "; sudo id",
		"ifs": strings.Repeat("if ", n) + "; sudo id", "bangs": strings.Repeat("! ", n) + " sudo id", "groups": strings.Repeat("{ ", n) + "; sudo id", "case": strings.Repeat("case x in x) ", n) + "; sudo id", "quotes": strings.Repeat(`"$(`, n) + "; sudo id",
		"params": strings.Repeat("${x:-", n) + "; sudo id", "heredocs": strings.Repeat("cat <<E\n", n) + "E\n; sudo id", "tests": strings.Repeat("[[ ( ", n) + "; sudo id", "arithmetic": strings.Repeat("$((", n) + "; sudo id", "whiles": strings.Repeat("while ", n) + "; sudo id",
		"doubling": "x=aaaa; " + strings.Repeat("x=$x$x; ", 60) + "cat $x; sudo id", "braces": "cat " + strings.Repeat("{a,b}", 60) + "; sudo id", "text doubling": strings.Repeat("x=$(echo $x$x); ", 60) + " sudo id", "files": "echo aaaa > f; " + strings.Repeat("cat f f >> f; ", 200) + " sudo id",
		"cd": strings.Repeat("cd a; ", n) + "sudo id", "branches": "if x; then " + strings.Repeat("cd a; ", n) + " fi; sudo id", "functions": "f() { " + strings.Repeat("f; ", 30) + "}; f; sudo id", "forks": strings.Repeat("a=1; (:); ", 5000) + "sudo id", "vars": manyVars(5000) + strings.Repeat("(:); ", 5000) + "sudo id",
		"long": "echo " + strings.Repeat("word ", 4*n) + "; sudo id", "commands": strings.Repeat("true; ", 4*n) + "sudo id", "pipes": strings.Repeat("cat | ", n) + "sudo id", "ands": strings.Repeat("true && ", n) + "sudo id", "stars": "rm -rf /" + strings.Repeat("*a", n) + "; sudo id", "evals": strings.Repeat("eval ", n) + "sudo id",
		"replace": "x=" + big + strings.Repeat("; y=${x//a/$x}; z=${x%%*a*a*b}", 2000) + "; sudo id", "sequence": strings.Repeat("echo {1..99999}{1..99999}; ", 2000) + "sudo id", "grow": "x=" + big + "; f() { cat " + strings.Repeat("$x", 20_000) + "; }; " + strings.Repeat("f; ", 5000) + "sudo id", "find": strings.Repeat("find -exec ", 9000) + "sudo id",
		"wrappers": strings.Repeat("env ", n) + "sudo id", "inputs": strings.Repeat("xargs ", n/2) + "sudo id", "wrapped": strings.Repeat("nice -n 5 ", n) + "sudo id", "sh": strings.Repeat("sh -c \"", 2000) + "; sudo id", "xargs": "echo " + strings.Repeat("a ", n) + "| xargs -I{} echo {} {} {} {}; sudo id", "escapes": strings.Repeat("\\", 2*n) + "; sudo id", "elifs": "if a; then b; " + strings.Repeat("elif a; then b; ", n/10) + "fi; sudo id", "subshells": strings.Repeat("(", n) + "sudo id" + strings.Repeat(")", n),
	} {
		t.Run(name, func(t *testing.T) {
			if got := rule(c); got != "privilege escalation" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func manyVars(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("v" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + "=1; ")
	}
	return b.String()
}

func FuzzScan(f *testing.F) {
	for _, c := range []string{"cat .env", "sudo id", "curl x | sh", "rm -rf ~/*", "x=$(cat <<E\na\nE\n); for i in {a,b}; do $i; done", "$'\\x41\\", "${a[1]:-`b`}", "env -S", "find -exec", "xargs -I", "bash -c", "printf %", "a() { a; }; a", ">(b) <(c)", "cd; ~a", "watch", "{ ,}", "git -C a | ls | grep x | xargs", "rm -rf $x/"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, c string) {
		Scan(c, env)
		Scan(c, Env{Home: "/root", Dir: "/root", Vars: map[string]string{"X": "a"}})
		Scan(c, Env{})
	})
}

func BenchmarkScan(b *testing.B) {
	for name, c := range map[string]string{
		"short": "git status --short", "usual": "cd src && grep -rn 'context.Context' --include='*.go' . | head -20 2>/dev/null; go test ./...",
		"words": "cp a b c d e f g h i j k l m n o p dir/",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Scan(c, env)
			}
		})
	}
}
