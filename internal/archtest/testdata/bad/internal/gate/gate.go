// Package gate reaches effects past pass and lets a handle out.
package gate

import (
	"os"
	"os/exec"
)

type effects struct{ root *os.Root }

func (e effects) remove(name string) error { return e.root.Remove(name) }

func (e effects) sweep(names []string) {
	for _, n := range names {
		_ = e.remove(n) // one effect may use another
	}
}

// Gate has an exported field that is a handle.
type Gate struct {
	Root *os.Root // want: gate exports os.Root
	do   effects
}

func pass[T any](judge bool, effect func() (T, error)) (T, error) {
	var none T
	if !judge {
		return none, os.ErrPermission
	}
	return effect()
}

// Good goes through pass.
func (g *Gate) Good(name string) error {
	_, err := pass(true, func() (int, error) { return 0, g.do.remove(name) })
	return err
}

// Bad does not.
func (g *Gate) Bad(name string) error {
	return g.do.remove(name) // want: the effect remove is reached past pass
}

// Worse hands the effect on as a value.
func (g *Gate) Worse() func([]string) {
	return g.do.sweep // want: the effect sweep is reached past pass
}

// Start lets a process out.
func (g *Gate) Start(name string) *exec.Cmd { // want: gate exports os/exec.Cmd
	return exec.Command(name)
}
