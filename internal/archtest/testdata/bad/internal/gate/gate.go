// Package gate changes the disk past pass and lets handles out.
package gate

import (
	"os"
	"os/exec"
)

type effects struct{ g *Gate }

func (e effects) remove(name string) error { return erase(name) }

// erase is reached from an effect, and so is free.
func erase(name string) error { return os.Remove(name) }

// Gate has an exported field that is a handle.
type Gate struct {
	Root *os.Root // want: gate exports os.Root
}

func pass[T any](g *Gate, judge bool, effect func(effects) (T, error)) (T, error) {
	var none T
	if !judge {
		return none, os.ErrPermission
	}
	return effect(effects{g})
}

// Good goes through pass.
func (g *Gate) Good(name string) error {
	_, err := pass(g, true, func(e effects) (int, error) { return 0, e.remove(name) })
	return err
}

// Bad makes an effect itself.
func (g *Gate) Bad(name string) error {
	return effects{g}.remove(name) // want: Bad makes effects past pass
}

// Worse needs no effect at all.
func (g *Gate) Worse(name string) error { // want: Worse changes something past pass
	return spoil(name)
}

func spoil(name string) error { return os.WriteFile(name, nil, 0o600) }

// Start starts a program unjudged.
func (g *Gate) Start(name string) error { // want: Start changes something past pass
	return begin(g.Leak(name))
}

func begin(cmd *exec.Cmd) error { return cmd.Start() }

// Leak lets a process out.
func (g *Gate) Leak(name string) *exec.Cmd { // want: gate exports os/exec.Cmd
	return exec.Command(name)
}
