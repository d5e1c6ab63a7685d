// Package jsonl is the face for programs: events as JSON, one object a line, and the editor protocol over it, as
// docs/json.md has them.
package jsonl

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"anchor/internal/event"
)

// Writer owns standard output: whole lines, each written at once. Safe for concurrent use.
type Writer struct {
	mu      sync.Mutex
	out     io.Writer
	verbose bool
	gone    func(error)
	failed  bool
}

// NewWriter returns a writer. With verbose it shows all events. gone is called once, when nothing can be written any more
// (the reader went away); what comes later is dropped.
func NewWriter(out io.Writer, verbose bool, gone func(error)) *Writer {
	return &Writer{out: out, verbose: verbose, gone: gone}
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
	w.line(line)
}

// Result writes the final line of a headless run.
func (w *Writer) Result(r Result) { w.line(encode(r)) }

func (w *Writer) line(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed {
		return
	}
	if _, err := w.out.Write(append(line, '\n')); err != nil {
		w.failed = true
		w.gone(err)
	}
}

func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // plain structs of strings and numbers
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
