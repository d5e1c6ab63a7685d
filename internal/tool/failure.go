package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"anchor/internal/gate"
)

// Failure turns an error of the gate's into the result of a failed call, with what to do next. Only the end of ctx is handed
// on as an error.
func Failure(ctx context.Context, err error) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	return Fail(Explain(err)), nil
}

// Explain says for the model what is wrong and what to do next.
func Explain(err error) string {
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
		return fmt.Sprintf("%s is a directory: use list_dir, or name a file in it.", special.Path)
	case errors.As(err, &special):
		return fmt.Sprintf("%s is a %s, not a regular file: it can't be used as one.", special.Path, special.Kind)
	case errors.As(err, &stale):
		return fmt.Sprintf("%s %s. Nothing was written.", stale.Path, stale.Reason)
	case errors.As(err, &path) && errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("%s does not exist. Look for its name with glob or list_dir.", path.Path)
	case errors.As(err, &path) && errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%s: the system gives no permission for it.", path.Path)
	case errors.As(err, &path):
		return fmt.Sprintf("%s: %v", path.Path, path.Err)
	}
	return err.Error()
}
