package secret

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// A path is judged by its name alone, in lower case, since on some disks .ENV and .env are one file. A directory of secrets
// makes everything below it secret, itself included. A backup (id_rsa.bak) counts as the file it copies; a template
// (.env.example), a public key and a certificate do not count.

// place is a kind of secret and the names that give it away. Dirs are whole directories wherever they lie, roots those of the
// system; files are single files by the last components of their path, names by their base name, exts by its ending.
type place struct {
	kind                            string
	dirs, roots, files, names, exts []string
}

// Sources: the documentation of each program for where it keeps its credentials.
var places = []place{
	{kind: "private key",
		dirs:  []string{"/.ssh/", "/.gnupg/"},
		roots: []string{"/etc/ssl/private/", "/etc/wireguard/"},
		names: []string{"secring.gpg", "master.key", ".vault_pass", ".vault_pass.txt", "vault_pass.txt", "ssh_host_rsa_key", "ssh_host_ecdsa_key", "ssh_host_ed25519_key", "ssh_host_dsa_key", "wallet.dat"},
		exts:  []string{".key", ".pem", ".p12", ".pfx", ".pkcs12", ".p8", ".pk8", ".ppk", ".jks", ".jceks", ".bcfks", ".keystore", ".keytab", ".agekey", ".age-key"}},
	{kind: "cloud credentials",
		dirs:  []string{"/.aws/", "/.config/gcloud/", "/.oci/", "/.config/doctl/", "/.config/hcloud/", "/.config/linode-cli/", "/.config/stripe/", "/.config/op/"},
		roots: []string{"/run/secrets/", "/var/run/secrets/"},
		files: []string{"/.azure", "/.azure/accesstokens.json", "/.azure/msal_token_cache.json", "/.azure/msal_token_cache.bin", "/.azure/service_principal_entries.json", "/.azure/service_principal_entries.bin", "/.kube", "/.kube/config", "/etc/kubernetes/admin.conf", "/etc/rancher/k3s/k3s.yaml", "/.fly/config.yml", "/.pulumi/credentials.json", "/.aliyun/config.json", "/.config/netlify/config.json", "/.config/configstore/firebase-tools.json", "/.config/rclone/rclone.conf", "/.terraform.d/credentials.tfrc.json", "/.claude/.credentials.json", "/.codex/auth.json", "/.gemini/oauth_creds.json", "/huggingface/token", "/.huggingface/token", "/.snowsql/config", "/.streamlit/secrets.toml"},
		names: []string{"application_default_credentials.json", "credentials.json", "kubeconfig", "kubeconfig.yaml", "kubeconfig.yml", ".s3cfg", ".boto", ".passwd-s3fs", "rclone.conf", ".databrickscfg",
			".vault-token", ".terraformrc", "terraform.rc", "kaggle.json", "secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml"},
		exts: []string{".tfstate", ".kubeconfig"}},
	{kind: "registry credentials",
		files: []string{"/.docker/config.json", "/containers/auth.json", "/.cargo/credentials", "/.cargo/credentials.toml", "/.gem/credentials", "/.composer/auth.json", "/composer/auth.json", "/.m2/settings.xml", "/.m2/settings-security.xml", "/.gradle/gradle.properties"},
		names: []string{".npmrc", ".pypirc", ".dockercfg", ".dockerconfigjson"}},
	{kind: "git credentials",
		dirs:  []string{"/.config/gh/", "/.config/glab-cli/", "/.config/github-copilot/"},
		files: []string{"/.config/git/credentials", "/gh/hosts.yml", "/.config/hub"},
		names: []string{".git-credentials", ".gitcookies"}},
	{kind: "password file",
		dirs:  []string{"/.subversion/auth/", "/.password-store/"},
		files: []string{"/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/master.passwd", "/etc/security/opasswd", "/.vscode/sftp.json"},
		names: []string{".netrc", "_netrc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".htpasswd", ".erlang.cookie", ".ftpconfig", "krb5.keytab"}},
	{kind: "keychain",
		dirs: []string{"/.local/share/keyrings/", "/.local/share/kwalletd/", "/library/keychains/", "/.config/bitwarden/", "/.config/1password/"},
		exts: []string{".kdb", ".kdbx", ".keychain", ".keychain-db", ".psafe3"}},
	{kind: "browser profile",
		dirs:  []string{"/.mozilla/", "/.librewolf/", "/.thunderbird/", "/.config/google-chrome/", "/.config/google-chrome-beta/", "/.config/chromium/", "/.config/bravesoftware/", "/.config/microsoft-edge/", "/.config/vivaldi/", "/.config/opera/", "/snap/firefox/", "/snap/chromium/", "/.var/app/org.mozilla.firefox/", "/library/application support/google/chrome/", "/library/application support/firefox/", "/library/application support/bravesoftware/", "/library/application support/microsoft edge/", "/library/cookies/", "/library/safari/"},
		names: []string{"login data", "cookies.sqlite", "logins.json", "key4.db", "key3.db", "signons.sqlite"}},
}

var (
	templates = []string{"example", "examples", "sample", "template", "tmpl", "tpl", "dist", "default", "defaults", "schema"}
	backups   = []string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".copy", ".swp", ".swo"}
	// Program text and documents are read for what they are, whatever their subject.
	sources = []string{".go", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".py", ".rb", ".rs", ".java", ".kt", ".c", ".h", ".cc", ".cpp", ".cs", ".php", ".swift", ".md", ".mdx", ".rst", ".adoc", ".html", ".css", ".svg"}
	public  = []string{".pub", ".crt", ".cer", ".csr", ".crl"}
	// Names of .env that are expressions in code, not files.
	expressions = []string{"process.env", "meta.env", "import.meta.env", "deno.env", "bun.env", "os.env"}
)

// File says whether a path (absolute or relative, slashes) names a secret or credential file, and of what kind
// ("private key", "environment file", …) for the message. Public keys, certificates and .env.example are none.
func File(p string) (kind string, secret bool) {
	if i := strings.IndexByte(p, 0); i >= 0 { // the system ends a name there
		p = p[:i]
	}
	full := "/" + strings.TrimPrefix(path.Clean(strings.Map(fold, p)), "/")
	base := strings.Trim(path.Base(full), "#")
	kept := base
	for range 2 {
		for _, s := range backups {
			base = strings.TrimSuffix(base, s)
		}
	}
	full = strings.TrimSuffix(full, kept) + base
	if ext := path.Ext(base); ext != "" && slices.Contains(templates, ext[1:]) {
		return "", false
	}
	inside, within := full+"/", inDirs(full)
	for _, k := range places {
		if k.holds(full, inside, base, within) {
			if isPublic(full) {
				return "", false
			}
			return k.kind, true
		}
	}
	if slices.ContainsFunc(public, func(s string) bool { return strings.HasSuffix(base, s) }) {
		return "", false
	}
	kind = named(full, base)
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

// inDirs says whether a path can lie in one of the tables' dirs at all, which few paths can: all of these are hidden, or below
// library or snap. It is asked of every file of a search.
func inDirs(full string) bool {
	return strings.Contains(full, "/.") || strings.Contains(full, "/library/") || strings.Contains(full, "/snap/")
}

// holds is asked about dirs only with within. inside is full with a slash after it.
func (k place) holds(full, inside, base string, within bool) bool {
	if within && slices.ContainsFunc(k.dirs, func(d string) bool { return strings.Contains(inside, d) }) ||
		hasAny(inside, k.roots...) ||
		slices.ContainsFunc(k.files, func(f string) bool { return strings.HasSuffix(full, f) }) {
		return true
	}
	if slices.Contains(k.names, base) {
		return path.Base(path.Dir(full)) != "templates" // a chart's secrets.yaml holds no values
	}
	i := strings.LastIndexByte(base, '.')
	return i >= 0 && slices.Contains(k.exts, base[i:])
}

// isPublic picks out what lies among secrets or is named like one and is meant to be seen.
func isPublic(full string) bool {
	base := path.Base(full)
	ext := path.Ext(base)
	if slices.Contains(public, ext) {
		return true
	}
	if path.Base(path.Dir(full)) == ".ssh" {
		return strings.HasPrefix(base, "known_hosts") || strings.HasPrefix(base, "authorized_keys")
	}
	if ext != ".pem" && ext != ".key" {
		return false
	}
	word := nameWords(strings.TrimSuffix(base, ext))
	says := func(list ...string) bool {
		return slices.ContainsFunc(word, func(w string) bool { return slices.Contains(list, w) })
	}
	if says("public", "pub", "pubkey") {
		return true
	}
	return ext == ".pem" && !says("key", "privkey", "private", "priv", "secret") &&
		says("cert", "certs", "certificate", "chain", "fullchain", "ca", "cacert", "bundle", "cacerts", "csr", "crl", "dhparam", "dhparams", "root", "intermediate")
}

func nameWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ' ' })
}

// named judges names that follow a form: .env and its variants, id_* keys, service accounts, histories, /proc.
func named(full, base string) string {
	switch {
	case strings.HasPrefix(full, "/proc/") && (base == "environ" || base == "mem" || base == "kcore"):
		return "process memory"
	case slices.Contains(sources, path.Ext(base)):
		return ""
	case isEnv(base):
		return "environment file"
	case hasKeyName(base):
		return "private key"
	case path.Ext(base) == ".json" && (strings.Contains(strings.NewReplacer("-", "", "_", "").Replace(base), "serviceaccount") ||
		strings.Contains(base, "firebase-adminsdk") || hasAny(base, "client_secret")):
		return "cloud credentials"
	case strings.HasPrefix(base, ".") && strings.HasSuffix(base, "_history"), base == "fish_history":
		return "shell history"
	case path.Ext(base) == ".asc" && (strings.Contains(base, "private") || strings.Contains(base, "secret")):
		return "private key"
	}
	return ""
}

// isEnv knows .env and its variants before and after the dot; sample.env and .env-example are templates.
func isEnv(base string) bool {
	word := nameWords(base)
	if len(word) > 1 && (slices.Contains(templates, word[0]) || slices.Contains(templates, word[len(word)-1])) {
		return false
	}
	return base == ".env" || base == ".envrc" || hasAny(base, ".env.", ".env-", ".env_", ".envrc.") ||
		path.Ext(base) == ".env" && !slices.Contains(expressions, base)
}

func hasAny(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// hasKeyName knows the names that ssh-keygen gives, with a suffix of the user's: id_ed25519_work.
func hasKeyName(base string) bool {
	for _, k := range []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"} {
		if rest, ok := strings.CutPrefix(base, k); ok && (rest == "" || strings.ContainsRune("_-.", rune(rest[0]))) {
			return true
		}
		if strings.HasSuffix(base, "_"+k) || strings.HasSuffix(base, "-"+k) || strings.HasSuffix(base, "."+k) {
			return true
		}
	}
	return false
}
