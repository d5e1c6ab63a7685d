// Package agent starts programs and goes to the network by itself.
package agent

import (
	"net/http"
	"os/exec"

	"anchor/internal/archtest/testdata/bad/internal/tools" // want: agent may not import tools
)

// Do does all of it.
func Do() error {
	if err := tools.Run("x"); err != nil {
		return err
	}
	if _, err := http.Get("http://127.0.0.1:1/"); err != nil { // want: agent may not use net/http.Get
		return err
	}
	return exec.Command("true").Run() // want: agent may not use os/exec.Command
}
