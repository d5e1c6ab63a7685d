package secret

import "strings"

// shape is the form of a token: a prefix and then at least min letters of a set. A loose one has so common a prefix that
// what follows must look random. before is how many letters of the set stand before the prefix.
type shape struct {
	prefix, label string
	set           uint16
	min           int
	loose         bool
	before        int
}

// Sets of letters, as bits of class.
const (
	lowerSet  uint16 = 1 << iota // a-z
	upperSet                     // A-Z
	digitSet                     // 0-9
	hexSet                       // 0-9a-f
	underSet                     // _
	dashSet                      // -
	dotSet                       // .
	slashSet                     // /
	plusSet                      // + =
	pctSet                       // %
	alnumSet  = lowerSet | upperSet | digitSet
	wordSet   = alnumSet | underSet
	urlSet    = wordSet | dashSet
	base64Set = alnumSet | slashSet | plusSet
	upSet     = upperSet | digitSet
)

func is(c byte, set uint16) bool { return class[c]&set != 0 }

var class = classes()

func classes() (c [256]uint16) {
	for set, chars := range map[uint16]string{
		lowerSet: "abcdefghijklmnopqrstuvwxyz", upperSet: "ABCDEFGHIJKLMNOPQRSTUVWXYZ", digitSet: "0123456789", hexSet: "0123456789abcdef",
		underSet: "_", dashSet: "-", dotSet: ".", slashSet: "/", plusSet: "+=", pctSet: "%"} {
		for i := range len(chars) {
			c[chars[i]] |= set
		}
	}
	return c
}

// Sources: each vendor's documentation of its token formats; GitHub's and GitLab's lists of patterns for secret scanning.
// A longer prefix stands before the shorter one that it begins with.
var shapes = []shape{
	{prefix: "sk-ant-", label: "anthropic key", set: urlSet, min: 20},
	{prefix: "sk-or-", label: "openrouter key", set: urlSet, min: 20},
	{prefix: "sk-proj-", label: "openai key", set: urlSet, min: 20},
	{prefix: "sk-svcacct-", label: "openai key", set: urlSet, min: 20},
	{prefix: "sk-admin-", label: "openai key", set: urlSet, min: 20},
	{prefix: "sk-", label: "api key", set: urlSet, min: 20, loose: true},
	{prefix: "AIza", label: "google key", set: urlSet, min: 30},
	{prefix: "ya29.", label: "google token", set: urlSet, min: 20},
	{prefix: "GOCSPX-", label: "google client secret", set: urlSet, min: 20},
	{prefix: "1//0", label: "google token", set: urlSet, min: 40},
	{prefix: "gsk_", label: "groq key", set: alnumSet, min: 30},
	{prefix: "xai-", label: "xai key", set: alnumSet, min: 30},
	{prefix: "hf_", label: "hugging face token", set: alnumSet, min: 24, loose: true},
	{prefix: "api_org_", label: "hugging face token", set: alnumSet, min: 24},
	{prefix: "r8_", label: "replicate token", set: alnumSet, min: 30, loose: true},
	{prefix: "pplx-", label: "perplexity key", set: alnumSet, min: 30},
	{prefix: "nvapi-", label: "nvidia key", set: urlSet, min: 40},
	{prefix: "csk-", label: "cerebras key", set: alnumSet, min: 30},
	{prefix: "fw_", label: "fireworks key", set: alnumSet, min: 20, loose: true},
	{prefix: "tvly-", label: "tavily key", set: urlSet, min: 20},
	{prefix: "jina_", label: "jina key", set: urlSet, min: 40},
	{prefix: "lsv2_", label: "langsmith key", set: wordSet, min: 30},
	{prefix: "AKIA", label: "aws key id", set: upSet, min: 16}, {prefix: "ASIA", label: "aws key id", set: upSet, min: 16},
	{prefix: "ABIA", label: "aws key id", set: upSet, min: 16}, {prefix: "ACCA", label: "aws key id", set: upSet, min: 16},
	{prefix: "ABSK", label: "aws bedrock key", set: base64Set, min: 100},
	{prefix: "bedrock-api-key-", label: "aws bedrock key", set: base64Set, min: 40},
	{prefix: "LTAI", label: "alibaba key id", set: alnumSet, min: 20, loose: true},
	{prefix: "AKID", label: "tencent key id", set: alnumSet, min: 32, loose: true},
	{prefix: "ghp_", label: "github token", set: wordSet, min: 30}, {prefix: "gho_", label: "github token", set: wordSet, min: 30},
	{prefix: "ghu_", label: "github token", set: wordSet, min: 30}, {prefix: "ghs_", label: "github token", set: wordSet, min: 30},
	{prefix: "ghr_", label: "github token", set: wordSet, min: 30}, {prefix: "github_pat_", label: "github token", set: wordSet, min: 22},
	{prefix: "glpat-", label: "gitlab token", set: urlSet | dotSet, min: 20}, {prefix: "gldt-", label: "gitlab token", set: urlSet, min: 20},
	{prefix: "glptt-", label: "gitlab token", set: urlSet, min: 20}, {prefix: "glrt-", label: "gitlab token", set: urlSet | dotSet, min: 20},
	{prefix: "glcbt-", label: "gitlab token", set: urlSet, min: 20}, {prefix: "glft-", label: "gitlab token", set: urlSet, min: 20},
	{prefix: "glsoat-", label: "gitlab token", set: urlSet, min: 20}, {prefix: "glagent-", label: "gitlab token", set: urlSet, min: 20},
	{prefix: "gloas-", label: "gitlab token", set: urlSet, min: 20}, {prefix: "GR1348941", label: "gitlab token", set: urlSet, min: 20},
	{prefix: "xoxb-", label: "slack token", set: urlSet, min: 20}, {prefix: "xoxp-", label: "slack token", set: urlSet, min: 20},
	{prefix: "xoxa-", label: "slack token", set: urlSet, min: 20}, {prefix: "xoxr-", label: "slack token", set: urlSet, min: 20},
	{prefix: "xoxs-", label: "slack token", set: urlSet, min: 20}, {prefix: "xoxc-", label: "slack token", set: urlSet, min: 20},
	{prefix: "xoxd-", label: "slack token", set: urlSet | pctSet, min: 20}, {prefix: "xoxe-", label: "slack token", set: urlSet, min: 20},
	{prefix: "xoxe.", label: "slack token", set: urlSet, min: 20}, {prefix: "xapp-", label: "slack token", set: urlSet, min: 20},
	{prefix: "hooks.slack.com/services/", label: "slack webhook", set: urlSet | slashSet, min: 20},
	{prefix: "hooks.slack.com/workflows/", label: "slack webhook", set: urlSet | slashSet, min: 20},
	{prefix: "hooks.slack.com/triggers/", label: "slack webhook", set: urlSet | slashSet, min: 20},
	{prefix: "discord.com/api/webhooks/", label: "discord webhook", set: urlSet | slashSet, min: 40},
	{prefix: "discordapp.com/api/webhooks/", label: "discord webhook", set: urlSet | slashSet, min: 40},
	{prefix: ":AA", label: "telegram token", set: urlSet, min: 32, before: 8},
	{prefix: "sk_live_", label: "stripe key", set: alnumSet, min: 16}, {prefix: "sk_test_", label: "stripe key", set: alnumSet, min: 16},
	{prefix: "rk_live_", label: "stripe key", set: alnumSet, min: 16}, {prefix: "rk_test_", label: "stripe key", set: alnumSet, min: 16},
	{prefix: "whsec_", label: "webhook secret", set: base64Set | urlSet, min: 24},
	{prefix: "sk_", label: "api key", set: alnumSet, min: 32, loose: true},
	{prefix: "SG.", label: "sendgrid key", set: urlSet | dotSet, min: 50, loose: true},
	{prefix: "xkeysib-", label: "brevo key", set: urlSet, min: 60},
	{prefix: "key-", label: "mailgun key", set: hexSet, min: 32},
	{prefix: "re_", label: "resend key", set: wordSet, min: 28, loose: true},
	{prefix: "npm_", label: "npm token", set: alnumSet, min: 36},
	{prefix: "pypi-", label: "pypi token", set: urlSet, min: 50},
	{prefix: "rubygems_", label: "rubygems key", set: hexSet, min: 48},
	{prefix: "cio", label: "crates.io token", set: alnumSet, min: 32, loose: true},
	{prefix: "dckr_pat_", label: "docker token", set: urlSet, min: 20}, {prefix: "dckr_oat_", label: "docker token", set: urlSet, min: 20},
	{prefix: "dop_v1_", label: "digitalocean token", set: hexSet, min: 60}, {prefix: "doo_v1_", label: "digitalocean token", set: hexSet, min: 60},
	{prefix: "dor_v1_", label: "digitalocean token", set: hexSet, min: 60},
	{prefix: "dapi", label: "databricks token", set: hexSet, min: 32},
	{prefix: "hvs.", label: "vault token", set: urlSet, min: 20}, {prefix: "hvb.", label: "vault token", set: urlSet, min: 20}, {prefix: "hvr.", label: "vault token", set: urlSet, min: 20},
	{prefix: ".atlasv1.", label: "terraform token", set: urlSet, min: 50, before: 14},
	{prefix: "8Q~", label: "azure client secret", set: urlSet | dotSet, min: 31, before: 3}, {prefix: "7Q~", label: "azure client secret", set: urlSet | dotSet, min: 31, before: 3},
	{prefix: "sig=", label: "azure signature", set: base64Set | pctSet, min: 40, loose: true},
	{prefix: "dp.pt.", label: "doppler token", set: alnumSet, min: 40}, {prefix: "dp.st.", label: "doppler token", set: urlSet | dotSet, min: 40},
	{prefix: "pul-", label: "pulumi token", set: hexSet, min: 40},
	{prefix: "pscale_tkn_", label: "planetscale token", set: urlSet | dotSet, min: 30}, {prefix: "pscale_pw_", label: "planetscale password", set: urlSet | dotSet, min: 30},
	{prefix: "sbp_", label: "supabase token", set: hexSet, min: 40}, {prefix: "sb_secret_", label: "supabase key", set: urlSet, min: 20},
	{prefix: "tskey-", label: "tailscale key", set: urlSet, min: 24},
	{prefix: "fm1_", label: "fly token", set: base64Set, min: 60}, {prefix: "fm2_", label: "fly token", set: base64Set, min: 60},
	{prefix: "PMAK-", label: "postman key", set: urlSet, min: 50}, {prefix: "NRAK-", label: "new relic key", set: upSet, min: 27},
	{prefix: "glsa_", label: "grafana token", set: wordSet, min: 32}, {prefix: "glc_", label: "grafana token", set: base64Set, min: 32},
	{prefix: "sntrys_", label: "sentry token", set: base64Set | urlSet, min: 40}, {prefix: "sntryu_", label: "sentry token", set: hexSet, min: 60},
	{prefix: "HRKU-", label: "heroku key", set: urlSet, min: 36},
	{prefix: "figd_", label: "figma token", set: urlSet, min: 36}, {prefix: "lin_api_", label: "linear key", set: alnumSet, min: 32}, {prefix: "lin_oauth_", label: "linear token", set: alnumSet, min: 32},
	{prefix: "ntn_", label: "notion token", set: alnumSet, min: 40}, {prefix: "secret_", label: "notion token", set: alnumSet, min: 40, loose: true},
	{prefix: "shpat_", label: "shopify token", set: hexSet, min: 32}, {prefix: "shpss_", label: "shopify secret", set: hexSet, min: 32},
	{prefix: "shpca_", label: "shopify token", set: hexSet, min: 32}, {prefix: "shppa_", label: "shopify token", set: hexSet, min: 32},
	{prefix: "sq0atp-", label: "square token", set: urlSet, min: 22}, {prefix: "sq0csp-", label: "square secret", set: urlSet, min: 40},
	{prefix: "ATATT3", label: "atlassian token", set: urlSet | plusSet, min: 60}, {prefix: "ATCTT3", label: "atlassian token", set: urlSet | plusSet, min: 60}, {prefix: "ATBB", label: "bitbucket token", set: alnumSet, min: 28, loose: true},
	{prefix: "AKCp", label: "artifactory key", set: alnumSet, min: 60}, {prefix: "cmVmdGtu", label: "artifactory token", set: alnumSet, min: 50},
	{prefix: "dt0c01.", label: "dynatrace token", set: upSet | dotSet, min: 80}, {prefix: "rzp_live_", label: "razorpay key", set: alnumSet, min: 14},
	{prefix: "AGE-SECRET-KEY-1", label: "age key", set: upSet, min: 50}, {prefix: "CFPAT-", label: "contentful token", set: urlSet, min: 40},
	{prefix: "ops_eyJ", label: "1password token", set: base64Set | urlSet, min: 100},
	{prefix: "b3BlbnNzaC1rZXktdjE", label: keyLabel, set: base64Set, min: 20},
	{prefix: "eyJ", label: "json web token", set: urlSet | dotSet | plusSet, min: 36},
}

// match says how far the token goes whose prefix stands at s[i], and where it begins. end is set also if it is none.
func (p *shape) match(s string, i int) (start, end int, ok bool) {
	start = i
	for range p.before {
		if start == 0 || !is(s[start-1], p.set) {
			return 0, 0, false
		}
		start--
	}
	if p.before > 0 {
		for start > 0 && is(s[start-1], digitSet) {
			start--
		}
	}
	if !boundary(s, start) {
		return 0, 0, false
	}
	from := i + len(p.prefix)
	end = from
	for end < len(s) && is(s[end], p.set) {
		end++
	}
	for end > from && s[end-1] == '.' {
		end--
	}
	return start, end, p.fits(s[from:end], end < len(s) && is(s[end], alnumSet))
}

// fits judges what follows the prefix. more says that a letter or digit stands behind it.
func (p *shape) fits(body string, more bool) bool {
	n := changes(body)
	switch {
	case len(body) < p.min,
		(p.set == upSet || p.set == hexSet) && more,
		p.min == 16 && p.set == upSet && len(body) != 16,
		p.loose && n*8 < len(body), n < 2 && p.set != upSet,
		p.prefix == "eyJ" && !strings.Contains(body, "."): // base64 of some JSON has one part only
		return false
	}
	return !plain(body)
}

// boundary says whether a token may begin at s[i]: not inside a word. The letter of an escape (\n, %3D, ESC[32m) is none.
func boundary(s string, i int) bool {
	if i == 0 || !is(s[i-1], alnumSet) {
		return true
	}
	if i >= 2 && s[i-2] == '\\' && (s[i-1] == 'n' || s[i-1] == 't' || s[i-1] == 'r') {
		return true
	}
	if i >= 3 && s[i-3] == '%' && is(s[i-2], digitSet|hexSet|upperSet) && is(s[i-1], digitSet|hexSet|upperSet) {
		return true
	}
	for j := i - 2; j >= 0 && j > i-16; j-- {
		if s[j] == '[' && j > 0 && s[j-1] == 0x1b {
			return true
		}
		if !is(s[j], digitSet) && s[j] != ';' {
			break
		}
	}
	return false
}
