package policy

import (
	"fmt"

	"anchor/internal/secret"
)

// The order of judgement is the same for every action: hard denials, deny rules, what is allowed by default, allow rules,
// yolo, and at last the question.

const byDefault = "default"

// Decide judges an action under the rules.
func Decide(a Action, r Rules) Decision {
	switch a := a.(type) {
	case Read:
		return r.read(a.Path)
	case Write:
		return r.write(a.Path)
	case Exec:
		return r.exec(a)
	case MCP:
		return r.mcp(a)
	}
	return Decision{Rule: byDefault, Reason: "This kind of action is not known, so it is refused."}
}

// judge applies the rules to an action that no hard denial holds for. plain is the decision without any rules.
func (r Rules) judge(denied, allowed func(Rule) bool, plain Decision) Decision {
	if s, ok := find(r.Deny, denied); ok {
		return Decision{Verdict: Deny, Rule: s.String(), Reason: "The rule " + s.String() + " refuses it."}
	}
	if plain.Verdict == Allow {
		return plain
	}
	if s, ok := find(r.Allow, allowed); ok {
		return Decision{Verdict: Allow, Rule: s.String(), Reason: "The rule " + s.String() + " allows it."}
	}
	if r.Yolo {
		return Decision{Verdict: Allow, Rule: "--yolo", Reason: "Nothing is asked under --yolo."}
	}
	return plain
}

func allow(reason string) Decision { return Decision{Verdict: Allow, Rule: byDefault, Reason: reason} }

func ask(reason string) Decision { return Decision{Verdict: Ask, Rule: byDefault, Reason: reason} }

func hard(rule, reason string) Decision {
	return Decision{Verdict: Deny, Rule: "hard denial: " + rule, Reason: reason, Hard: true}
}

// secretKind says what kind of secret a path is under any of its names; empty for none.
func (p Path) secretKind() string {
	for _, name := range []string{p.Abs, p.Lexical, p.Name} {
		if kind, yes := secret.File(name); yes {
			return kind
		}
	}
	return ""
}

func secretFile(p Path, kind string) Decision {
	really := ""
	if _, named := secret.File(p.Name); !named && p.Abs != "" {
		really = " is " + p.Abs + ", which"
	}
	return hard("secret file", fmt.Sprintf("%s%s is a secret file (%s) and is never read or written here: open it yourself if it must be.", p.Name, really, kind))
}

func (r Rules) read(p Path) Decision {
	if kind := p.secretKind(); kind != "" {
		return secretFile(p, kind)
	}
	plain := ask(p.Name + " lies outside the directory.")
	switch {
	case p.Fault != "":
		plain = ask(p.Name + " can't be looked up: " + p.Fault + ".")
	case p.Inside:
		plain = allow("Reading in the directory is allowed.")
	case p.Own:
		plain = allow(p.Name + " is one of anchor's own files that may be read.")
	default:
		plain.Suggest = suggest(Rule{"read", escape(p.Abs)})
	}
	covers := func(x Rule) bool { return x.Kind == "read" && p.Fault == "" && r.allows(x.Arg, p) }
	return r.judge(func(x Rule) bool { return x.Kind == "read" && r.denies(x.Arg, p) }, covers, plain)
}

func (r Rules) write(p Path) Decision {
	if kind := p.secretKind(); kind != "" {
		return secretFile(p, kind)
	}
	delicate := r.sensitive(p)
	plain := ask("Writing in the directory is asked about.")
	switch {
	case p.Fault != "":
		plain = ask(p.Name + " can't be looked up: " + p.Fault + ".")
	case delicate != "":
		plain = ask(fmt.Sprintf("%s is %s, and writing there is asked about each time.", p.Name, delicate))
		plain.Suggest = suggest(Rule{"write", escape(p.Abs)})
	case !p.Inside:
		plain = ask(p.Name + " lies outside the directory, and writing there is asked about each time.")
		plain.Suggest = suggest(Rule{"write", escape(p.Abs)})
	default:
		plain.Always = &Grant{Rule{Kind: "write"}, "all file writes in the workspace"}
		plain.Suggest = "write"
	}
	allowed := func(x Rule) bool {
		return x.Kind == "write" && p.Fault == "" && r.coversWrite(x.Arg, p, delicate != "")
	}
	denied := func(x Rule) bool { return x.Kind == "write" && (x.Arg == "" || r.denies(x.Arg, p)) }
	return r.judge(denied, allowed, plain)
}

// coversWrite says whether an allow rule write or write:GLOB covers a path. A sensitive one must be spelled out whole, so
// that no wide rule covers it by chance.
func (r Rules) coversWrite(glob string, p Path, delicate bool) bool {
	if glob == "" {
		return p.Inside && !delicate
	}
	if delicate {
		full, absolute := r.pattern(glob)
		return full == escape(p.Abs) && absolute || p.Inside && full == escape(p.Rel)
	}
	return r.allows(glob, p)
}

// suggest returns the rule's text if it reads back as that rule.
func suggest(r Rule) string {
	if back, err := ParseRule(r.String()); err != nil || back != r {
		return ""
	}
	return r.String()
}

func (r Rules) mcp(a MCP) Decision {
	name := a.Server + "/" + a.Tool
	plain := ask("Tools of MCP servers are asked about.")
	rule := Rule{"mcp", name}
	if plain.Suggest = suggest(rule); plain.Suggest != "" {
		plain.Always = &Grant{rule, "MCP tool " + name}
	}
	covers := func(x Rule) bool { return x.Kind == "mcp" && (x.Arg == a.Server || x.Arg == name) }
	return r.judge(covers, covers, plain)
}
