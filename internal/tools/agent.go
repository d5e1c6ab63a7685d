package tools

import (
	"context"
	"fmt"
	"strings"

	"anchor/internal/tool"
)

type agentArgs struct {
	Task  string `json:"task" about:"all it needs to know: it sees nothing of this conversation"`
	Agent string `json:"agent,omitempty" about:"name of a definition"`
	Model string `json:"model,omitempty"`
}

func agent() tool.Tool {
	return tool.Of(spec("agent", false, "Start a sub-agent on one task, in the background. Its result comes to you by itself."),
		func(a agentArgs) string { return a.Task },
		func(ctx context.Context, env tool.Env, a agentArgs) (tool.Result, error) {
			if strings.TrimSpace(a.Task) == "" {
				return tool.Fail("task is empty: say what is to be done."), nil
			}
			id, err := env.Spawner.Start(ctx, a.Task, a.Agent, a.Model)
			return tool.Done(fmt.Sprintf("Started %s. Its result will come as a note when it ends; agent_status tells how it goes.", id)), err
		})
}

type agentStatusArgs struct {
	ID   string `json:"id,omitempty" about:"default: all"`
	Wait bool   `json:"wait,omitempty" about:"until it (without id: one of them) ends"`
}

func agentStatus() tool.Tool {
	s := spec("agent_status", false, "Tell how sub-agents are doing.")
	s.Uncounted = true
	return tool.Of(s, func(a agentStatusArgs) string { return a.ID },
		func(ctx context.Context, env tool.Env, a agentStatusArgs) (tool.Result, error) {
			text, err := env.Spawner.Status(ctx, a.ID, a.Wait)
			return tool.Done(text), err
		})
}

type agentStopArgs struct {
	ID string `json:"id"`
}

func agentStop() tool.Tool {
	return tool.Of(spec("agent_stop", false, "Stop a sub-agent."),
		func(a agentStopArgs) string { return a.ID },
		func(ctx context.Context, env tool.Env, a agentStopArgs) (tool.Result, error) {
			text, err := env.Spawner.Stop(ctx, a.ID)
			return tool.Done(text), err
		})
}
