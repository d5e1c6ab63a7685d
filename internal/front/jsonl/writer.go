// Package jsonl is the face for programs: events as JSON, one object a line, and the editor protocol over it, as
// docs/json.md has them.
package jsonl

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"anchor/internal/event"
)

//go:embed schema.json
var schemaFile string

// Schema is the JSON Schema (2020-12) of every line that anchor writes and takes. It is made from the types by a test.
func Schema() string { return schemaFile }

// Writer owns standard output: whole lines, each written at once. Safe for concurrent use.
type Writer struct {
	mu      sync.Mutex
	enc     *json.Encoder
	verbose bool
	gone    func(error)
	err     error // of the first write that failed
}

// NewWriter returns a writer. With verbose it shows all events. gone is called once, when nothing can be written any more
// (the reader went away); what comes later is dropped.
func NewWriter(out io.Writer, verbose bool, gone func(error)) *Writer {
	w := &Writer{enc: json.NewEncoder(out), verbose: verbose, gone: gone}
	w.enc.SetEscapeHTML(false)
	return w
}

// Event writes an event; it is a Sink.
func (w *Writer) Event(e event.Event) {
	if !w.verbose && event.Verbose(e) {
		return
	}
	line, err := event.Marshal(e, w.verbose)
	if err != nil {
		panic(err) // an event without a form: a fault of the program that no run survives
	}
	w.line(json.RawMessage(line))
}

// Result writes the final line of a headless run.
func (w *Writer) Result(r Result) { w.line(r) }

// line writes v. After a failure nothing more is written.
func (w *Writer) line(v any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	if err := w.enc.Encode(v); err != nil {
		w.err = fmt.Errorf("standard output can't be written: %w", err)
		w.gone(w.err)
	}
}

// Err returns why nothing can be written any more, nil if it can.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
