package gate

import "anchor/internal/policy"

// Configure sets the rules and PassEnv of a gate that was made before they were known: the project's settings are read through
// it. It comes before the first command.
func (g *Gate) Configure(rules policy.Rules, passEnv []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rules.Dir, rules.Home = g.dir, g.o.Home
	g.rules, g.o.PassEnv = rules, passEnv
}
