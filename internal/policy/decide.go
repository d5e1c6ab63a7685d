package policy

import (
	"fmt"
	"slices"
	"strings"

	"anchor/internal/denial"
	"anchor/internal/secret"
)

// The order of judgement is the same for every action: hard denials, deny rules, what is allowed by default, allow rules,
// yolo, and at last the question.

const byDefault = "default"

// Decide judges an action under the rules.
func Decide(a Action, r Rules) Decision {
	switch a := a.(type) {
	case Read:
		return r.file("read", a.Path)
	case Write:
		return r.file("write", a.Path)
	case Exec:
		return r.exec(a)
	case MCP:
		name := a.Server + "/" + a.Tool
		covers := func(x Rule, _ bool) bool { return x.Kind == "mcp" && (x.Arg == a.Server || x.Arg == name) }
		return r.judge(covers, ask("Tools of MCP servers are asked about.", Rule{"mcp", name}, "MCP tool "+name))
	}
	return Decision{Rule: byDefault, Reason: "This kind of action is not known, so it is refused."}
}

// judge applies the rules to an action that no hard denial holds for. covers says whether a rule covers it, as one that denies
// or one that allows; plain is the decision without any rules.
func (r Rules) judge(covers func(x Rule, deny bool) bool, plain Decision) Decision {
	if i := slices.IndexFunc(r.Deny, func(s Sourced) bool { return covers(s.Rule, true) }); i >= 0 {
		return Decision{Verdict: Deny, Rule: r.Deny[i].String(), Reason: "The rule " + r.Deny[i].String() + " refuses it."}
	}
	if plain.Verdict == Allow {
		return plain
	}
	if i := slices.IndexFunc(r.Allow, func(s Sourced) bool { return covers(s.Rule, false) }); i >= 0 {
		return Decision{Verdict: Allow, Rule: r.Allow[i].String(), Reason: "The rule " + r.Allow[i].String() + " allows it."}
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
	names := []string{p.Abs, p.Lexical, p.Name}
	if strings.HasSuffix(p.Abs, "/"+p.Name) { // most are alike, and one look is enough
		names = names[:1]
	}
	for _, name := range names {
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

// file judges the reading or writing of a file. A sensitive one must be spelled out whole in an allow rule, so that no wide rule
// covers it by chance; write alone covers the directory.
func (r Rules) file(kind string, p Path) Decision {
	if kind := p.secretKind(); kind != "" {
		return secretFile(p, kind)
	}
	delicate := ""
	if kind == "write" {
		if d := denial.Overwrites(p.Abs, "It"); d != nil {
			return hard(d.Rule, d.Reason)
		}
		delicate = r.sensitive(p)
	}
	covers := func(x Rule, deny bool) bool {
		switch {
		case x.Kind != kind, !deny && p.Fault != "":
			return false
		case deny:
			return x.Arg == "" || r.denies(x.Arg, p)
		case delicate != "" && x.Arg != "":
			full, absolute := r.pattern(x.Arg)
			return full == escape(p.Abs) && absolute || p.Inside && full == escape(p.Rel)
		case x.Arg == "":
			return p.Inside && delicate == ""
		}
		return r.allows(x.Arg, p)
	}
	const each = ", and writing there is asked about each time."
	just := Rule{kind, escape(p.Abs)}
	switch {
	case p.Fault != "":
		return r.judge(covers, ask(p.Name+" can't be looked up: "+p.Fault+".", Rule{}, ""))
	case kind == "read" && p.Inside:
		return r.judge(covers, allow("Reading in the directory is allowed."))
	case kind == "read" && p.Own:
		return r.judge(covers, allow(p.Name+" is one of anchor's own files that may be read."))
	case kind == "read":
		return r.judge(covers, ask(p.Name+" lies outside the directory.", just, ""))
	case delicate != "":
		return r.judge(covers, ask(p.Name+" is "+delicate+each, just, ""))
	case !p.Inside:
		return r.judge(covers, ask(p.Name+" lies outside the directory"+each, just, ""))
	}
	return r.judge(covers, ask("Writing in the directory is asked about.", Rule{Kind: "write"}, "all file writes in the workspace"))
}
