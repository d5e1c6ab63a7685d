package gate

import (
	"io/fs"
	"unicode/utf8"

	"anchor/internal/diff"
)

// Record is something the session keeps: Change or Seen.
type Record interface{ record() }

// Change is a file change by a file tool, enough to take it back.
type Change struct {
	Path    string      `json:"path"` // relative to the directory, or absolute outside it
	Created bool        `json:"created"`
	Deleted bool        `json:"deleted"`
	Mode    fs.FileMode `json:"mode"`    // before (or after, for Created)
	Reverse string      `json:"reverse"` // unified diff from new to old, masked; empty with Lossy
	After   string      `json:"after"`   // SHA-256 of the new content
	Lossy   bool        `json:"lossy"`   // a hunk held a secret or was no text: can't be taken back
}

// Seen says that a file was read whole.
type Seen struct {
	Path string `json:"path"`
	Sum  string `json:"sum"` // SHA-256 of the content
}

func (Change) record() {}
func (Seen) record()   {}

// changeOf describes the change of a draft for the session.
func (g *Gate) changeOf(d draft) Change {
	c := Change{Path: d.place.shown(), Created: !d.exists, Mode: d.mode, After: sumOf(d.new)}
	if c.Created {
		return c
	}
	c.Reverse = diff.Unified(d.new, d.old)
	if !utf8.ValidString(c.Reverse) || g.Mask(c.Reverse) != c.Reverse {
		c.Reverse, c.Lossy = "", true
	}
	return c
}
