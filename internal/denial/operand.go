package denial

import (
	"path"
	"strings"

	"anchor/internal/secret"
	"anchor/internal/shellread"
)

// Which words of a command name files is known for the programs that take something else: a pattern, a message, a name to
// show. With any other program every word may name a file.

var (
	// Their words are text, or they show or change names and modes only.
	textOnly  = set("echo printf true false : test [ exit return shift kill sleep type which command alias unalias basename dirname seq expr let date logger man info help hash set unset export local declare readonly make gmake rm rmdir unlink touch mkdir chmod chown chgrp chattr setfacl cd pushd popd apt apt-get brew dnf yum pacman apk say notify-send wait jobs fg bg history read mapfile readarray trap umask ulimit uname whoami id groups hostname tr nproc sysctl dig nslookup host ping cal bc pgrep pkill killall")
	namesOnly = set("ls ll exa eza lsd dir vdir du stat tree realpath readlink file fd locate dust lsattr getfacl namei")
	// Their first word that is no option is text.
	patternFirst = set("grep egrep fgrep rg ag ack zgrep bzgrep xzgrep ugrep pcregrep sed gsed awk gawk mawk nawk jq yq gojq jaq xq perl rename sd comby ast-grep sg semgrep")
	// Options whose value is a message, a title or the like, with any program. Short ones mean different things, so they stand
	// with their program below.
	textOptions = "--message --title --body --subject --description --comment --grep --author --committer --format --pretty --label --name -name -iname -path -ipath -wholename -regex -iregex --header --user-agent --request --user --since --until --date -run --run -bench -tags --trailer --notes --branch --query --exclude --exclude-dir --exclude-from --ignore --ignore-pattern --skip"
	// Subcommands of git that show or change no content of the files they name.
	gitNames = set("status ls-files ls-tree check-ignore check-attr config rm branch tag remote fetch push pull clone init log rev-list rev-parse shortlog stash checkout-index clean reflog symbolic-ref merge rebase switch worktree update-index describe for-each-ref count-objects")
)

// The options of single programs whose value is text too; those of programs with a pattern stand alone.
var patternOptions = map[string]string{
	"":    "-e --regexp -A -B -C -m --max-count --context --include --exclude --exclude-dir -g --glob --iglob --color --colour -d -D",
	"rg":  "-e --regexp -A -B -C -m --max-count --context -g --glob --iglob --color --colour -t -T --type --type-not -r --replace -j -M --sort",
	"sed": "-e --expression -l", "gsed": "-e --expression -l", "awk": "-F -v -e", "gawk": "-F -v -e", "mawk": "-F -v", "nawk": "-F -v",
	"git": "-S -G", "git commit": "-m -am", "hg": "-m", "svn": "-m", "gh": "-t -b -m -n -l -H -B -q", "glab": "-t -d -m -l", "curl": "-H -A -X -u -e -w -m -r -U", "wget": "-U", "docker": "-e -u -l -t -w -h", "podman": "-e -u -l -t -w -h",
	"zip": "-x --exclude", "tree": "-I -P",
	"jq": "--arg --argjson --indent", "yq": "-I --indent -o -p", "perl": "-e -E",
}

// NamesOnly says that a command shows names, sizes, times or counts of the files it names (ls, du, wc), never what is in them.
func NamesOnly(words []string) bool {
	return len(words) > 0 && (namesOnly[words[0]] || textOnly[words[0]] || listed("find wc", words[0]) || words[0] == "git" && len(words) > 1 && gitShowsNames(words[1:]))
}

// operands judges the words of a command that may name files.
func (s *scan) operands(name string, argv []string) {
	args := argv[1:]
	if textOnly[name] || namesOnly[name] {
		return
	}
	switch name {
	case "npm", "pnpm", "yarn":
		if len(args) > 0 && args[0] == "config" {
			return
		}
	case "find", "gfind":
		s.findSecrets(args)
		return
	case "git":
		if args = gitArgs(args); gitShowsNames(args) {
			return
		}
		if args[0] == "grep" { // no arguments show names only
			name, args = "grep", args[1:]
		} else if args[0] == "commit" {
			name = "git commit"
		}
	}
	text := patternFirst[name]
	options, known := patternOptions[name]
	switch {
	case !text:
		options += " " + textOptions
	case !known:
		options = patternOptions[""]
	}
	if text {
		for _, o := range []string{"-e", "--regexp", "--expression", "-f", "--file", "--from-file", "--files"} {
			if _, given := optionText(args, o); given && (o[len(o)-1] != 'e' || listed(options, o) || o == "--file") {
				text = false
			}
		}
	}
	ended := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--" && !ended:
			ended = true
		case !ended && strings.HasPrefix(a, "-") && len(a) > 1:
			k, v, attached := strings.Cut(a, "=")
			if !attached && i+1 < len(args) {
				v = args[i+1]
			}
			if patternFirst[name] {
				s.onlyFiles(k, v)
			}
			if listed(options, a) {
				i++
			} else {
				s.option(a, options)
			}
		case text:
			text = false
		default:
			s.operand(name, a)
		}
	}
}

// onlyFiles judges the pattern of an option that says which files to search.
func (s *scan) onlyFiles(option, pattern string) {
	if listed("--include -g --glob --iglob", option) && !strings.HasPrefix(pattern, "!") {
		s.named(wildcards.Replace(pattern))
	}
}

var wildcards = strings.NewReplacer("*", star, "?", one)

// gitArgs takes git's own options off.
func gitArgs(args []string) []string {
	return pastOptions(args, "-C -c --git-dir --work-tree --namespace --exec-path")
}

func gitShowsNames(args []string) bool {
	args = gitArgs(args)
	if len(args) == 0 {
		return true
	}
	if args[0] == "log" || args[0] == "stash" {
		for _, a := range args[1:] {
			if listed("-p -u --patch -c --cc -m show", a) || strings.HasPrefix(a, "-L") {
				return false
			}
		}
	}
	return gitNames[args[0]]
}

// option judges the value that is attached to an option: --file=x, -ox.
func (s *scan) option(a, texts string) {
	if k, v, ok := strings.Cut(a, "="); ok {
		if !listed(texts, k) {
			s.secretPath(strings.TrimPrefix(v, "@"))
			_, v, _ = strings.Cut(v, "=")
			s.secretPath(strings.TrimPrefix(v, "@"))
		}
		return
	}
	if !strings.HasPrefix(a, "--") && len(a) > 3 && !listed(texts, a[:2]) {
		s.named(strings.TrimPrefix(a[2:], "@"))
	}
}

// operand judges a word in all the ways that programs read it: a path, @path, key=path, rev:path.
func (s *scan) operand(name, a string) {
	if scheme, rest, ok := strings.Cut(a, "://"); ok {
		if scheme == "file" {
			s.secretPath(rest)
		}
		return
	}
	if strings.HasPrefix(a, ":!") || strings.HasPrefix(a, ":^") || strings.HasPrefix(a, ":(exclude") { // git's way to leave out
		return
	}
	s.secretPath(strings.TrimPrefix(a, "@"))
	if _, v, ok := strings.Cut(a, "="); ok {
		v, _, _ = strings.Cut(v, ";")
		s.secretPath(strings.TrimPrefix(v, "@"))
	}
	if listed("git scp rsync docker podman nerdctl kubectl rclone", name) {
		for part := range strings.SplitSeq(a, ":") {
			s.secretPath(part)
		}
	}
}

// findSecrets denies a find that hands secret files to a program that reads them.
func (s *scan) findSecrets(args []string) {
	reads := false
	for i, a := range args {
		if listed("-exec -execdir -ok -okdir", a) && i+1 < len(args) {
			reads = reads || !textOnly[path.Base(args[i+1])] && !namesOnly[path.Base(args[i+1])]
		}
	}
	if !reads {
		return
	}
	for i, a := range args {
		if i > 0 && listed("-name -iname -path -ipath -wholename", args[i-1]) && (i < 2 || !listed("! -not", args[i-2])) {
			s.named(wildcards.Replace(a))
		} else if !strings.HasPrefix(a, "-") && i == 0 {
			s.named(a)
		}
	}
}

// secretPath judges a word that names a file: by its name here, and by what it is on disk later.
func (s *scan) secretPath(word string) {
	key := word + "\x00" + s.cwd()
	if f := s.seen[key]; f && len(s.cwds) == 1 {
		return
	}
	s.seen[key] = true
	if word == "" || word == "-" || len(word) > 4096 || word == "/dev/null" {
		return
	}
	if !strings.ContainsAny(word, " \t\n") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") {
		s.named(word)
	}
	if strings.ContainsAny(word, unknown+network) {
		return
	}
	for _, cwd := range s.cwds {
		text := word
		if cwd != s.env.Dir {
			if text = resolve(cwd, word); text == "" {
				continue
			}
		}
		glob := strings.ContainsAny(word, star+one)
		if glob {
			text = plain(strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(text))
		}
		if !s.seen[text] {
			s.seen[text] = true
			s.suspects = append(s.suspects, shellread.Path{Text: text, Glob: glob})
		}
	}
}

// named denies a word that names a secret file in any of the places where the shell may be.
func (s *scan) named(word string) {
	kind, yes := means(word)
	for i := 0; i < len(s.cwds) && !yes; i++ {
		if p := resolve(s.cwds[i], word); p != "" && s.cwds[i] != s.env.Dir {
			kind, yes = means(p)
		}
	}
	if yes {
		s.deny("secret file", show(word)+" is a secret file ("+kind+") and is never read or written here; a person may use it in a terminal of their own.")
	}
}

// means says whether a word can only mean a secret: with unknown parts, whatever may stand for them; a pattern also if it
// is a secret's name with something added.
func means(word string) (kind string, yes bool) {
	if !strings.ContainsAny(word, wild) {
		return secret.File(word)
	}
	for _, filler := range []string{"x", "ca", "public"} {
		fill := strings.NewReplacer(unknown, filler, network, filler, star, filler, one, "x")
		if kind, yes = secret.File(fill.Replace(word)); !yes {
			break
		}
	}
	if base := path.Base(word); !yes && strings.Trim(base, wild) != "" && !strings.ContainsAny(base[:1], wild) {
		kind, yes = secret.File(strings.NewReplacer(unknown, "", network, "", star, "", one, "").Replace(word))
	}
	return kind, yes
}
