package secret

import "testing"

// One table for what is denied and one for what only looks like it.
func TestFile(t *testing.T) {
	secrets := map[string][]string{
		"environment file": {".env", ".env.local", ".env.staging", "config/.env", "/w/.env", ".//.env", ".ENV", "Prod.Env", ".env.bak", ".env.old", ".env~", ".env/", ".env\x00.md", ".envrc", ".env.test", "src/../.env",
			"file:///w/.env", "/proc/self/cwd/.env", ".env-prod", ".env_local", "docker.env", ".envs/.production/.django", ".env.production.local", ".env.keys", "#.env#", ".e\u200dnv"},
		"private key": {"id_rsa", "/home/a/.ssh/id_rsa", "~/.ssh/id_rsa", "~/.ssh/*", "/home/a/.ssh", "/home/a/.ssh/config", "ID_RSA", "deploy/id_ed25519", "id_ed25519_work", "id_ecdsa-sk", "deploy_id_rsa", "server.key", "ca.key",
			"certs/private.pem", "testdata/server.pem", "cert-key.pem", "privkey.pem", "k.p12", "client.ovpn", "cert.pfx", "app.jks", "a.ppk", "AuthKey.p8", "x.keytab", "~/.gnupg/private-keys-v1.d/x.key", "~/.gnupg", "config/master.key",
			"id_rsa.bak", "server.key.old", "secring.gpg", "my-private.asc", "/etc/ssl/private/a", "/etc/ssh/ssh_host_ed25519_key", ".vault_pass"},
		"cloud credentials": {"~/.aws/credentials", ".aws/config", "/h/.aws", "terraform.tfstate", "terraform.tfstate.backup", "x/prod.tfstate", "gcp-service-account.json", "service-account.json", "my_service_account_key.json",
			"serviceAccountKey.json", "~/.config/gcloud/application_default_credentials.json", "~/.kube/config", "kubeconfig", "prod.kubeconfig", "client_secret_1.apps.json", "app-firebase-adminsdk-x.json", "credentials.json",
			"/run/secrets/db", "~/.codex/auth.json", "config/secrets.yml", "secret.yml", "deploy/secret.json", "secrets.tfvars", ".secrets", ".secrets/token", "terraform.tfstate.1700000000.backup", ".streamlit/secrets.toml", "~/.azure/accessTokens.json"},
		"registry credentials": {".npmrc", "~/.pypirc", ".docker/config.json", "/h/.docker/config.json", "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.m2/settings.xml", "/h/.config/containers/auth.json"},
		"git credentials":      {".git-credentials", "~/.config/gh/hosts.yml", "~/.config/git/credentials", "~/.config/glab-cli/config.yml"},
		"password file":        {".netrc", "~/_netrc", "~/.pgpass", "~/.my.cnf", "/etc/shadow", "/etc/shadow-", "a/.htpasswd", "~/.password-store/x.gpg"},
		"keychain":             {"db.kdbx", "/Users/a/Library/Keychains/login.keychain-db", "~/.local/share/keyrings/login.keyring"},
		"browser profile":      {"~/.mozilla/firefox/x/places.sqlite", "~/.config/google-chrome/Default/Login Data", "x/key4.db", "/Users/a/Library/Application Support/Google/Chrome/x"},
		"process memory":       {"/proc/self/environ", "/proc/12/environ", "/proc/12/task/13/environ", "/proc/self/mem"},
		"shell history":        {"~/.bash_history", "/root/.zsh_history", "~/.local/share/fish/fish_history"},
	}
	for kind, paths := range secrets {
		for _, p := range paths {
			if got, yes := File(p); !yes || got != kind {
				t.Errorf("File(%q) = %q, %v; want %q", p, got, yes, kind)
			}
		}
	}
	for _, p := range []string{"", ".", "/", "README.md", ".env.example", ".env.sample", ".env.template", ".env.dist", ".env.local.example", ".env.production.sample", ".env-example", "example.env", "sample.env", ".envrc.sample",
		"env", "scripts/env.sh", "docs/env.md", "process.env", "import.meta.env", "id_rsa.pub", "keys/id_ed25519.pub", "~/.ssh/id_rsa.pub", "~/.ssh/known_hosts", "src/environment.ts", "src/credentials.go", "internal/secrets/secrets.go",
		"docs/api-keys.md", "src/keyboard.ts", "src/keymap.json", "certs/ca.crt", "certs/fullchain.pem", "cacert.pem", "public.pem", "public.key", "testdata/token.json", "testdata/netrc.txt", "locales/en/password.json", "env.d.ts",
		"~/.gitconfig", "/etc/hosts", "/etc/passwd", ".npmrc.example", "credentials.json.sample", ".aws/credentials.example", "src/secret/mask.go", "keys.go", "id_rsa_test.go", "id_rsax", "templates/secret.yaml", "prod.tfvars", "variables.tf", ".flaskenv", ".secrets.baseline", "secret.go", "secret.md", "secretary.json", "secret-service.yaml", ".env.d.ts", "chart/templates/secrets.yaml",
		"tokens.css", "monkey.md", "turkey", "a.keys", "．env", ".environment", ".ssha/x", "x.sshd/y", ".aws.md", "w/run/secrets", "serviceaccount.yaml", "src/client_secret.ts", ".gitignore", "package.json"} {
		if kind, yes := File(p); yes {
			t.Errorf("File(%q) = %q, want none", p, kind)
		}
	}
}

func BenchmarkFile(b *testing.B) {
	for b.Loop() {
		File("/home/alice/work/project/internal/very/long/path/of/an/ordinary/file_test.go")
	}
}
