// Package tools is a tool that does the work itself.
package tools

import (
	"os" // want: tools may not import os
)

// Run writes without asking anybody.
func Run(name string) error {
	return os.WriteFile(name, nil, 0o600) // want: tools may not use os.WriteFile
}
