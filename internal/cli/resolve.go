package cli

import (
	"cmp"
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
	"anchor/internal/model"
	"anchor/internal/provider"
	"anchor/internal/provider/anthropic"
	"anchor/internal/provider/openai"
	"anchor/internal/provider/script"
)

// probeTime bounds how long a local server is looked for.
const probeTime = 700 * time.Millisecond

// choose finds the model of the run: the one that is set, else the default of the first provider with a key.
func (w *work) choose(ctx context.Context) (agent.Model, error) {
	if w.set.Model != "" {
		return w.resolve(string(w.set.Model))
	}
	for _, p := range w.set.Ordered() {
		if !p.Usable(w.sh.getenv) {
			continue
		}
		if name, err := w.defaultOf(ctx, p); err != nil {
			return agent.Model{}, err
		} else if name != "" {
			return w.describe(p, name)
		}
	}
	for _, l := range w.listAll(ctx, func(p config.Provider) bool { return p.Local }) {
		if len(l.models) > 0 {
			name := l.Name + "/" + l.models[0].ID
			if w.offer(name) {
				return w.resolve(name)
			}
			return agent.Model{}, usagef("no model to use: a local server has %s, use it with -m %s; or %s", name, name, gettingStarted)
		}
	}
	return agent.Model{}, w.noModel()
}

// gettingStarted tells a user without a model the shortest ways to one.
const gettingStarted = "set ANTHROPIC_API_KEY (or OPENAI_API_KEY, OPENROUTER_API_KEY, …), start a local server and use -m ollama/NAME, or see anchor demo, which needs no key"

// defaultOf names the model to use of a provider: the only one that its server lists or the settings describe, else the
// built-in default.
func (w *work) defaultOf(ctx context.Context, p config.Provider) (string, error) {
	usual := model.Default(p.Name)
	if len(p.Models) == 1 {
		for name := range p.Models {
			return name, nil
		}
	}
	if !p.Redirected || p.Type != config.OpenAI || len(p.Models) > 0 {
		return usual, nil
	}
	listed, err := w.list(ctx, p)
	switch {
	case err != nil:
		return "", usagef("the models of %s can't be listed (%v); name one with -m %s/NAME", p.BaseURL, err, p.Name)
	case len(listed) == 1:
		return listed[0].ID, nil
	case !lists(listed, usual):
		return "", usagef("%s has several models; choose one with -m %s/NAME (anchor models lists them)", p.BaseURL, p.Name)
	}
	return usual, nil
}

func lists(all []provider.Listed, name string) bool {
	return slices.ContainsFunc(all, func(l provider.Listed) bool { return l.ID == name })
}

// resolve finds the model that a name means: script:FILE, provider/name, or a bare name that belongs to the provider that
// describes it, that its prefix names, or that is the only one to be had.
func (w *work) resolve(name string) (agent.Model, error) {
	if file, ok := strings.CutPrefix(name, "script:"); ok {
		return w.scripted(file)
	}
	first, rest, named := strings.Cut(name, "/")
	if p, known := w.set.Providers[first]; known && rest != "" {
		return w.describe(p, rest)
	} else if known && named {
		return agent.Model{}, usagef("%s names no model; write it as %s/NAME (anchor models lists them)", name, first)
	}
	var names []string
	var usable []config.Provider
	for _, p := range w.set.Ordered() {
		if _, described := p.Models[name]; described {
			return w.describe(p, name)
		}
		if p.Usable(w.sh.getenv) {
			usable = append(usable, p)
		}
		names = append(names, p.Name)
	}
	if p, known := w.set.Providers[model.ProviderOf(name)]; known {
		return w.describe(p, name)
	}
	like := 0.7 // what stands before the slash is a provider's name, but where there is one alone it may be a maker's
	if len(usable) == 1 {
		like = 0.88
	}
	if near := model.Nearest(first, names, like); named && near != "" {
		return agent.Model{}, usagef("there is no provider %q; did you mean %s/%s?", first, near, rest)
	}
	if len(usable) == 1 {
		return w.describe(usable[0], name)
	}
	return agent.Model{}, usagef("no provider is known for the model %q; write it as PROVIDER/%s with one of %s", name, name, strings.Join(names, ", "))
}

// info is what is known of a model, the settings' word over the server's, which may be 0, over the table's.
func info(p config.Provider, name string, window int) model.Info {
	i := model.Lookup(name)
	own := p.Models[name]
	if window > 0 {
		i.Window, i.Known, i.Source = window, true, "server"
	}
	if own.ContextWindow > 0 {
		i.Window, i.Known, i.Source = int(own.ContextWindow), true, "config"
	}
	i.MaxOutput = cmp.Or(int(own.MaxOutput), i.MaxOutput)
	return i
}

// measure asks the server for the window of the model where the settings do not know it, and the table neither or it is the
// user's own server; and tells if nobody knows.
func (w *work) measure(ctx context.Context, m *agent.Model) {
	p, known := w.set.Providers[m.Provider]
	if known && m.Info.Source != "config" && (p.Local || !m.Info.Known) {
		listed, _ := w.list(ctx, p)
		if i := slices.IndexFunc(listed, func(l provider.Listed) bool { return l.ID == m.Name }); i >= 0 {
			window := listed[i].Window
			if window == 0 {
				window = w.ollama(ctx, p, m.Name)
			}
			m.Info = info(p, m.Name, window)
		}
	}
	if !m.Info.Known {
		w.notices = append(w.notices, fmt.Sprintf("the context window of %s is not known; %d tokens are assumed (set contextWindow in its provider's models)", m.Name, m.Info.Window))
	}
}

// ollama is the window of a model as Ollama tells it, 0 if the server is none. What Ollama has no room for it leaves out of a prompt in
// silence, so that is said where it may be.
func (w *work) ollama(ctx context.Context, p config.Provider, name string) int {
	if p.Type != config.OpenAI || !p.Local && !p.Redirected {
		return 0
	}
	tokens, most := w.wire(p, "").Window(ctx, name)
	if most && tokens > 0 {
		w.notices = append(w.notices, fmt.Sprintf("%s can have a window of %d tokens, but Ollama may load it with 4096 and cut longer prompts in silence; start it with OLLAMA_CONTEXT_LENGTH=%d or what fits into memory", name, tokens, min(tokens, 65536)))
	}
	return tokens
}

// listing is what a provider's server has, or why that can't be told.
type listing struct {
	config.Provider
	models []provider.Listed
	err    error
}

// listAll asks those providers that which picks for their models, side by side.
func (w *work) listAll(ctx context.Context, which func(config.Provider) bool) []listing {
	var out []listing
	for _, p := range w.set.Ordered() {
		if which(p) {
			out = append(out, listing{Provider: p})
		}
	}
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { out[i].models, out[i].err = w.list(ctx, out[i].Provider) })
	}
	wg.Wait()
	return out
}

// list asks a provider for its models. A local server answers at once or is not there.
func (w *work) list(ctx context.Context, p config.Provider) ([]provider.Listed, error) {
	limit := provider.ListTimeout
	if p.Local {
		limit = probeTime
	}
	return w.wire(p, "").Models(ctx, limit)
}

// key runs a keyCommand through the gate, with the user's whole environment, outside the project, without input, and returns the
// first line that it printed if it exited with 0. That is masked from then on.
func (w *work) key(ctx context.Context, command string) (string, error) {
	s, err := w.gate.StartServer(ctx, "bash", []string{"-c", "exec </dev/null\nout=$(\n" + command + "\n) && printf '%s\n' \"$out\""}, w.sh.env, w.dirs.Home)
	if err != nil {
		return "", err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { s.Close() })()
	out, _ := io.ReadAll(io.LimitReader(s, 64<<10))
	_ = s.Close() // after it all that the command complained of is there
	key, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	w.gate.Masker().Add("model key", key)
	switch {
	case ctx.Err() != nil:
		return "", errors.New("it did not end in time (10 s)")
	case key == "":
		return "", errors.New(cmp.Or(strings.TrimSpace(s.Stderr()), "it failed, or printed nothing"))
	}
	return key, nil
}

// wire makes the client of a provider for a model, without retry. The bound of replies is known for models of the vendor's own, and
// those that the settings describe; the Messages API must have one.
func (w *work) wire(p config.Provider, name string) *provider.Client {
	e := provider.Endpoint{Name: p.Name, BaseURL: string(p.BaseURL), KeyName: cmp.Or(string(p.KeyEnv), "keyCommand"), Headers: p.Headers, StallTimeout: w.set.StallTimeout.Time()}
	e.Key = func(ctx context.Context, refused string) (string, error) {
		if known, ok := w.keys.Load(p.Name); ok && known != refused {
			return known.(string), nil
		}
		key, err := p.Key(ctx, w.sh.getenv, w.key)
		if err == nil {
			w.keys.Store(p.Name, key)
		}
		return key, err
	}
	if p.Local {
		e.FirstByte = 10 * time.Minute // a local server may read a long prompt, or load the model, for minutes
	}
	if p.Type == config.Anthropic || p.Models[name].MaxOutput > 0 || model.ProviderOf(name) == p.Name {
		e.MaxTokens = info(p, name, 0).MaxOutput
	}
	if e.HTTP = w.http; p.Type == config.Anthropic {
		return anthropic.New(e)
	}
	return openai.New(e)
}

// describe tells what an agent needs to know of a model of a provider. What is wrong with the provider's settings is an error
// for exit code 2.
func (w *work) describe(p config.Provider, name string) (agent.Model, error) {
	if complaint := w.set.Misplaced(p); complaint != "" {
		return agent.Model{}, exit{exitUsage, complaint}
	}
	if !p.Usable(w.sh.getenv) && !p.Local && p.KeyEnv != "" {
		return agent.Model{}, usagef("no key for %s: set %s, or choose another model with -m", p.Name, p.KeyEnv)
	}
	if text := p.Warning(); text != "" && !slices.Contains(w.notices, text) {
		w.notices = append(w.notices, text)
	}
	return agent.Model{Provider: p.Name, Name: name, Info: info(p, name, 0), Open: func() provider.Provider { return provider.WithRetry(w.wire(p, name)) }}, nil
}

// scripted makes a model of a script file, one for all agents of the run.
func (w *work) scripted(file string) (agent.Model, error) {
	if w.o.model != "script:"+file {
		return agent.Model{}, usagef("script:FILE is taken from the flag --model only")
	}
	if file == "" {
		return agent.Model{}, usagef("--model: script: takes a file, as script:FILE")
	}
	text, err := userText("--model", file)
	if err != nil {
		return agent.Model{}, err
	}
	if w.script, err = script.Parse(file, []byte(text)); err != nil {
		return agent.Model{}, exit{exitUsage, err.Error()}
	}
	known := model.Info{Window: 200_000, MaxOutput: 32_000, Known: true, Source: "script"}
	return agent.Model{Provider: "script", Name: "script", Info: known, Open: func() provider.Provider {
		return provider.WithRetry(w.script)
	}}, nil
}
