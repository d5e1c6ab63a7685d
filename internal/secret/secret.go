// Package secret knows secrets by the names of files and by the shape and value of text. It is pure.
package secret

// Masker masks secret values in text. It is safe for concurrent use.
type Masker struct{}

// NewMasker returns a masker that knows the curated shapes and no values yet.
func NewMasker() *Masker { panic("not built") }

// Add teaches the masker values, each with the name under which it is shown as masked: "environment variable GH_TOKEN".
// Values under 8 characters are ignored; each line of a multi-line value counts too.
func (m *Masker) Add(name string, value string) { panic("not built") }

// AddEnv teaches it the values of the variables ("K=V") whose names or values say secret.
func (m *Masker) AddEnv(env []string) { panic("not built") }

// AddFile teaches it the values in the content of a secret file.
func (m *Masker) AddFile(path string, content []byte) { panic("not built") }

// Mask returns text with every secret replaced by "[masked: KIND]". Masking twice changes nothing more.
func (m *Masker) Mask(text string) string { panic("not built") }

// Given returns the masks in text that this masker has given out.
func (m *Masker) Given(text string) []string { panic("not built") }

// Stream returns a writer's filter that masks as Mask does, over a text that comes in pieces: Next takes a piece and
// returns what can be let out now (whole lines), Rest returns what was held back. Memory is bounded.
func (m *Masker) Stream() *Stream { panic("not built") }

// Stream is a masking filter for one text. Not for concurrent use.
type Stream struct{}

// Next takes a piece and returns what can be let out.
func (s *Stream) Next(p []byte) []byte { panic("not built") }

// Rest ends the text and returns what was held back.
func (s *Stream) Rest() []byte { panic("not built") }

// Variable says whether an environment variable's name says that its value is a secret.
func Variable(name string) bool { panic("not built") }
