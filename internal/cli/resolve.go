package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"anchor/internal/agent"
	"anchor/internal/config"
	"anchor/internal/gate"
	"anchor/internal/model"
	"anchor/internal/provider"
	"anchor/internal/provider/anthropic"
	"anchor/internal/provider/openai"
	"anchor/internal/provider/script"
)

// probeTime bounds how long local servers are looked for.
const probeTime = 700 * time.Millisecond

// choose finds the model of the run: the one that is set, else the default of the first provider with a key.
func (b *setup) choose(ctx context.Context, keys keyRunner) (agent.Model, error) {
	if b.set.Model != "" {
		return b.resolve(b.set.Model, keys)
	}
	for _, p := range b.set.Ordered() {
		if !p.Usable(b.sh.getenv) {
			continue
		}
		name, err := b.defaultOf(ctx, p, keys)
		if err != nil {
			return agent.Model{}, err
		}
		if name != "" {
			return b.open(p, name, keys)
		}
	}
	return agent.Model{}, usageError{gettingStarted(b.localModels(ctx))}
}

// defaultOf names the model to use of a provider: the only one that its server lists or the settings describe, else the
// built-in default.
func (b *setup) defaultOf(ctx context.Context, p config.Provider, keys keyRunner) (string, error) {
	if p.Redirected && p.Type == config.OpenAI && len(p.Models) == 0 {
		listed, err := b.list(ctx, p, keys, provider.ListTimeout)
		usual := model.Default(p.Name)
		switch has := func(m provider.Listed) bool { return m.ID == usual }; {
		case err != nil:
			return "", usagef("the models of %s can't be listed (%v); name one with -m %s/NAME", p.BaseURL, err, p.Name)
		case len(listed) == 1:
			return listed[0].ID, nil
		case !slices.ContainsFunc(listed, has):
			return "", usagef("%s has several models; choose one with -m %s/NAME (anchor models lists them)", p.BaseURL, p.Name)
		}
	}
	if len(p.Models) == 1 {
		for name := range p.Models {
			return name, nil
		}
	}
	return model.Default(p.Name), nil
}

// resolve finds the model that a name means: script:FILE, provider/name, or a bare name that belongs to the provider that
// describes it, that its prefix names, or that is the only one to be had.
func (b *setup) resolve(name string, keys keyRunner) (agent.Model, error) {
	if file, ok := strings.CutPrefix(name, "script:"); ok {
		return b.scripted(file)
	}
	if first, rest, ok := strings.Cut(name, "/"); ok && rest != "" {
		if p, known := b.set.Providers[first]; known {
			return b.open(p, rest, keys)
		}
	}
	var usable []config.Provider
	for _, p := range b.set.Ordered() {
		if _, described := p.Models[name]; described {
			return b.open(p, name, keys)
		}
		if p.Usable(b.sh.getenv) {
			usable = append(usable, p)
		}
	}
	if p, known := b.set.Providers[model.ProviderOf(name)]; known {
		return b.open(p, name, keys)
	}
	if len(usable) == 1 {
		return b.open(usable[0], name, keys)
	}
	return agent.Model{}, usagef("no provider is known for the model %q; write it as PROVIDER/%s with one of %s", name, name, strings.Join(b.providerNames(), ", "))
}

func (b *setup) providerNames() []string {
	var names []string
	for _, p := range b.set.Ordered() {
		names = append(names, p.Name)
	}
	return names
}

// info is what is known of a model, with the settings' word over the table's.
func info(p config.Provider, name string) model.Info {
	i := model.Lookup(name)
	own := p.Models[name]
	if own.ContextWindow > 0 {
		i.Window, i.Known, i.Source = int(own.ContextWindow), true, "config"
	}
	if own.MaxOutput > 0 {
		i.MaxOutput = int(own.MaxOutput)
	}
	return i
}

// gettingStarted is the message of a run without a model: the shortest ways to one.
func gettingStarted(local []string) string {
	text := "no model to use: "
	if len(local) > 0 {
		text += fmt.Sprintf("a local server has %s, use it with -m %s; or ", local[0], local[0])
	}
	return text + "set ANTHROPIC_API_KEY (or OPENAI_API_KEY, OPENROUTER_API_KEY, …), start a local server and use -m ollama/NAME, or see anchor demo, which needs no key"
}

// localModels looks for local servers, side by side, and returns what they have as provider/name.
func (b *setup) localModels(ctx context.Context) []string {
	var wg sync.WaitGroup
	found := make([][]string, len(b.set.Ordered()))
	for i, p := range b.set.Ordered() {
		if !p.Local {
			continue
		}
		wg.Go(func() {
			names, _ := b.list(ctx, p, nil, probeTime)
			for _, m := range names {
				found[i] = append(found[i], p.Name+"/"+m.ID)
			}
		})
	}
	wg.Wait()
	return slices.Concat(found...)
}

// list asks a provider for its models, within the time. keys may be nil for servers without one.
func (b *setup) list(ctx context.Context, p config.Provider, keys keyRunner, limit time.Duration) ([]provider.Listed, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	wire, err := b.wire(p, keys)
	if err != nil {
		return nil, err
	}
	lister, ok := wire.(provider.Lister)
	if !ok {
		return nil, nil
	}
	return lister.Models(ctx)
}

// keyRunner runs a keyCommand and returns what it printed.
type keyRunner = func(ctx context.Context, command string) (string, error)

// keys starts keyCommands through the gate, with the user's whole environment, outside the project. What they print is masked
// from then on.
func (b *setup) keys(g *gate.Gate) keyRunner {
	return func(ctx context.Context, command string) (string, error) {
		s, err := g.StartServer(ctx, "bash", []string{"-c", command}, b.sh.env, b.dirs.Home)
		if err != nil {
			return "", err
		}
		defer s.Close()
		defer context.AfterFunc(ctx, func() { s.Close() })()
		out, err := io.ReadAll(io.LimitReader(s, 64<<10))
		if ctx.Err() != nil {
			return "", errors.New("it did not end in time (10 s)")
		}
		g.Masker().Add("model key", strings.TrimSpace(string(out)))
		if err == nil && len(bytes.TrimSpace(out)) == 0 {
			err = errors.New(or(strings.TrimSpace(s.Stderr()), "it printed nothing"))
		}
		return string(out), err
	}
}

// wire makes the client of a provider, without retry.
func (b *setup) wire(p config.Provider, keys keyRunner) (provider.Provider, error) {
	e := provider.Endpoint{Name: p.Name, BaseURL: string(p.BaseURL), KeyName: or(p.KeyEnv, "keyCommand"), Headers: p.Headers, StallTimeout: b.set.StallTimeout.Time()}
	e.Key = func(ctx context.Context) (string, error) { return p.Key(ctx, b.sh.getenv, keys) }
	if p.Local {
		e.FirstByte = 10 * time.Minute // a local server may read a long prompt, or load the model, for minutes
	}
	if p.Type == config.Anthropic {
		return anthropic.New(e)
	}
	return openai.New(e)
}

// open describes a model of a provider. What is wrong with the provider's settings is an error for exit code 2.
func (b *setup) open(p config.Provider, name string, keys keyRunner) (agent.Model, error) {
	if complaint := b.set.Misplaced(p); complaint != "" {
		return agent.Model{}, usageError{complaint}
	}
	if !p.Usable(b.sh.getenv) && !p.Local && p.KeyEnv != "" {
		return agent.Model{}, usagef("no key for %s: set %s, or choose another model with -m", p.Name, p.KeyEnv)
	}
	if _, err := b.wire(p, keys); err != nil {
		return agent.Model{}, usageError{err.Error()}
	}
	b.notices = append(b.notices, p.Warnings()...)
	return agent.Model{Provider: p.Name, Name: name, Info: info(p, name), Open: func() provider.Provider {
		wire, err := b.wire(p, keys)
		if err != nil {
			panic(err) // it was made once before, from the same settings
		}
		return provider.WithRetry(wire, provider.RetryOptions{})
	}}, nil
}

// scripted makes a model of a script file, one for all agents of the run.
func (b *setup) scripted(file string) (agent.Model, error) {
	if b.set.From["model"] != "--model" {
		return agent.Model{}, usagef("script:FILE is taken from the flag --model only")
	}
	text, err := userText("--model", file)
	if err != nil {
		return agent.Model{}, err
	}
	b.script, err = script.Parse(file, []byte(text))
	if err != nil {
		return agent.Model{}, usageError{err.Error()}
	}
	known := model.Info{Window: 200_000, MaxOutput: 32_000, Known: true, Source: "script"}
	return agent.Model{Provider: "script", Name: "script", Info: known, Open: func() provider.Provider {
		return provider.WithRetry(b.script, provider.RetryOptions{})
	}}, nil
}

// unused tells which replies of a script were not asked for: whoever wrote it expected something else.
func (b *setup) unused() []string {
	if b.script == nil {
		return nil
	}
	return b.script.Unused()
}
