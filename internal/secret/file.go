package secret

import (
	_ "embed"
	"iter"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// A path is judged by its name alone, in lower case, since on some disks .ENV and .env are one file. A directory of secrets
// makes everything below it secret, itself included. A backup (id_rsa.bak) counts as the file it copies; a template
// (.env.example), a public key and a certificate do not count.

//go:embed files.txt
var filesText string

// entries goes through a table: lines of "head: items", with # for comments.
func entries(text string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(text) {
			head, items, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if ok && line[0] != '#' && !yield(head, items) {
				return
			}
		}
	}
}

// names is files.txt taken apart.
type names struct {
	exact map[string]string     // kinds by name, dir/name or *.ext
	dirs  map[string][]fileName // by their first component
	forms []fileName
}

type fileName struct {
	kind, dir string
	form      *regexp.Regexp
}

var fileNames = sync.OnceValue(func() *names {
	n := &names{exact: map[string]string{}, dirs: map[string][]fileName{}}
	for kind, items := range entries(filesText) {
		for item := range strings.SplitSeq(items, ", ") {
			if item[0] == '~' {
				n.forms = append(n.forms, fileName{kind: kind, form: regexp.MustCompile(item[1:])})
			} else if strings.HasSuffix(item, "/") {
				first, _, _ := strings.Cut(strings.TrimPrefix(item, "/"), "/")
				n.dirs[first] = append(n.dirs[first], fileName{kind: kind, dir: item})
			} else {
				n.exact[item] = kind
			}
		}
	}
	return n
})

var (
	// An environment file's template may say so at either end: sample.env, .env-example.
	template = regexp.MustCompile(`^(example|sample|template|dist|default)[-_.]|[-_](example|sample|template|tmpl|tpl|dist|default)s?$`)
	// A .pem or .key is public if it says so; a .pem also if it says certificate and not key.
	publicKey   = regexp.MustCompile(`(^|[-_. ])(public|pub|pubkey)[-_. ](.*[-_. ])?(pem|key)$`)
	certificate = regexp.MustCompile(`(^|[-_. ])((ca|)certs?|certificate|(full|)chain|ca|bundle|csr|crl|dhparams?|root|intermediate)[-_. ](.*[-_. ])?pem$`)
	saysKey     = regexp.MustCompile(`(^|[-_. ])(key|privkey|private|priv|secret)[-_. ]`)
)

// File says whether a path (absolute or relative, slashes) names a secret or credential file, and of what kind
// ("private key", "environment file", …) for the message. Public keys, certificates and .env.example are none.
func File(p string) (kind string, secret bool) {
	p, _, _ = strings.Cut(p, "\x00") // the system ends a name there
	dir, base := path.Split("/" + strings.TrimPrefix(path.Clean(strings.Map(fold, p)), "/"))
	base = strings.Trim(base, "#")
	for range 2 { // a backup may be of a backup
		for _, s := range []string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".copy", ".swp", ".swo"} {
			base = strings.TrimSuffix(base, s)
		}
	}
	kind = fileNames().kind(dir, base)
	switch kind {
	case "public", "source":
		return "", false
	case "environment file":
		return kind, !template.MatchString(base)
	case "private key":
		return kind, !publicKey.MatchString(base) && (!certificate.MatchString(base) || saysKey.MatchString(base))
	}
	return kind, kind != ""
}

// fold makes names alike that case-insensitive disks hold for one: case, and signs without width.
func fold(r rune) rune {
	switch {
	case r == 'ſ':
		return 's'
	case r > 127 && unicode.Is(unicode.Cf, r):
		return -1
	}
	return unicode.ToLower(r)
}

// kind judges a file by its directory, which begins and ends with a slash, and its own name.
func (n *names) kind(dir, base string) string {
	kind := n.exact["*"+path.Ext(base)]
	inside := dir + base + "/"
	for i := len(dir) - 1; i >= 0 && kind != "public"; i = strings.LastIndexByte(dir[:i], '/') {
		if k := n.exact[inside[i+1:len(inside)-1]]; k != "" {
			kind = k
		}
	}
	if kind == "public" {
		return kind
	}
	for i := 0; i < len(inside)-1; i += 1 + strings.IndexByte(inside[i+1:], '/') {
		first, _, _ := strings.Cut(inside[i+1:], "/")
		for _, d := range n.dirs[first] {
			if strings.HasPrefix(inside[i+1:], d.dir) || i == 0 && strings.HasPrefix(inside, d.dir) {
				return d.kind
			}
		}
	}
	if strings.HasPrefix(dir, "/proc/") && (base == "environ" || base == "mem" || base == "kcore") {
		return "process memory"
	}
	for i := 0; i < len(n.forms) && kind == ""; i++ {
		if n.forms[i].form.MatchString(base) {
			kind = n.forms[i].kind
		}
	}
	return kind
}
