package denial

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"anchor/internal/secret"
	"anchor/internal/shellread"
)

// Which words of a command name files is known for the programs that take something else: a pattern, a message, a name to
// show. With any other program every word may name a file.

// NamesOnly says that a command shows names, sizes, times or counts of the files it names (ls, du, wc), never what is in them.
func NamesOnly(words []string) bool {
	return len(words) > 0 && (showsNames(words[0]) || listed("find wc", words[0]) || words[0] == "git" && len(words) > 1 && gitShowsNames(gitArgs(words[1:])))
}

func showsNames(program string) bool { return is("names", program) || is("text", program) }

// gitArgs takes git's own options off.
func gitArgs(args []string) []string {
	return pastOptions(args, "-C -c --git-dir --work-tree --namespace --exec-path")
}

func gitShowsNames(args []string) bool {
	shows := func(a string) bool { return listed("-p -u --patch -c --cc -m show", a) || strings.HasPrefix(a, "-L") }
	return len(args) == 0 || is("git", args[0]) && !(listed("log stash", args[0]) && slices.ContainsFunc(args[1:], shows))
}

// operands judges the words of a command that may name files.
func (s *scan) operands(name string, args []string) {
	key := name
	if name == "git" {
		if args = gitArgs(args); gitShowsNames(args) {
			return
		}
		key, args = "git+"+args[0], args[1:]
	}
	if showsNames(name) || isFind(name) || len(args) > 0 && is("text", name+"+"+args[0]) {
		return
	}
	for _, a := range args {
		if is("keys", name+"+"+a) {
			s.deny("secret file", name+" "+show(a)+" gives away what is in a keychain"+byHand)
		}
		files := awkFile
		if strings.HasSuffix(name, "sed") {
			files = sedFile
		}
		for _, m := range files.FindAllStringSubmatch(a, -1) {
			s.named(m[1])
		}
	}
	text, options := is("pattern", key), fact("takes", key)
	if text {
		options = cmp.Or(options, fact("takes", "pattern"))
		for _, v := range optionTexts(args, "--include", "-g", "--glob", "--iglob") { // the files to search
			if !strings.HasPrefix(v, "!") {
				s.named(v)
			}
		}
	} else {
		options += " " + fact("takes", "any")
	}
	for o := range strings.FieldsSeq("-f --file --files -e --regexp --expression") { // these give the pattern
		if _, given := optionText(args, o); given && (o != "-e" || listed(options, o)) {
			text = false
		}
	}
	ended := false
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case !ended && a == "--":
			ended = true
		case !ended && len(a) > 1 && a[0] == '-' && listed(options, a):
			i++
		case !ended && len(a) > 1 && a[0] == '-':
			s.option(a, options)
		case text:
			text = false
		default:
			s.operand(name, a)
		}
	}
}

// Files that a script of sed or awk reads or writes.
var (
	sedFile = regexp.MustCompile(`(?:^|[;{}\n$\d]|^/[^/]*/) *[rRwW] *([^\s;}]+)`)
	awkFile = regexp.MustCompile(`getline[^<;]*< *"([^"]+)"`)
)

// option judges the value that is attached to an option: --file=x, -ox.
func (s *scan) option(a, texts string) {
	if k, v, ok := strings.Cut(a, "="); ok && !listed(texts, k) {
		s.operand("", v)
	} else if !ok && !strings.HasPrefix(a, "--") && len(a) > 3 && !listed(texts, a[:2]) {
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

// secretPath judges a word that names a file: by its name here, and by what it is on disk later.
func (s *scan) secretPath(word string) {
	if word == "" || word == "-" || word == "/dev/null" || len(word) > maxText {
		return
	}
	if !strings.ContainsAny(word, " \t\n") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") {
		s.named(word)
	}
	s.note(&s.Suspects, word)
}

// noted is a word in one of the lists of Found.
type noted struct {
	list *[]shellread.Path
	path shellread.Path
}

// note keeps what a word names in each of the places where the shell may be, to be looked up on disk.
func (s *scan) note(list *[]shellread.Path, word string) {
	for _, cwd := range s.cwds() {
		p := shellread.Path{Text: word, Glob: strings.ContainsAny(word, "*?[")}
		if cwd.Str != s.env.Dir && !path.IsAbs(word) {
			p.Text = cwd.Str + "/" + word
		}
		if (p.Text == word || path.IsAbs(cwd.Str)) && len(p.Text) <= maxText && !strings.ContainsAny(word, unknown+network) && !s.seen[noted{list, p}] {
			s.seen[noted{list, p}] = true
			*list = append(*list, p)
		}
	}
}

// named denies a word that names a secret file in any of the places where the shell may be.
func (s *scan) named(word string) {
	kind, yes := means(word)
	for _, cwd := range s.cwds() {
		if p := resolve(cwd.Str, word); !yes && p != "" && cwd.Str != s.env.Dir {
			kind, yes = means(p)
		}
	}
	if yes {
		s.deny("secret file", show(word)+" is a secret file ("+kind+") and is never read or written here; a person may use it in a terminal of their own.")
	}
}

// sets are bracket expressions of a pattern.
var sets = regexp.MustCompile(`\[[!^]?([^]])[^]]*\]`)

// means says whether a word can only mean a secret: with unknown parts, whatever may stand for them; a pattern also if it
// is a secret's name with something added.
func means(word string) (kind string, yes bool) {
	if !strings.ContainsAny(word, wild) {
		return secret.File(word)
	}
	word = sets.ReplaceAllString(strings.ReplaceAll(word, unset, unknown), "$1")
	for _, filler := range []string{"x", "ca", "public"} {
		if kind, yes = secret.File(strings.NewReplacer(unknown, filler, network, filler, "*", filler, "?", "x").Replace(word)); !yes {
			break
		}
	}
	if base := path.Base(word); !yes && strings.Trim(base, wild) != "" && !strings.ContainsAny(base[:1], wild) {
		kind, yes = secret.File(strings.NewReplacer(unknown, "", network, "", "*", "", "?", "").Replace(word))
	}
	return kind, yes
}
