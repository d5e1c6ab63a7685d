// Package home is anchor's own place on disk: settings, sessions, saved output, tokens. It and gate are the only packages
// that touch files.
package home

import "os"

// Dirs are anchor's own directories; they need not exist. Made by Find, handed down as a value.
type Dirs struct {
	Config string // $XDG_CONFIG_HOME/anchor, default ~/.config/anchor
	State  string // $XDG_STATE_HOME/anchor, default ~/.local/state/anchor
	Home   string // the user's home directory
}

// Find works them out from an environment. A leading ~/ in a variable is expanded; a relative XDG value is ignored as the
// XDG specification says. The error says that there is no home directory.
func Find(getenv func(string) string) (Dirs, error) { panic("not built") }

// Read reads a file of anchor's own, at most max bytes.
func Read(path string, max int64) ([]byte, error) { panic("not built") }

// Write replaces a file atomically, 0600, making its directories 0700.
func Write(path string, data []byte) error { panic("not built") }

// Append opens a file for appending, 0600, making its directories 0700.
func Append(path string) (*os.File, error) { panic("not built") }

// Lock takes an exclusive lock on path without waiting. held is false if somebody else has it.
func Lock(path string) (unlock func() error, held bool, err error) { panic("not built") }
