package tool

import "context"

type callKey struct{}

// WithCall returns a context that says which tool call is carried out in it, so that a face can tell whose question it is asked.
// A sub-agent's has the agent's id and a slash in front.
func WithCall(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// CallOf returns what WithCall kept, empty outside a call.
func CallOf(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}
