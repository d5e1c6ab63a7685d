package secret

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Values are also known by the name before them: NAME=value, name: value, "name": "value", <name>value</name>, --name value.
// The name must say secret, and the value must look like one: not a word, a placeholder, a path or an expression of code.
// The less the writing says that a value stands there, the more it must look random.

//go:embed words.txt
var wordsText string

var words = sync.OnceValue(func() map[string][]string {
	lists := map[string][]string{}
	for name, list := range entries(wordsText) {
		lists[name] = append(lists[name], strings.Fields(list)...)
	}
	return lists
})

func listed(list, word string) bool { return slices.Contains(words()[list], word) }

// Variable says whether an environment variable's name says that its value is a secret.
func Variable(name string) bool {
	label, _ := judgeName(name)
	return label != "" && label != "session" // XDG_SESSION_ID
}

// saysSecret is Variable for a file of secrets, where it takes less: a PIN, PWD_ADMIN.
func saysSecret(name string) bool {
	return Variable(name) || slices.ContainsFunc(splitName(name), func(w string) bool {
		return listed("password", w) || slices.Contains([]string{"secret", "token", "pin", "otp", "salt", "pw"}, w)
	})
}

// judgeName says as what a name's value is masked, "" if it does not say secret. Of a weak name the value must be random.
func judgeName(name string) (label string, weak bool) {
	word := splitName(name)
	for len(word) > 1 && (listed("neutral", word[len(word)-1]) || kindOf(word[len(word)-1][0]) == '0') {
		word = word[:len(word)-1]
	}
	if len(word) == 0 || name == "PWD" || name == "OLDPWD" { // the shell's
		return "", false
	}
	last, rest := word[len(word)-1], word[:len(word)-1]
	has := func(list string) bool {
		return slices.ContainsFunc(rest, func(w string) bool { return listed(list, w) })
	}
	switch {
	case listed("password", last), strings.HasSuffix(last, "password"), strings.HasSuffix(last, "passwd"):
		return "password", false
	case strings.HasSuffix(last, "secret"), last == "secrets" && len(rest) > 0:
		return "secret", false
	case strings.HasSuffix(last, "token"):
		return "token", false
	case last == "credential", last == "credentials", last == "creds", last == "authorization":
		return "credential", false
	case last == "auth":
		return "credential", true
	case last == "session", last == "sid", strings.HasSuffix(last, "sessid"), strings.HasSuffix(last, "sessionid"), last == "id" && len(rest) > 0 && rest[len(rest)-1] == "session":
		return "session", true
	case (last == "key" || last == "keys") && !has("harmless"):
		return "key", !has("strong")
	case strings.HasSuffix(last, "key") && listed("strong", strings.TrimSuffix(last, "key")):
		return "key", false
	}
	return "", false
}

// splitName takes a name apart at - _ . and where its case changes, in lower case.
func splitName(name string) []string {
	var b strings.Builder
	for i := range len(name) {
		if i > 0 && kindOf(name[i]) == 'A' && (kindOf(name[i-1]) != 'A' || i+1 < len(name) && kindOf(name[i+1]) == 'a') {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(r rune) bool { return r > 127 || kindOf(byte(r)) == 0 })
}

const maxName = 80

// nameByte says whether a byte may be part of a name.
func nameByte(c byte) bool { return kindOf(c) != 0 || c == '_' || c == '-' }

// assignment looks at the name around s[i] and at the value after it.
func assignment(s string, i int) (h hit, upTo int, ok bool) {
	a, b := i, i
	for a > 0 && i-a < maxName && (nameByte(s[a-1]) || s[a-1] == '.') {
		a--
	}
	for b < len(s) && b-i < maxName && nameByte(s[b]) {
		b++
	}
	if a > 0 && s[a-1] == '\\' && a < i { // the n of \nNAME
		a++
	}
	if b == len(s) || strings.IndexByte("\"'\\] \t=:>", s[b]) < 0 {
		return hit{}, b, false
	}
	label, weak := judgeName(s[a:b])
	if label == "" {
		return hit{}, b, false
	}
	start, end, how := valueAfter(s, a, b)
	if upTo = b; end-b > longRun {
		upTo = end
	}
	if end == 0 {
		return hit{}, upTo, false
	}
	if how == none || how == bare && strings.EqualFold(s[a:b], "pass") { // a test may pass
		return hit{}, upTo, false
	}
	return hit{a, start, end, label}, upTo, worthHiding(s[start:end], label, weak && !strings.Contains(s[max(0, a-longRun):a], "ookie: "), how)
}

// worthHiding says whether a value behind a name of this label is a secret.
func worthHiding(v, label string, weak bool, how way) bool {
	switch {
	case weak && (isHash(v) || v[0] == '/'):
		return false
	case weak:
		how = strict
	case how == clear && label == "password":
		how = anything
	case how == bare && label == "password" && strings.ContainsAny(v, "!@#$%^&*+~?") && strings.ContainsAny(v, "0123456789"):
		how = clear // no code has both
	}
	return rich(v, how) && !plain(v)
}

// Ways in which a value is written, from the clearest on.
type way uint8

const (
	anything way = iota // a password where nothing else can stand
	clear               // quoted, or NAME=value
	bare                // name: value, name = value: may be code
	strict              // nothing but its own looks says that it is a secret
	none                // not at all
)

// sets says whether a name's value is the next word, from what stands before it.
func sets(before string) bool {
	return strings.Contains(before, "login ") || slices.ContainsFunc([]string{"ENV ", "setx ", "setenv ", "set -x ", "set -gx ", "set -Ux ", "env add "}, func(c string) bool { return strings.HasSuffix(before, c) })
}

// itsValue stands between a name and its value where both are values: "name": "NAME", "value": "…".
var itsValue = regexp.MustCompile(`^[\\"']*[ \t]*,?[ \t]*[\\"']*[Vv]alue[\\"']*[ \t]*`)

// opening is what may stand between the sign behind a name and the value: blanks, a type, a quote, a scheme.
var opening = regexp.MustCompile("^([ \t]*)(?:\\w+ = )?(?:[A-Za-z]?([\\\\\"'`]{1,2}))?(?i:(?:bearer|basic|token|apikey|api-key|bot|digest) )?")

// valueAfter finds the value after the name s[a:b]. Its end is 0 if there is none.
func valueAfter(s string, a, b int) (start, end int, how way) {
	rest := s[b:min(len(s), b+maxName)]
	closed := strings.TrimLeft(rest, "\"'\\]")
	spaced := strings.TrimLeft(closed, " \t")
	value := strings.TrimLeft(spaced, "=:>")
	if strings.Contains(rest, "alue") {
		if n := len(itsValue.FindString(rest)); n > 0 {
			spaced = strings.TrimLeft(rest[n:], " \t")
			closed, value = spaced, strings.TrimLeft(spaced, "=:")
		}
	}
	sign := spaced[:len(spaced)-len(value)]
	if sign == "" && (closed != rest || spaced == closed || !strings.HasPrefix(s[a:], "--") && !sets(s[max(0, a-maxName):a])) {
		return 0, 0, none
	}
	m := opening.FindStringSubmatch(value)
	quote := m[2][max(0, len(m[2])-1):]
	xml := strings.HasPrefix(sign, ">")
	if xml && (a == 0 || s[a-1] != '<' && s[a-1] != '"') || quote != "" && closed == rest && a > 0 && s[a-1] == quote[0] { // "NAME=" and then code
		return 0, 0, none
	}
	how = clear
	if quote == "" && sign != "" && !xml && (len(spaced) < len(closed) || m[1] != "" || sign[0] == ':') {
		how = bare
	}
	stops := " \t\r\n\x1b" + quote
	if quote == "" && (how == bare || xml || !startsLine(s[:a])) {
		stops += "\"'`;,&<>()[]{}\\|"
	}
	start = b + len(rest) - len(value) + len(m[0])
	end = start + strings.IndexAny(s[start:], stops)
	if end < start {
		end = len(s)
	}
	if quote != "" && end > start && s[end-1] == '\\' {
		end--
	}
	switch {
	case end-start < minValue, s[start] == '{', xml && !strings.HasPrefix(s[end:], "</"), quote == "" && isCall(s, start, end):
		how = none
	}
	return start, end, how
}

// isCall says whether s[i:end], or that with what follows, calls a function or takes an element.
func isCall(s string, i, end int) bool {
	return end < len(s) && (s[end] == '(' || s[end] == '[') || strings.ContainsAny(s[i:end], "([") && strings.IndexByte(",;)]", s[end-1]) >= 0
}

// startsLine says whether nothing but "export", line numbers and diff marks stand before a name.
func startsLine(before string) bool {
	return len(before) < maxName && strings.Trim(strings.TrimSuffix(before, "export "), " \t0123456789:|+->#") == ""
}

// urlUser is a URL's user and password; a password with a slash must not begin as a port does.
var urlUser = regexp.MustCompile(`^[^/?#:@]*:([^/?#]{4,}|\d*[^\d/?#][^@]*)@`)

// urlPassword finds the password of a URL whose "://" stands at s[i].
func urlPassword(s string, i int) (h hit, upTo int, ok bool) {
	from := i + len("://")
	if i == 0 || kindOf(s[i-1]) == 0 {
		return hit{}, from, false
	}
	part := s[from:min(len(s), from+longRun)]
	if n := strings.IndexAny(part, " \t\r\n\"'`<>\\"); n >= 0 {
		part = part[:n]
	}
	m := urlUser.FindStringSubmatchIndex(part)
	if m == nil {
		if !strings.Contains(part, "@") {
			from += len(part)
		}
		return hit{}, from, false
	}
	user, pass := part[:m[2]-1], part[m[2]:m[3]]
	return hit{i, from + m[2], from + m[3], "password"}, from, len(pass) >= 4 && !plain(pass) && !strings.EqualFold(pass, user)
}

// login is a program that takes a password in an option, up to that.
var login = regexp.MustCompile(`^(?:curl\b[^|;]*?\s(?:-u|--(?:proxy-)?user[ =]) ?["']?[^\s:"'$]*:|sshpass\s+-p ?|mysql\w*\b[^|;]*?\s-p|docker login\b[^|;]*?\s-p |redis-cli\b[^|;]*?\s-a )["']?([^\s"']{4,})`)

// loginPassword finds the password of the login that begins at s[i].
func loginPassword(s string, i int) (h hit, upTo int, ok bool) {
	upTo = min(len(s), i+longRun)
	m := login.FindStringSubmatchIndex(s[i:upTo])
	if m == nil || !boundary(s, i) {
		return hit{}, upTo, false
	}
	v := s[i+m[2] : i+m[3]]
	return hit{i, i + m[2], i + m[3], "password"}, i + m[3], rich(v, anything) && !plain(v)
}

// plain says that a value is a placeholder, an expression or a word that is no secret.
func plain(v string) bool {
	low := strings.ToLower(v[:min(len(v), 200)])
	if low == "" || listed("placeholder", low) || low[0] == '%' && low[len(low)-1] == '%' || low[0] == '{' && low[len(low)-1] == '}' {
		return true
	}
	if slices.ContainsFunc(words()["part"], func(p string) bool { return strings.Contains(low, p) }) || codeName.MatchString(low) {
		return true
	}
	different := map[rune]bool{}
	for _, c := range low {
		different[c] = true
	}
	return len(different) < 5
}

// codeName is a name in code, such as $value or testPrivateKey2Password.
var codeName = regexp.MustCompile(`^\$\w*$|^[\w.]*(key|token|secret|password|credentials)$`)

// worthKnowing says whether a value may be looked for in all text: no word, flag, number or path.
func worthKnowing(v string) bool {
	v = strings.TrimSpace(v)
	if len(v) < minValue || listed("placeholder", strings.ToLower(v)) || strings.Trim(v, "xX*.-_ ") == "" {
		return false
	}
	path := v[0] == '/' || strings.HasPrefix(strings.TrimLeft(v, "~."), "/")
	return !path || slices.ContainsFunc(strings.Split(v, "/"), func(part string) bool { return len(part) >= 16 && changes(part) >= 4 })
}

// changes counts where the kind of letter changes within the words of v, a measure of how random it looks: a capital at the
// beginning of a word does not count, nor do the signs that join words.
func changes(v string) (n int) {
	prev := byte(0)
	for i := range len(v) {
		kind := kindOf(v[i])
		if kind == 0 && strings.IndexByte("-_./:= ,", v[i]) < 0 {
			kind = '%'
		}
		if prev != 0 && kind != 0 && kind != prev && !(prev == 'A' && kind == 'a') {
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
		parts := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_./:=,", r) })
		return n >= 4 || slices.ContainsFunc(parts, func(p string) bool { return len(p) >= 6 && changes(p) >= 2 })
	}
	return len(v) >= 16 && n >= 4 && n*7 >= len(v) && !camel(v)
}

// Two pairs of capitals, or three in a row, stand in no name that is written in camel case.
var letters, capitals = regexp.MustCompile(`^[A-Za-z_.]+$`), regexp.MustCompile(`[A-Z]{2}.*[A-Z]{2}|[A-Z]{3}`)

// camel says that v is made of letters as names in code are.
func camel(v string) bool { return letters.MatchString(v) && !capitals.MatchString(v) }

// isHash says that v has the form of a checksum or a UUID.
func isHash(v string) bool {
	hex := strings.ReplaceAll(v, "-", "")
	return strings.Trim(hex, "0123456789abcdefABCDEF") == "" && slices.Contains([]int{32, 40, 56, 64, 96, 128}, len(hex))
}
