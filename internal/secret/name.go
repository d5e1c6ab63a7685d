package secret

import (
	"slices"
	"strings"
)

// Values are also known by the name before them: NAME=value, name: value, "name": "value", <name>value</name>, --name value.
// The name must say secret, and the value must look like one: not a word, a placeholder, a path or an expression of code.
// The less the writing says that a value stands there, the more it must look random.

// Words that open the closer look at a name. At least three letters each.
var nameWordsSeen = []string{"pass", "pwd", "secret", "token", "key", "auth", "cred"}

var nameLabels = []string{"password", "secret", "token", "key", "credential", "bearer token"}

// Variable says whether an environment variable's name says that its value is a secret.
func Variable(name string) bool {
	label, _ := judgeName(name)
	return label != ""
}

var (
	// Endings that say nothing about what is named.
	neutral = []string{"value", "val", "base", "raw", "str", "string", "text", "plain", "env", "dev", "prod", "test", "staging", "live", "default", "current", "old", "new", "b64", "base64", "main", "primary", "secondary", "production", "development"}
	// Words with which a key is no secret.
	harmlessKey = []string{"public", "pub", "publishable", "primary", "foreign", "cache", "sort", "partition", "hash", "map", "object", "index", "routing", "group", "dedup", "idempotency", "row", "column", "lookup", "query", "registry",
		"hot", "short", "translation", "message", "i18n", "field", "header", "label", "node", "item", "menu", "react", "unique", "composite", "config", "setting", "host", "order", "metric", "tag", "theme", "state", "event", "data", "json", "dict", "restore", "save", "websocket"}
	passwords = []string{"password", "passwd", "passphrase", "passwort", "pwd", "pass", "userpass", "dbpass", "keypass", "storepass"}
	strongKey = []string{"api", "secret", "access", "private", "auth", "account", "encryption", "signing", "master", "shared", "service", "client", "deploy", "license", "storage", "admin", "root", "session", "webhook", "hmac", "jwt", "app", "rsa", "ssh"}
)

// judgeName says as what a name's value is masked, "" if it does not say secret. Of a weak name the value must be random.
func judgeName(name string) (label string, weak bool) {
	if name == "PWD" || name == "OLDPWD" { // the shell's
		return "", false
	}
	words := splitName(name)
	for len(words) > 1 && (slices.Contains(neutral, words[len(words)-1]) || is(words[len(words)-1][0], digitSet)) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return "", false
	}
	last, rest := words[len(words)-1], words[:len(words)-1]
	switch {
	case slices.Contains(passwords, last), strings.HasSuffix(last, "password"), strings.HasSuffix(last, "passwd"):
		return "password", false
	case last == "secret" || strings.HasSuffix(last, "secret") || last == "secrets" && len(rest) > 0:
		return "secret", false
	case last == "token" || strings.HasSuffix(last, "token"):
		return "token", false
	case slices.Contains([]string{"credential", "credentials", "creds", "authorization"}, last):
		return "credential", false
	case last == "auth":
		return "credential", true
	case last == "key" || last == "keys":
		if slices.ContainsFunc(rest, func(w string) bool { return slices.Contains(harmlessKey, w) }) {
			return "", false
		}
		return "key", !slices.ContainsFunc(rest, func(w string) bool { return slices.Contains(strongKey, w) })
	case strings.HasSuffix(last, "key") && slices.Contains(strongKey, strings.TrimSuffix(last, "key")):
		return "key", false
	}
	return "", false
}

// splitName takes a name apart at - _ . and where its case changes, in lower case.
func splitName(name string) []string {
	var words []string
	start := 0
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
		start = end
	}
	for i := 0; i < len(name); i++ {
		switch {
		case !is(name[i], alnumSet):
			cut(i)
			start = i + 1
		case i > start && is(name[i], upperSet) && (is(name[i-1], lowerSet|digitSet) || i+1 < len(name) && is(name[i-1], upperSet) && is(name[i+1], lowerSet)):
			cut(i)
		}
	}
	cut(len(name))
	return words
}

const maxName = 80

// assignment looks at the name around s[i] and at the value after it. seen is the end of the name.
func (t *table) assignment(s string, i int) (h hit, seen int, ok bool) {
	a, b := i, i
	for a > 0 && i-a < maxName && is(s[a-1], urlSet|dotSet) {
		a--
	}
	for b < len(s) && b-i < maxName && is(s[b], urlSet) {
		b++
	}
	if a > 0 && s[a-1] == '\\' && a < i { // the n of \nNAME
		a++
	}
	label, weak := judgeName(s[a:b])
	if label == "" {
		return hit{}, b, false
	}
	v, how := valueAfter(s, a, b)
	if v.end == 0 {
		return hit{}, b, false
	}
	text := s[v.start:v.end]
	if len(text) > longRun {
		b = v.end
	}
	switch {
	case how == bare && strings.EqualFold(s[a:b], "pass"): // a test that passed
		return hit{}, b, false
	case weak && (isHash(text) || text[0] == '/'):
		return hit{}, b, false
	case weak:
		how = strict
	case how == clear && label == "password":
		how = anything
	}
	if !rich(text, how) || plain(text) {
		return hit{}, b, false
	}
	for k := range shapes { // the token's own name says more
		p := &shapes[k]
		if strings.HasPrefix(text, p.prefix) {
			if x, y, ok := p.match(s, v.start); ok && x == v.start && y >= v.end {
				return hit{a, x, y, p.label}, b, true
			}
		}
	}
	v.from, v.label = a, label
	return v, b, true
}

// Ways in which a value is written, from the clearest on.
type way uint8

const (
	anything way = iota // a password where nothing else can stand
	clear               // quoted, or NAME=value
	bare                // name: value, name = value: may be code
	strict              // nothing but its own looks says that it is a secret
)

// valueAfter finds the value after the name s[a:b]. Its end is 0 if there is none.
func valueAfter(s string, a, b int) (v hit, how way) {
	i := b
	for i < len(s) && i-b < 4 && strings.IndexByte(`"'\]`, s[i]) >= 0 {
		i++
	}
	sep := i
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	eq := i
	for i < len(s) && i-eq < 3 && strings.IndexByte("=:>", s[i]) >= 0 {
		i++
	}
	how = clear
	xml := i > eq && s[eq] == '>'
	switch {
	case xml && (a == 0 || s[a-1] != '<'):
		return hit{}, how
	case i == eq && (i == sep || sep != b || !strings.HasPrefix(s[a:], "--") && !strings.Contains(s[max(0, a-maxName):a], "login ")):
		return hit{}, how
	case i > eq && !xml && (eq > sep || s[eq] == ':'):
		how = bare
	}
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		how, i = max(how, bare), i+1
	}
	if i == eq { // --name value
		how = clear
	} else if k := run(s, i, wordSet); s[eq] == ':' && k > i && strings.HasPrefix(s[k:], " = ") { // name: type = value
		i = k + len(" = ")
	}
	if i+1 < len(s) && is(s[i], alnumSet) && (s[i+1] == '"' || s[i+1] == '\'') { // f"…"
		i++
	}
	start := i
	for i < len(s) && i-start < 2 && strings.IndexByte("\\\"'`", s[i]) >= 0 {
		i++
	}
	quote := byte(0)
	if i > start {
		quote, how = s[i-1], clear
		if sep == b && a > 0 && s[a-1] == quote { // "NAME=" and then code
			return hit{}, how
		}
	}
	i = skipScheme(s, i)
	line := quote == 0 && how == clear && !xml && startsLine(s[:a])
	end := valueEnd(s, i, quote, line)
	if end-i < minValue || s[i] == '{' || xml && !strings.HasPrefix(s[end:], "</") || quote == 0 && isCall(s, i, end) {
		return hit{}, how
	}
	return hit{start: i, end: end}, how
}

// isCall says whether s[i:end], or that with what follows, calls a function or takes an element.
func isCall(s string, i, end int) bool {
	return end < len(s) && (s[end] == '(' || s[end] == '[') || strings.ContainsAny(s[i:end], "([") && strings.IndexByte(",;)]", s[end-1]) >= 0
}

// startsLine says whether nothing but "export", line numbers and diff marks stand before a name.
func startsLine(before string) bool {
	return len(before) < maxName && strings.Trim(strings.TrimSuffix(before, "export "), " \t0123456789:|+->#") == ""
}

// valueEnd returns where a value ends: at its quote, at white space, and without a quote at what ends a word in most writings.
func valueEnd(s string, i int, quote byte, line bool) int {
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0x1b || quote != 0 && c == quote:
			return i
		case quote == 0 && !line && strings.IndexByte("\"'`;,&<>()[]{}\\|", c) >= 0:
			return i
		case quote != 0 && c == '\\' && i+1 < len(s) && s[i+1] == quote:
			return i
		}
	}
	return i
}

func skipScheme(s string, i int) int {
	for _, scheme := range []string{"bearer ", "basic ", "token ", "apikey ", "api-key ", "bot ", "digest "} {
		if len(s)-i > len(scheme) && strings.EqualFold(s[i:i+len(scheme)], scheme) {
			return i + len(scheme)
		}
	}
	return i
}

// urlPassword finds the password of a URL whose "://" stands at s[i]. end is set also if there is none: how far it looked.
func urlPassword(s string, i int) (start, end int, ok bool) {
	if !strings.HasPrefix(s[i:], "://") || i == 0 || !is(s[i-1], alnumSet) {
		return 0, 0, false
	}
	from := i + 3
	host := from // the end of what may hold user and password
	for host < len(s) && host-from < 512 && s[host] > ' ' && strings.IndexByte("\"'`<>\\", s[host]) < 0 {
		host++
	}
	part := s[from:host]
	if !strings.Contains(part, "@") {
		return 0, host, false
	}
	if slash := strings.IndexAny(part, "/?#"); slash >= 0 {
		colon := strings.IndexByte(part, ':')
		odd := colon >= 0 && colon < slash && run(part, colon+1, digitSet) < slash // a password with a slash, no port
		if at := strings.IndexByte(part, '@'); at > slash && !odd {
			return 0, 0, false
		} else if at < slash {
			part = part[:slash]
		}
	}
	at, colon := strings.LastIndexByte(part, '@'), strings.IndexByte(part, ':')
	if colon < 0 || colon >= at {
		return 0, 0, false
	}
	pass := part[colon+1 : at]
	if pass == "x-oauth-basic" {
		return from, from + colon, colon >= minValue && !plain(part[:colon])
	}
	return from + colon + 1, from + at, len(pass) >= 4 && !plain(pass) && !strings.EqualFold(pass, part[:colon])
}

// Words of documentation that stand where a secret would.
var (
	placeholderParts = []string{"example", "your", "xxxxx", "changeme", "change-me", "change_me", "placeholder", "redacted", "insert", "replace", "dummy", "...", "…", "***", "<", "${", "{{", "%(", "$(", "process.env", "os.environ", "getenv", "urn:", "(?", "[^", `\w`, `\d`}
	passwordLike     = []string{"key", "token", "secret", "password", "credentials"}
	placeholders     = []string{"password", "passwd", "passw0rd", "secret", "mysecret", "supersecret", "mysecretpassword", "mypassword", "token", "postgres", "root", "admin", "user", "guest", "test", "testing", "pass", "none", "null", "undefined", "true", "false",
		"disabled", "enabled", "required", "optional", "localhost", "development", "production", "staging", "anonymous", "password123", "default", "string", "username", "unset", "foobar"}
)

// plain says that a value is a placeholder, an expression or a word that is no secret.
func plain(v string) bool {
	low := strings.ToLower(v[:min(len(v), 200)])
	if slices.Contains(placeholders, low) || low == "" || low[0] == '$' && run(low, 1, wordSet) == len(low) || low[0] == '%' && low[len(low)-1] == '%' {
		return true
	}
	if slices.ContainsFunc(placeholderParts, func(p string) bool { return strings.Contains(low, p) }) {
		return true
	}
	if run(low, 0, wordSet|dotSet) == len(low) && slices.ContainsFunc(passwordLike, func(w string) bool { return strings.HasSuffix(low, w) }) {
		return true // a name in code, such as testPrivateKey2Password
	}
	var seen [256]bool
	n := 0
	for i := 0; i < len(low) && n < 5; i++ {
		if !seen[low[i]] {
			seen[low[i]] = true
			n++
		}
	}
	return n < 5
}

// worthKnowing says whether a value may be looked for in all text: no word, flag, number or path.
func worthKnowing(v string) bool {
	v = strings.TrimSpace(v)
	if len(v) < minValue || slices.Contains(placeholders, strings.ToLower(v)) || strings.Trim(v, "xX*.-_ ") == "" {
		return false
	}
	path := hasAny(v, "/", "~/", "./", "../")
	return !path || slices.ContainsFunc(strings.Split(v, "/"), func(part string) bool { return len(part) >= 16 && changes(part) >= 4 })
}

// changes counts where the kind of letter changes within the words of v, a measure of how random it looks: a capital at the
// beginning of a word does not count, nor do the signs that join words.
func changes(v string) (n int) {
	prev := uint16(0)
	for i := range len(v) {
		kind := class[v[i]] & alnumSet
		if kind == 0 {
			kind = pctSet
			if strings.IndexByte("-_./:= ,", v[i]) >= 0 {
				kind = 0
			}
		}
		if prev != 0 && kind != 0 && kind != prev && !(prev == upperSet && kind == lowerSet) {
			n++
		}
		prev = kind
	}
	return n
}

// rich says whether a value has the variety of a secret, the more the less clear it is that it is one.
func rich(v string, how way) bool {
	n := changes(v)
	switch how {
	case anything:
		return n >= 1
	case clear:
		if n < 2 || !strings.ContainsAny(v, "0123456789!@#$%^&*+~?") && (len(v) < 20 || n < 4 || camel(v)) {
			return false
		}
		return n >= 4 || slices.ContainsFunc(nameParts(v), func(p string) bool { return len(p) >= 6 && changes(p) >= 2 })
	}
	return len(v) >= 16 && n >= 4 && n*7 >= len(v) && !camel(v)
}

func nameParts(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_./:=,", r) })
}

// camel says that v is made of letters as names in code are: no two capitals in a row.
func camel(v string) bool {
	caps := 0
	for i := range len(v) {
		if is(v[i], digitSet) || !is(v[i], wordSet|dotSet) {
			return false
		}
		if i > 0 && is(v[i], upperSet) && is(v[i-1], upperSet) {
			caps++
		}
	}
	return caps < 2
}

// isHash says that v has the form of a checksum or a UUID.
func isHash(v string) bool {
	hex := strings.ReplaceAll(v, "-", "")
	return run(strings.ToLower(hex), 0, hexSet) == len(hex) && slices.Contains([]int{32, 40, 56, 64, 96, 128}, len(hex))
}
