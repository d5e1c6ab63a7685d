package secret

import (
	"slices"
	"strings"
)

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
var shapes = shapesOf([]family{
	{set: urlSet, min: 20, tokens: "anthropic key: sk-ant-; openrouter key: sk-or-; openai key: sk-proj- sk-svcacct- sk-admin-; google client secret: GOCSPX-; google token: ya29.; nvidia key: nvapi-; tavily key: tvly-; jina key: jina_;" +
		"gitlab token: gldt- glptt- glcbt- glft- glsoat- glagent- gloas- GR1348941; slack token: xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxe- xoxe. xapp-; docker token: dckr_pat_ dckr_oat_;" +
		"vault token: hvs. hvb. hvr.; supabase key: sb_secret_; tailscale key: tskey-; square token: sq0atp- sq0csp-; google key: AIza; langsmith key: lsv2_"},
	{set: urlSet, min: 36, tokens: "google token: 1//0; pypi token: pypi-; brevo key: xkeysib-; postman key: PMAK-; heroku key: HRKU-; figma token: figd_; contentful token: CFPAT-"},
	{set: urlSet | dotSet, min: 20, tokens: "gitlab token: glpat- glrt-; doppler token: dp.st.; planetscale token: pscale_tkn_ pscale_pw_"},
	{set: urlSet | pctSet, min: 20, tokens: "slack token: xoxd-"},
	{set: urlSet, min: 20, loose: true, tokens: "api key: sk-"},
	{set: urlSet | dotSet, min: 50, loose: true, tokens: "sendgrid key: SG."},
	{set: wordSet, min: 22, tokens: "github token: ghp_ gho_ ghu_ ghs_ ghr_ github_pat_; grafana token: glsa_"},
	{set: wordSet, min: 28, loose: true, tokens: "resend key: re_"},
	{set: alnumSet, min: 14, tokens: "stripe key: sk_live_ sk_test_ rk_live_ rk_test_; razorpay key: rzp_live_"},
	{set: alnumSet, min: 30, tokens: "groq key: gsk_; xai key: xai-; hugging face token: api_org_; perplexity key: pplx-; cerebras key: csk-; npm token: npm_; doppler token: dp.pt.; linear token: lin_api_ lin_oauth_; notion token: ntn_; artifactory key: AKCp cmVmdGtu"},
	{set: alnumSet, min: 20, loose: true, tokens: "hugging face token: hf_; replicate token: r8_; fireworks key: fw_; alibaba key id: LTAI; tencent key id: AKID; bitbucket token: ATBB"},
	{set: alnumSet, min: 32, loose: true, tokens: "api key: sk_; crates.io token: cio; notion token: secret_"},
	{set: upSet, min: 16, tokens: "aws key id: AKIA ASIA ABIA ACCA"},
	{set: upSet, min: 27, tokens: "new relic key: NRAK-; age key: AGE-SECRET-KEY-1"},
	{set: upSet | dotSet, min: 80, tokens: "dynatrace token: dt0c01."},
	{set: hexSet, min: 32, tokens: "mailgun key: key-; rubygems key: rubygems_; digitalocean token: dop_v1_ doo_v1_ dor_v1_; databricks token: dapi; pulumi token: pul-; supabase token: sbp_; sentry token: sntryu_; shopify token: shpat_ shpca_ shppa_ shpss_"},
	{set: base64Set | urlSet, min: 24, tokens: "webhook secret: whsec_; sentry token: sntrys_; atlassian token: ATATT3 ATCTT3; 1password token: ops_eyJ; fly token: fm1_ fm2_; grafana token: glc_; aws bedrock key: bedrock-api-key-"},
	{set: base64Set, min: 20, tokens: keyLabel + ": b3BlbnNzaC1rZXktdjE"},
	{set: base64Set, min: 100, tokens: "aws bedrock key: ABSK"},
	{set: base64Set | pctSet, min: 40, loose: true, tokens: "azure signature: sig="},
	{set: urlSet | slashSet, min: 20, tokens: "slack webhook: hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/; discord webhook: discord.com/api/webhooks/ discordapp.com/api/webhooks/"},
	{set: urlSet | dotSet | plusSet, min: 36, tokens: "json web token: eyJ"},
	{set: urlSet, min: 32, before: 8, tokens: "telegram token: :AA"},
	{set: urlSet, min: 50, before: 14, tokens: "terraform token: .atlasv1."},
	{set: urlSet | dotSet, min: 31, before: 3, tokens: "azure client secret: 8Q~ 7Q~"},
})

// family is shapes that differ in prefix and label alone: "label: prefix prefix; label: prefix".
type family struct {
	set         uint16
	min, before int
	loose       bool
	tokens      string
}

// shapesOf takes families apart, longest prefixes first.
func shapesOf(families []family) (out []shape) {
	for _, f := range families {
		for list := range strings.SplitSeq(f.tokens, ";") {
			label, prefixes, _ := strings.Cut(list, ": ")
			for _, p := range strings.Fields(prefixes) {
				out = append(out, shape{p, strings.TrimSpace(label), f.set, f.min, f.loose, f.before})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b shape) int { return len(b.prefix) - len(a.prefix) })
	return out
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
	if !boundary(s, start) || p.loose && start > 0 && is(s[start-1], underSet|dashSet) {
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
