// Package gate is the only way to the user's workspace, to processes and to servers. Every action takes the same path, policy → approval
// → effect, through one generic function, pass.
package gate

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"anchor/internal/event"
	"anchor/internal/policy"
	"anchor/internal/secret"
)

// Options make a Gate.
type Options struct {
	Dir       string             // to work in; it must exist
	Home      string             // the user's home directory, for ~ and for the denials
	Env       []string           // anchor's own environment ("K=V")
	Rules     policy.Rules       // the user's allow and deny rules and yolo
	Approver  Approver           // is asked; nil refuses what would ask
	Sink      event.Sink         // gets FileChanged, Diff, and the notices of refusals
	OutputDir string             // where whole outputs of commands go, 0600; empty: nowhere
	PassEnv   []string           // secret variables that commands may see
	Record    func(Record) error // gets what the session keeps of the gate's work; nil for none. An error fails the write
}

// Approver asks the user. Approve may be called by several goroutines at once. An error is a no.
type Approver interface {
	Approve(ctx context.Context, r Request) (Answer, error)
}

// Request is what the user is asked. All text in it is masked and shows control characters visibly.
type Request struct {
	// Title is Create PATH, Edit PATH, Overwrite PATH, Run command, Read PATH or Call MCP SERVER/TOOL, with the sub-agent's id in front
	// if one asks.
	Title  string
	Detail string // the diff for writes, the command as it will run, or the arguments
	Always string // the label of the "always" answer; empty if it is not offered
	Allow  string // the --allow rule that would cover it, empty if none would
	Call   string // the id of the tool call it belongs to, a sub-agent's with the agent's id and a slash in front; may be empty
}

// Answer is the user's. The zero answer is no.
type Answer struct {
	Yes, Always bool
	Reason      string // why not, for the model; may be empty
}

// Refusal is the error of an action that was not carried out.
type Refusal struct {
	Title  string
	Reason string // one sentence for the model and the user
	Allow  string // the --allow rule that would cover it, or empty
	Hard   bool
	ByUser bool // the user said no
}

func (r *Refusal) Error() string { return r.Reason }

// Gate judges and carries out. Use New, and For for a sub-agent. All methods may be called concurrently.
type Gate struct {
	*shared
	sink              event.Sink
	agent, tool, call string // who asks; may be empty
	byUser            bool   // its actions are the user's own: what would ask is allowed
	seen              *ledger

	programs map[string]bool // of a batch: which are planted
}

// shared is what a gate and the gates made from it have in common.
type shared struct {
	o            Options
	dir          string // absolute, links resolved
	masker       *secret.Masker
	learned      chan struct{} // closed once the masker knows the values of the directory's own secret files
	stopLearning context.CancelFunc
	jobs         jobs
	env          func() []string          // of every command
	vars         func() map[string]string // the same by name
	cleanPath    func() []string          // PATH without relative entries and those inside the directory
	confine      func(grants, func() error) error

	locks sync.Map // a chan struct{} for each file that was written

	asked sync.Map // the policy.Action of each open question, by the *context.CancelFunc that withdraws it

	mu      sync.Mutex
	rules   policy.Rules
	protect []string
	own     []string // files and folders that may be read unasked
}

// New returns a gate, or an error that says what is wrong with the directory. Close it: it learns the values of secret files in the
// background. On Linux, other processes can't look into this one's environment from then on.
func New(o Options) (*Gate, error) {
	abs, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("the current directory can't be found, was it removed? Go to one that exists: %w", err)
	}
	dir, err := filepath.EvalSymlinks(abs)
	if err == nil {
		var root *os.Root
		if root, err = os.OpenRoot(dir); err == nil {
			err = root.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the directory can't be used: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &shared{o: o, dir: dir, masker: secret.NewMasker(), learned: make(chan struct{}), stopLearning: stop, confine: confined,
		jobs: jobs{mark: rand.Text() + ".", live: map[*job]struct{}{}}}
	s.masker.AddEnv(o.Env)
	s.env = sync.OnceValue(s.commandEnv)
	s.vars = sync.OnceValue(func() map[string]string {
		vars := map[string]string{}
		for _, kv := range s.env() {
			name, value, _ := strings.Cut(kv, "=")
			vars[name] = value
		}
		return vars
	})
	s.cleanPath = sync.OnceValue(func() []string {
		return slices.DeleteFunc(s.searchPath(), func(entry string) bool {
			_, inside := s.within(resolved(entry))
			return inside || !filepath.IsAbs(entry)
		})
	})
	if o.OutputDir != "" {
		s.own = []string{resolved(o.OutputDir)}
	}
	hide()
	go s.learnSecrets(ctx)
	g := (&Gate{shared: s}).For(o.Sink, "")
	g.Configure(o.Rules, o.PassEnv)
	return g, nil
}

// Configure sets the rules and PassEnv of a gate that was made before they were known: the project's settings are read through it. It
// comes before the first command.
func (g *Gate) Configure(rules policy.Rules, passEnv []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rules.Dir, rules.Home = g.dir, g.o.Home
	g.rules, g.o.PassEnv = rules, passEnv
}

// For returns a gate with the same rules, grants, masker and approver whose events go to sink; approvals have agent in front of their
// titles; what was read through it is kept apart.
func (g *Gate) For(sink event.Sink, agent string) *Gate {
	return &Gate{shared: g.shared, sink: sink, agent: agent, seen: &ledger{files: map[string]reading{}}}
}

// With returns the same gate, what was read through it included, whose events go to sink.
func (g *Gate) With(sink event.Sink) *Gate {
	c := *g
	c.sink = sink
	return &c
}

// As returns the same gate for a call of a tool, which notices of refusals and requests name. call may be empty.
func (g *Gate) As(tool, call string) *Gate {
	c := *g
	c.tool, c.call = tool, call
	return &c
}

// Dir returns the directory, absolute, links resolved.
func (g *Gate) Dir() string { return g.dir }

// Mask masks secrets in text for the model, the events and the session. It waits until the directory's secret files are known.
func (g *Gate) Mask(text string) string {
	<-g.learned
	return g.masker.Mask(text)
}

// Masker returns the masker behind Mask. It may not know the directory's secret files yet.
func (g *Gate) Masker() *secret.Masker { return g.masker }

// Allow adds a grant for this session (an "always", /allow). It covers sub-agents too.
func (g *Gate) Allow(r policy.Rule) {
	g.mu.Lock()
	g.rules.Allow = append(slices.Clip(g.rules.Allow), policy.Sourced{Rule: r, Source: "always"})
	g.mu.Unlock()
	g.asked.Range(func(withdraw, a any) bool {
		if g.decide(a.(policy.Action)).Verdict == policy.Allow {
			(*withdraw.(*context.CancelFunc))()
		}
		return true
	})
}

// Own lets a file, or what is below a folder, be read unasked: a skill's files, an instruction file. Secrets stay denied.
func (g *Gate) Own(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.own = append(g.own, resolved(path))
}

// Protect refuses every write to files that match the globs, from now on, for sub-agents too.
func (g *Gate) Protect(globs []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.protect = append(g.protect, globs...)
}

// Every action takes one path, pass: it is judged by the policy; if it is not denied, it is looked at (the old content of a file, for the
// diff); if the policy asks, the user is asked; only then is it carried out.
//
// What changes or reads the user's things is a method of effects, and what only looks at them before the question is a method of looks.
// Only pass makes values of these types, and hands them to the functions it is given, so nothing is done past a judgement. The denials
// hold for looks too.

// looks can look at files before the user is asked. What is seen goes to the user, not to the model.
type looks struct{ *Gate }

// effects carry out what was judged. decision is the judgement.
type effects struct {
	looks
	decision policy.Decision
}

// ErrNotDone marks the error of an action that was cancelled before it was allowed: nothing of it happened.
var ErrNotDone = errors.New("not done")

// pass judges a, asks if need be, and carries effect out. look returns the detail to show; it is called if a is not denied, and its error
// ends the action.
func pass[T any](ctx context.Context, g *Gate, a policy.Action, title string,
	look func(looks) (detail string, err error), effect func(context.Context, effects) (T, error)) (none T, err error) {
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if g.agent != "" {
		title = g.agent + ": " + title
	}
	d := g.decide(a)
	if d.Verdict != policy.Ask && d.Verdict != policy.Allow {
		return none, &Refusal{Title: OneLine(g.Mask(title)), Reason: g.Mask(d.Reason), Hard: d.Hard}
	}
	detail, err := look(looks{g})
	if err == nil && d.Verdict == policy.Ask {
		err = g.ask(ctx, a, d, Request{Title: OneLine(g.Mask(title)), Detail: event.Visible(g.Mask(detail)), Allow: d.Suggest, Call: g.call})
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrNotDone, err)
	}
	if err != nil {
		return none, err
	}
	return effect(ctx, effects{looks{g}, d})
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

// ask puts the question. Its error is a Refusal, or ctx's. Without an approver the answer is no, with a notice. A grant that comes
// meanwhile and covers the action, an "always" for another question, withdraws the question and is its yes.
func (g *Gate) ask(ctx context.Context, a policy.Action, d policy.Decision, r Request) error {
	no := &Refusal{Title: r.Title, Allow: d.Suggest}
	if g.o.Approver == nil {
		no.Reason = "Not done, since nobody can be asked here: " + strings.TrimSuffix(g.Mask(d.Reason), ".") + "."
		hint := " No --allow rule covers it."
		if d.Suggest != "" {
			hint = fmt.Sprintf(" It is covered by --allow %q.", d.Suggest)
		}
		what, _, _ := strings.Cut(r.Title+": "+strings.ReplaceAll(strings.TrimSpace(r.Detail), "\n", "\u240a "), ": @@ ") // a diff is no part of it
		if r := []rune(what); len(r) > 300 {
			what = string(r[:300]) + "…"
		}
		g.sink(event.Notice{Message: "Refused: " + strings.TrimRight(what, ":. ") + "." + hint,
			Refusal: &event.Refusal{Tool: g.tool, Title: r.Title, Allow: d.Suggest}})
		return no
	}
	if d.Always != nil {
		r.Always = d.Always.Label
	}
	asking, withdraw := context.WithCancel(ctx)
	defer withdraw()
	g.asked.Store(&withdraw, a)
	defer g.asked.Delete(&withdraw)
	if g.decide(a).Verdict == policy.Allow { // by an "always" just before
		return nil
	}
	answer, err := g.o.Approver.Approve(asking, r)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && g.decide(a).Verdict == policy.Allow:
		return nil
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
