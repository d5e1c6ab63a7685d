package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"unicode"

	"anchor/internal/gate"
)

// Of makes a tool of a function that takes its arguments as a struct; args.go says which, and how they are read. What does
// not fit is a failed result that says what is wrong and what the tool takes. An error of run is the call's: it becomes a
// failed result by way of Failure.
func Of[A any](s Spec, summary func(A) string, run func(context.Context, Env, A) (Result, error)) Tool {
	s.Schema = json.RawMessage(schema(reflect.TypeFor[A]()))
	return &of[A]{s, summary, run}
}

type of[A any] struct {
	spec    Spec
	summary func(A) string
	run     func(context.Context, Env, A) (Result, error)
}

func (t *of[A]) Spec() Spec { return t.spec }

func (t *of[A]) Summary(args json.RawMessage) string {
	a, fault := t.read(args)
	if fault != "" {
		return oneLine(string(args))
	}
	return oneLine(t.summary(a))
}

func (t *of[A]) Run(ctx context.Context, env Env, args json.RawMessage) (Result, error) {
	a, fault := t.read(args)
	if fault != "" {
		return Fail(fault), nil
	}
	r, err := t.run(ctx, env, a)
	if err == nil || ctx.Err() != nil {
		return r, err
	}
	return Failure(ctx, err)
}

// read returns the arguments, or what is wrong with them.
func (t *of[A]) read(args json.RawMessage) (a A, fault string) {
	if faults := read(args, reflect.ValueOf(&a).Elem()); faults != nil {
		fault = fmt.Sprintf("The call was wrong, nothing was done: %s. %s takes %s", strings.Join(faults, "; "), t.spec.Name, t.spec.Schema)
	}
	return a, fault
}

// maxSummary is the most characters that a summary has.
const maxSummary = 120

// oneLine makes text one short line without control characters.
func oneLine(text string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	runes := []rune(strings.Join(words, " "))
	if len(runes) > maxSummary {
		runes = append(runes[:maxSummary-1], '…')
	}
	return string(runes)
}

// Failure turns an error of the gate's into the result of a failed call. Only the end of ctx is handed on as an error.
func Failure(ctx context.Context, err error) (Result, error) {
	if errors.Is(err, gate.ErrNotDone) {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	return Fail(explain(err)), nil
}

func explain(err error) string {
	var (
		refusal *gate.Refusal
		special *gate.NotRegular
		stale   *gate.StaleError
		path    *fs.PathError
	)
	switch {
	case errors.As(err, &refusal) && refusal.Hard:
		return "Refused: " + refusal.Reason + " This is never allowed; go another way or tell the user."
	case errors.As(err, &refusal):
		return "Refused: " + refusal.Reason
	case errors.As(err, &special) && special.Kind == "directory":
		return special.Path + " is a directory: use list_dir, or name a file in it."
	case errors.As(err, &special):
		return special.Error() + ", not a regular file: it can't be used as one."
	case errors.As(err, &stale):
		return stale.Error() + ". Nothing was written."
	case !errors.As(err, &path):
		return err.Error()
	case errors.Is(err, fs.ErrNotExist):
		return path.Path + " does not exist. Look for its name with glob or list_dir."
	}
	return path.Path + ": " + path.Err.Error()
}
