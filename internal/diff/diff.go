// Package diff makes unified diffs of texts and counts their lines. It is pure.
package diff

// Unified returns the hunks of a unified diff from old to new with three lines of context, without the two file lines.
// It is empty if they are equal. A missing final newline is marked as git does.
func Unified(old, new []byte) string { panic("not built") }

// Count returns how many lines a unified diff adds and removes.
func Count(unified string) (added, removed int) { panic("not built") }
