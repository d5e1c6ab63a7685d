package tool

import (
	"context"
	"errors"
	"io/fs"

	"anchor/internal/gate"
)

// Failure turns an error of the gate's into the result of a failed call, with what to do next. Only the end of ctx is handed
// on as an error.
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
