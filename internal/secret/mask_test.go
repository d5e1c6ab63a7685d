package secret

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// parts is a string that may be stored in pieces, so that scanners of this repository find no token in it.
type parts string

func (p *parts) UnmarshalJSON(data []byte) error {
	var list []string
	if data[0] != '[' {
		list = []string{""}
		if err := json.Unmarshal(data, &list[0]); err != nil {
			return err
		}
	} else if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*p = parts(strings.Join(list, ""))
	return nil
}

type row struct {
	ID     string
	Text   parts
	Secret parts
	Keep   parts
	Mask   bool
	Kind   string
	Soft   bool
	Env    map[string]parts
}

func corpus(t testing.TB) []row {
	var rows []row
	files, _ := filepath.Glob("testdata/*.jsonl")
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			var r row
			if err := json.Unmarshal(in.Bytes(), &r); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			rows = append(rows, r)
		}
	}
	if len(rows) < 150 {
		t.Fatalf("only %d rows", len(rows))
	}
	return rows
}

func (r row) masker() *Masker {
	m := NewMasker()
	for k, v := range r.Env {
		m.AddEnv([]string{k + "=" + string(v)})
	}
	return m
}

// fault says what is wrong with a masked text.
func (r row) fault(shown string) string {
	for line := range strings.Lines(string(r.Secret)) {
		if line = strings.TrimSpace(line); line == "" || r.Mask && len(line) < 8 {
			continue
		}
		if seen := strings.Contains(shown, line); seen == r.Mask {
			return map[bool]string{true: "shown", false: "masked"}[seen]
		}
	}
	for line := range strings.Lines(string(r.Keep)) {
		if !strings.Contains(shown, strings.TrimSpace(line)) {
			return "too much masked"
		}
	}
	return ""
}

func TestCorpus(t *testing.T) {
	soft := 0
	for _, r := range corpus(t) {
		m := r.masker()
		var numbered strings.Builder
		n := 0
		for line := range strings.Lines(string(r.Text)) {
			n++
			fmt.Fprintf(&numbered, "%6d\t%s", n, line)
		}
		for _, text := range []string{string(r.Text), numbered.String(), "+" + strings.ReplaceAll(string(r.Text), "\n", "\n+")} {
			got := m.Mask(text)
			if again := m.Mask(got); again != got {
				t.Errorf("%s: not idempotent\n%q\n%q", r.ID, got, again)
			}
			switch f := r.fault(got); {
			case f != "" && r.Soft:
				soft++
				t.Logf("soft %s %s %s: %.200q", r.ID, r.Kind, f, got)
			case f != "":
				t.Errorf("%s %s %s: %.300q", r.ID, r.Kind, f, got)
			}
		}
	}
	t.Logf("%d soft faults", soft)
}

// hostile is a text of fragments that mean something to the masker.
func hostile(r *rand.Rand, n int) string {
	tok := func(k int) string {
		b := make([]byte, k)
		for i := range b {
			b[i] = "abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[r.IntN(61)]
		}
		return string(b)
	}
	pieces := []string{"-----BEGIN PRI" + "VATE KEY-----", "-----END PRI" + "VATE KEY-----", "-----END RSA PRI" + "VATE KEY-----\n", "\n", "\n", "\n", " ", "=", ": ", "\"", "'", "password", "api_key", "[masked: ", "[masked: github token]", "]",
		"://user:", "@host/", "Bearer ", "é", "\xff", "\\n", "\x1b[32m", "AKIA", "sk-", "ghp_", "eyJ", ".", "value-known-1", "known", "+", "  12\t", "--token ", "日本", "Proc-Type: 4\n"}
	var b strings.Builder
	for b.Len() < n {
		switch r.IntN(4) {
		case 0:
			b.WriteString(tok(r.IntN(70)))
		case 1:
			b.WriteString(tok(64) + "\n")
		default:
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
	}
	return b.String()
}

func stream(m *Masker, text string, r *rand.Rand) string {
	s := m.Stream()
	var out []byte
	for len(text) > 0 {
		n := min(len(text), 1+r.IntN(1+r.IntN(400)))
		out = append(out, s.Next([]byte(text[:n]))...)
		text = text[n:]
	}
	return string(append(out, s.Rest()...))
}

func TestStreamEqualsMaskAndMaskingIsIdempotent(t *testing.T) {
	m := NewMasker()
	m.Add("known", "value-known-1")
	for seed := range uint64(240) {
		r := rand.New(rand.NewPCG(seed, 1))
		size := 1 + r.IntN(3000)
		if seed%40 == 0 {
			size = 200_000
		}
		text := hostile(r, size)
		if seed%80 == 0 {
			text = strings.ReplaceAll(text, "\n", "~")
		}
		whole := m.Mask(text)
		if got := stream(m, text, r); got != whole {
			t.Fatalf("seed %d: stream differs at %d", seed, common(got, whole))
		}
		if again := m.Mask(whole); again != whole {
			i := common(again, whole)
			t.Fatalf("seed %d: masked twice differs:\n%q\n%q", seed, whole[max(0, i-200):min(len(whole), i+100)], again[max(0, i-200):min(len(again), i+100)])
		}
	}
}

func common(a, b string) int {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return i
}

func TestValues(t *testing.T) {
	m := NewMasker()
	m.AddEnv([]string{"GH_TOKEN=one-two-three", "SHORT_TOKEN=abc", "HOME=/home/alice", "API_KEY_FILE=/etc/keys/api.txt", "APP_PASSWORD=password", "KEYSTORE_PASSWORD=/etc/long/path/of/words", "MY_SECRET=line one is here\nline two is here", "SSH_AUTH_SOCK=/tmp/ssh-agent.1234", "DB=postgres://u:hunter-Two@h/d"})
	m.AddFile(".env", []byte("# comment\nexport A_KEY='quoted value'\nPLAIN=production\nHOST=db1.example.com\nID=x\nB_SECRET=\"in-quotes\" # comment\nC_TOKEN=bare-word # more\nRICH=aB3dE6gH9jK2mN5p\nDATABASE_URL=changeme\n"))
	m.AddFile(".netrc", []byte("machine h login me password n3trc-word\n"))
	m.AddFile("token", []byte("lone-token-word\n"))
	m.AddFile("kubeconfig", []byte("clusters:\n- cluster:\n    server: https://k.example\ncontexts: []\nusers:\n- user:\n    token: kube-token-word\n"))
	m.AddFile("config.json", []byte(`{"auths":{"r":{"auth":"Y2k6VmtaamUxcDhpOVRT"}}}`))
	for in, want := range map[string]string{
		"x one-two-three y":                                            "x [masked: environment variable GH_TOKEN] y",
		"abc /home/alice /etc/keys/api.txt password":                   "abc /home/alice /etc/keys/api.txt password",
		"/etc/long/path/of/words /tmp/ssh-agent.1234":                  "/etc/long/path/of/words /tmp/ssh-agent.1234",
		"> line two is here <":                                         "> [masked: environment variable MY_SECRET] <",
		"hunter-Two":                                                   "[masked: password in environment variable DB]",
		"quoted value, production, changeme, db1.example.com":          "[masked: value in .env], production, changeme, db1.example.com",
		"in-quotes bare-word comment":                                  "[masked: value in .env] [masked: value in .env] comment",
		"clusters: contexts: users: https://k.example kube-token-word": "clusters: contexts: users: https://k.example [masked: value in kubeconfig]",
		"(aB3dE6gH9jK2mN5p)":                                           "([masked: value in .env])",
		"n3trc-word lone-token-word":                                   "[masked: value in .netrc] [masked: value in token]",
		"Y2k6VmtaamUxcDhpOVRT":                                         "[masked: value in config.json]",
	} {
		if got := m.Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
	env := NewMasker()
	env.AddFile(".env", []byte("API=topsecretvalue1\nTOK='singlequoted33'\nGH=plain-gh_value.99887766\nSALT=b7f3a9c1d5e2\nPIN=84629173\nexport PWD_ADMIN=letmein123\nSENDGRID=SG.ab12cd34.ef56gh78\nCLIENT_ID=0123456789abcdef0123456789abcdef\n"+
		"DB_PASSWORD=winter\nMAIL_PASS=\"ab12cd\"\nDOOR_PIN=1234\nDASH=x9-y8-z7-w6\nTOKEN_B=one-two\nUSER_PASS=root\n"+
		"REGION=us-east-1\nZONE=eu-west-2a\nBASE=https://api1.example.com/v2\nFILE=/var/lib/app2/data\nDEBUG=true\nPORT=8080\nCACHE=redis-01.internal:6379\nIP=192.168.100.10\nNET=10.20.30.0/16\nTAG=1.20.3-alpine\nSINCE=2024-01-15\nMODEL=gpt-4o-mini-2024\nWAIT=86400000\nMAIL=admin1@example.com\nDB_USER=appuser01\nIMG=postgres:15.3\nAT=2024-01-15T00:00:00Z\nS3_BUCKET=assets-2024-b7\n"))
	env.AddFile(".npmrc", []byte("//registry.npmjs.org/:_authToken=abcdefghij12345\n"))
	for _, secret := range []string{"topsecretvalue1", "singlequoted33", "plain-gh_value.99887766", "b7f3a9c1d5e2", "84629173", "letmein123", "SG.ab12cd34.ef56gh78", "0123456789abcdef0123456789abcdef", "x9-y8-z7-w6", "abcdefghij12345"} {
		if got := env.Mask("x " + secret + " y"); strings.Contains(got, secret) {
			t.Errorf("shown: %q", got)
		}
	}
	for in, want := range map[string]string{
		"+DB_PASSWORD=winter": "+DB_PASSWORD=[masked: value in .env]", "MAIL_PASS=ab12cd": "MAIL_PASS=[masked: value in .env]", `{"MAIL_PASS": "ab12cd"}`: `{"MAIL_PASS": "[masked: value in .env]"}`, "DOOR_PIN=1234 TOKEN_B=one-two": "DOOR_PIN=[masked: value in .env] TOKEN_B=[masked: value in .env]",
	} {
		if got := env.Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
	const plain = "in winter, ab12cd 1234 one-two USER_PASS=root us-east-1 eu-west-2a https://api1.example.com/v2 /var/lib/app2/data true 8080 redis-01.internal:6379 192.168.100.10 10.20.30.0/16 1.20.3-alpine 2024-01-15 gpt-4o-mini-2024 86400000 admin1@example.com appuser01 postgres:15.3 2024-01-15T00:00:00Z assets-2024-b7"
	if got := env.Mask(plain); got != plain {
		t.Errorf("settings: %q", got)
	}
	long := NewMasker()
	long.Add("short", "abcdefgh")
	long.Add("long", "abcdefgh-and-more")
	if got := long.Mask("abcdefgh-and-more abcdefgh"); got != "[masked: long] [masked: short]" {
		t.Errorf("not longest first: %q", got)
	}
}

// A key's body may be one long line.
func TestKeyThatIsNotFolded(t *testing.T) {
	body := strings.Repeat("aB3dE6gH9jK2mN5p", 100)
	for _, form := range []string{"\n%s\n", "\n%s", "\n  %s\n", "\\n%s\\n"} {
		text := "a\n-----BEGIN PRI" + "VATE KEY-----" + strings.Replace(form, "%s", body, 1) + "-----END PRI" + "VATE KEY-----\nafter/it/comes/this/path\n"
		if got := NewMasker().Mask(text); strings.Contains(got, "aB3d") || !strings.HasPrefix(got, "a\n") || !strings.HasSuffix(got, "\nafter/it/comes/this/path\n") {
			t.Errorf("%q: %.300q", form, got)
		}
	}
}

func TestGiven(t *testing.T) {
	m := NewMasker()
	m.Add("environment variable X", "the-value-of-x")
	text := "a [masked: environment variable X] b [masked: github token] [masked: "
	if got := m.Given(text); len(got) != 0 {
		t.Errorf("given before any was: %q", got)
	}
	m.Mask("see the-value-of-x")
	if got := m.Given(text); !slices.Equal(got, []string{"[masked: environment variable X]"}) {
		t.Errorf("Given = %q", got)
	}
}

func TestVariable(t *testing.T) {
	for name, want := range map[string]bool{"GH_TOKEN": true, "PGPASSWORD": true, "DB_PASS": true, "MYSQL_PWD": true, "SECRET_KEY_BASE": true, "OPENAI_API_KEY": true, "STRIPE_KEY": true, "apiKey": true, "REDIS_AUTH": true, "ACME_CREDENTIAL": true, "AWS_SECRET_ACCESS_KEY": true,
		"API_KEY_PROD": true, "TOKEN_2": true, "PWD": false, "OLDPWD": false, "PATH": false, "USER": false, "SSH_AUTH_SOCK": false, "TOKEN_TYPE": false, "MAX_TOKENS": false, "PUBLIC_KEY": false, "CACHE_KEY": false, "KEYBOARD": false, "XAUTHORITY": false, "COMPASS": false, "PASSWORD_FILE": false, "AUTHOR": false, "_": false, "": false} {
		if Variable(name) != want {
			t.Errorf("Variable(%q) = %v", name, !want)
		}
	}
}

// FuzzMask proves the masker's promises on any text.
func FuzzMask(f *testing.F) {
	for _, r := range corpus(f) {
		f.Add(string(r.Text))
	}
	for seed := range uint64(20) {
		f.Add(hostile(rand.New(rand.NewPCG(seed, 2)), 400))
	}
	m := NewMasker()
	m.Add("known", "value-known-1")
	f.Fuzz(func(t *testing.T, text string) {
		got := m.Mask(text)
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("no longer UTF-8: %q", got)
		}
		if again := m.Mask(got); again != got {
			t.Errorf("not idempotent:\n%q\n%q\n%q", text, got, again)
		}
		if s := stream(m, text, rand.New(rand.NewPCG(1, 1))); s != got {
			t.Errorf("stream differs:\n%q\n%q", got, s)
		}
		if strings.Contains(got, "value-known-1") {
			t.Errorf("value shown: %q", got)
		}
	})
}

func BenchmarkMask(b *testing.B) {
	source, err := os.ReadFile("scan.go")
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for name, text := range map[string]string{
		"ordinary":  strings.Repeat(string(source), 50),
		"hex":       strings.Repeat("0123456789abcdef", 20000),
		"letters":   strings.Repeat("a", 300_000),
		"one line":  strings.Repeat("lorem ipsum ", 1_000_000), // nothing of it may be gone through again and again
		"names":     strings.Repeat("password", 40_000),
		"pairs":     strings.Repeat("key=", 80_000),
		"spaces":    strings.Repeat("password   ", 30_000),
		"begins":    strings.Repeat("-----BEGIN PRI"+"VATE KEY-----", 10_000),
		"body":      strings.Repeat(strings.Repeat("aB3d", 16)+"\n", 5_000),
		"ends":      strings.Repeat("password=-----END PRI"+"VATE KEY----- ", 8_000),
		"masks":     strings.Repeat("[masked: github token]", 15_000),
		"urls":      strings.Repeat("http://a:b", 30_000),
		"jwt":       strings.Repeat("eyJ.", 80_000),
		"fragments": hostile(r, 300_000),
	} {
		b.Run(name, func(b *testing.B) {
			m := NewMasker()
			for i := range 200 {
				m.Add("v", fmt.Sprintf("aaaaaaaa%d-secret", i))
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Mask(text)
			}
		})
	}
}

// other returns a secret of the same form: each letter behind the first few is replaced by another of its kind.
func other(r *rand.Rand, secret string) string {
	b := []byte(secret)
	from := 0
	for from < len(b)-16 && strings.ContainsAny(secret[from:], "-_.:/") && from < 12 {
		from++
	}
	for i := max(from, 4); i < len(b); i++ {
		switch c := b[i]; {
		case b[i] >= 'a' && b[i] <= 'f' && strings.Trim(secret[max(from, 4):], "0123456789abcdef-_") == "":
			b[i] = "abcdef"[r.IntN(6)]
		case kindOf(c) == 'a':
			b[i] = byte('a' + r.IntN(26))
		case kindOf(c) == 'A':
			b[i] = byte('A' + r.IntN(26))
		case kindOf(c) == '0':
			b[i] = byte('0' + r.IntN(10))
		}
	}
	return string(b)
}

// A token is found in whatever stands around it.
func TestTokensInAnyWriting(t *testing.T) {
	around := []string{"KEY=%s", "KEY=\"%s\"", "  \"KEY\": \"%s\",", "-KEY='%s'", "error: 401 for %s.", "\x1b[32m%s\x1b[0m", "(%s)", "url=https://api.example.invalid/?key=%s&x=1", "%s,%s", "# %s", "`%s`", "<%s>", "{\"a\":\"line\\n%s\\n\"}",
		"x%%3D%s", "const k = %s;", "|%s|", "     7\t%s", "+%s", "[%s](x)", "user:%s@h", "日本%s日本"}
	m := NewMasker()
	r := rand.New(rand.NewPCG(3, 3))
	for _, row := range corpus(t) {
		if !strings.HasPrefix(row.Kind, "provider-") && row.Kind != "jwt" || row.Soft || row.Kind == "provider-azure-storage" {
			continue
		}
		for _, form := range around {
			secret := string(row.Secret)
			if r.IntN(4) > 0 && row.Kind != "jwt" && row.Kind != "provider-slack-hook" {
				secret = other(r, secret)
			}
			text := strings.ReplaceAll(strings.ReplaceAll(form, "%s", secret), "%%", "%")
			if got := m.Mask(text); strings.Contains(got, secret) {
				t.Errorf("%s in %q: %q", row.Kind, form, got)
			}
		}
	}
}

func TestAssignmentsInAnyWriting(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	value := func() string {
		b := make([]byte, 32)
		for i := range b {
			b[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[r.IntN(64)]
		}
		return string(b)
	}
	m := NewMasker()
	for _, form := range []string{"DB_PASSWORD=%s", "password = \"%s\"", "{\"client_secret\":\"%s\"}", "SECRET_KEY_BASE=%s", "+MY_CUSTOM_SECRET=%s", "export AUTH_TOKEN=%s", "x-api-key: %s", "Authorization: Bearer %s", "//registry.npmjs.org/:_authToken=%s",
		"    token: %s", "aws_session_token=%s", "curl -H 'Authorization: Bearer %s' https://x", "password: '%s'", "passwd=%s", "api_key: \"%s\"", "apiKey: '%s',", "os.environ[\"API_KEY\"] = \"%s\"", "<password>%s</password>", "--token %s", "--password=%s", "\\\"token\\\":\\\"%s\\\"",
		"Server=db;User Id=sa;Password=%s;Encrypt=true", "access_token=%s&x=1", "private_key: %s", "const authToken: string = \"%s\"", "  12\tTOKEN=%s", "secret := \"%s\"", "\"secretAccessKey\" => \"%s\"", "machine h login u password %s", "Authorization: token %s", "ARG X_SECRET=%s",
		"postgres://app:%s@db.internal:5432/app", "redis://:%s@cache:6379/0", "-e POSTGRES_PASSWORD=%s", "conn = 'amqp://g:%s@mq'", "AccountKey=%s==;EndpointSuffix=core.windows.net"} {
		missed, n := 0, 0
		for range 200 {
			v := value()
			got := m.Mask(strings.ReplaceAll(form, "%s", v))
			n++
			if strings.Contains(got, v) {
				missed++
			}
		}
		if missed > 0 {
			t.Errorf("%q: %d of %d missed", form, missed, n)
		}
	}
}
