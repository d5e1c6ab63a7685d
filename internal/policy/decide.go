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

// judge applies the rules to an action that no hard denial holds for. covers says whether a rule covers it, as one that denies
// or one that allows; plain is the decision without any rules.
func (r Rules) judge(covers func(x Rule, deny bool) bool, plain Decision) Decision {
	for _, s := range r.Deny {
		if covers(s.Rule, true) {
			return Decision{Verdict: Deny, Rule: s.String(), Reason: "The rule " + s.String() + " refuses it."}
		}
	}
	if plain.Verdict == Allow {
		return plain
	}
	for _, s := range r.Allow {
		if covers(s.Rule, false) {
			return Decision{Verdict: Allow, Rule: s.String(), Reason: "The rule " + s.String() + " allows it."}
		}
	}
	if r.Yolo {
		return Decision{Verdict: Allow, Rule: "--yolo", Reason: "Nothing is asked under --yolo."}
	}
	return plain
}

func allow(reason string) Decision { return Decision{Verdict: Allow, Rule: byDefault, Reason: reason} }

// ask asks, with the rule to suggest if there is one and, with a label, to grant as "always".
func ask(reason string, suggest Rule, label string) Decision {
	d := Decision{Verdict: Ask, Rule: byDefault, Reason: reason}
	if suggest.sound() {
		d.Suggest = suggest.String()
		if label != "" {
			d.Always = &Grant{suggest, label}
		}
	}
	return d
}

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
	var plain Decision
	switch {
	case p.Fault != "":
		plain = ask(p.Name+" can't be looked up: "+p.Fault+".", Rule{}, "")
	case p.Inside:
		plain = allow("Reading in the directory is allowed.")
	case p.Own:
		plain = allow(p.Name + " is one of anchor's own files that may be read.")
	default:
		plain = ask(p.Name+" lies outside the directory.", Rule{"read", escape(p.Abs)}, "")
	}
	return r.judge(func(x Rule, deny bool) bool {
		return x.Kind == "read" && (deny && r.denies(x.Arg, p) || !deny && p.Fault == "" && r.allows(x.Arg, p))
	}, plain)
}

func (r Rules) write(p Path) Decision {
	if kind := p.secretKind(); kind != "" {
		return secretFile(p, kind)
	}
	var plain Decision
	delicate, just := r.sensitive(p), Rule{"write", escape(p.Abs)}
	switch {
	case p.Fault != "":
		plain = ask(p.Name+" can't be looked up: "+p.Fault+".", Rule{}, "")
	case delicate != "":
		plain = ask(fmt.Sprintf("%s is %s, and writing there is asked about each time.", p.Name, delicate), just, "")
	case !p.Inside:
		plain = ask(p.Name+" lies outside the directory, and writing there is asked about each time.", just, "")
	default:
		plain = ask("Writing in the directory is asked about.", Rule{Kind: "write"}, "all file writes in the workspace")
	}
	return r.judge(func(x Rule, deny bool) bool {
		if x.Kind != "write" || !deny && p.Fault != "" {
			return false
		}
		if deny {
			return x.Arg == "" || r.denies(x.Arg, p)
		}
		return r.coversWrite(x.Arg, p, delicate != "")
	}, plain)
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

func (r Rules) mcp(a MCP) Decision {
	name := a.Server + "/" + a.Tool
	covers := func(x Rule, _ bool) bool { return x.Kind == "mcp" && (x.Arg == a.Server || x.Arg == name) }
	return r.judge(covers, ask("Tools of MCP servers are asked about.", Rule{"mcp", name}, "MCP tool "+name))
}
