package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"anchor/internal/event"
	"anchor/internal/policy"
)

// Every action takes one path, pass: it is judged by the policy; if it is not denied, it is looked at (the old content of
// a file, for the diff); if the policy asks, the user is asked; only then is it carried out.
//
// What changes or reads the user's things is a method of effects, and what only looks at them before the question is a
// method of looks. Only pass makes values of these types, and hands them to the functions it is given, so nothing is done
// past a judgement. The denials hold for looks too.

// looks can look at files before the user is asked. What is seen goes to the user, not to the model.
type looks struct{ *Gate }

// effects carry out what was judged. decision is the judgement.
type effects struct {
	looks
	decision policy.Decision
}

// pass judges a, asks if need be, and carries effect out. look returns the detail to show; it is called if a is not denied,
// and its error ends the action.
func pass[T any](ctx context.Context, g *Gate, a policy.Action, title string,
	look func(looks) (detail string, err error), effect func(context.Context, effects) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	d := g.decide(a)
	if d.Verdict != policy.Ask && d.Verdict != policy.Allow {
		return none, &Refusal{Title: g.titled(title), Reason: g.Mask(d.Reason), Hard: d.Hard}
	}
	detail, err := look(looks{g})
	if err == nil && d.Verdict == policy.Ask {
		err = g.ask(ctx, d, Request{Title: g.titled(title), Detail: g.show(detail), Allow: d.Suggest})
	}
	if err != nil {
		return none, err
	}
	return effect(ctx, effects{looks{g}, d})
}

// titled is a title as it is shown.
func (g *Gate) titled(title string) string {
	if g.agent != "" {
		title = g.agent + ": " + title
	}
	return g.show(title)
}

// nothing is the look of an action that has no detail to find out.
func nothing(looks) (string, error) { return "", nil }

// CallMCP passes a call of a server's tool: args are shown to the user if policy asks.
func CallMCP[T any](ctx context.Context, g *Gate, server, tool string, args json.RawMessage, call func(context.Context) (T, error)) (T, error) {
	show := func(looks) (string, error) {
		var b bytes.Buffer
		if json.Indent(&b, args, "", "  ") != nil {
			return string(args), nil
		}
		return b.String(), nil
	}
	return pass(ctx, g, policy.MCP{Server: server, Tool: tool}, "Call MCP "+server+"/"+tool, show,
		func(ctx context.Context, _ effects) (T, error) { return call(ctx) })
}

// decide judges an action under the rules of now.
func (g *Gate) decide(a policy.Action) policy.Decision {
	g.mu.Lock()
	rules := g.rules
	g.mu.Unlock()
	d := policy.Decide(a, rules)
	if g.byUser && d.Verdict == policy.Ask {
		d.Verdict = policy.Allow
	}
	return d
}

// ask puts the question. Its error is a Refusal, or ctx's. Without an approver the answer is no, with a notice.
func (g *Gate) ask(ctx context.Context, d policy.Decision, r Request) error {
	no := &Refusal{Title: r.Title, Allow: d.Suggest}
	if g.o.Approver == nil {
		no.Reason = "Not done, since nobody can be asked here: " + strings.TrimSuffix(g.Mask(d.Reason), ".") + "."
		hint := " No --allow rule covers it."
		if d.Suggest != "" {
			hint = fmt.Sprintf(" It is covered by --allow %q.", d.Suggest)
		}
		what, _, _ := strings.Cut(r.Title+": "+r.Detail, "\n")
		what, _, _ = strings.Cut(what, ": @@ ") // a diff is no part of it
		g.sink(event.Notice{Message: "Refused: " + strings.TrimSuffix(what, ": ") + hint,
			Refusal: &event.Refusal{Tool: g.tool, Title: r.Title, Allow: d.Suggest}})
		return no
	}
	if d.Always != nil {
		r.Always = d.Always.Label
	}
	answer, err := g.o.Approver.Approve(ctx, r)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		no.Reason = "Not done: the question was not answered (" + err.Error() + ")."
		return no
	case !answer.Yes:
		no.ByUser, no.Reason = true, "The user said no."
		if answer.Reason != "" {
			no.Reason = "The user said no: " + answer.Reason
		}
		return no
	}
	if answer.Always && d.Always != nil {
		g.Allow(d.Always.Rule)
	}
	return nil
}

// show masks text and makes what a terminal would act upon visible: control characters but newline and tab, characters
// that change the direction of writing, and those that can't be seen.
func (g *Gate) show(text string) string {
	var b strings.Builder
	for _, r := range g.Mask(text) {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != '\u200d':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
