// Command anchor is a coding harness: one model works in one directory through a few tools, behind one gate.
package main

import (
	"os"

	"anchor/internal/cli"
	"anchor/internal/gate"
)

func main() {
	// Anchor starts itself again in this way to confine a command; nothing else may happen before.
	if len(os.Args) > 1 && os.Args[1] == "__confine" {
		os.Exit(gate.Confine(os.Args[1:]))
	}
	os.Exit(cli.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
