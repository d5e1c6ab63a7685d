// Command anchor is a coding harness: one model works in one directory through a few tools, behind one gate.
package main

import (
	"os"

	"anchor/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
