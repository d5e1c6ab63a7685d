package jsonl

import (
	"slices"

	"anchor/internal/event"
)

// Result is the last line of a headless run. The fields up to Usage are always there, in this order; the others only when
// there is something to tell.
type Result struct {
	Type         string          `json:"type"`
	Status       string          `json:"status"`
	Text         string          `json:"text"`
	Check        *string         `json:"check"`
	FilesChanged []string        `json:"files_changed"`
	Session      string          `json:"session"`
	Usage        event.Usage     `json:"usage"`
	Refusals     []event.Refusal `json:"refusals,omitempty"`
	Error        *event.Fault    `json:"error,omitempty"`
}

// TimedOut is the status of a run that --timeout ended. Its turn ends as cancelled; only the result tells the difference.
const TimedOut = "timed_out"

// Fold is the result of the events so far. Use NewFold.
type Fold struct{ r Result }

// NewFold returns the fold over no events: a run that failed before its first turn ended.
func NewFold() *Fold {
	return &Fold{Result{Type: "result", Status: event.Failed, FilesChanged: []string{}}}
}

// Add takes the next event. What a sub-agent used and changed counts, how its turns end does not.
func (f *Fold) Add(e event.Event) {
	own := true
	for nested, ok := e.(event.SubAgent); ok; nested, ok = e.(event.SubAgent) {
		e, own = nested.Event, false
	}
	switch e := e.(type) {
	case event.TurnEnd:
		if own {
			f.r.Status, f.r.Text, f.r.Error, f.r.Check = e.Reason, e.Text, e.Err, nil
		}
	case event.Check:
		if own && e.Outcome != "" {
			f.r.Check = &e.Outcome
		}
	case event.Usage:
		f.r.Usage = f.r.Usage.Add(e)
	case event.FileChanged:
		if !slices.Contains(f.r.FilesChanged, e.Path) {
			f.r.FilesChanged = append(f.r.FilesChanged, e.Path)
		}
	case event.Notice:
		if e.Refusal != nil {
			f.r.Refusals = append(f.r.Refusals, *e.Refusal)
		}
	}
}

// End says that the run ended in a way that no event tells; fault may be nil.
func (f *Fold) End(status string, fault *event.Fault) {
	f.r.Status, f.r.Text, f.r.Error, f.r.Check = status, "", fault, nil
}

// Result returns the result of the run.
func (f *Fold) Result(session string) Result {
	r := f.r
	r.Session = session
	if r.Status != event.Completed {
		r.Text = ""
	}
	return r
}
