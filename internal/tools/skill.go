package tools

import (
	"context"

	"anchor/internal/tool"
)

type skillArgs struct {
	Name string `json:"name"`
}

func skill() tool.Tool {
	return tool.Of(spec("skill", false, "Load a skill's instructions before you do what it is for."),
		func(a skillArgs) string { return a.Name },
		func(ctx context.Context, env tool.Env, a skillArgs) (tool.Result, error) {
			text, err := env.Skills.Load(ctx, a.Name)
			return tool.Done(text), err
		})
}
