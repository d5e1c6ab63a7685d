package tools

import (
	"context"
	"fmt"
	"strings"

	"anchor/internal/tool"
)

// The tools that pass the gate by: sub-agents, questions, skills.

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

type askArgs struct {
	Question   string   `json:"question"`
	Options    []string `json:"options"`
	AllowOther bool     `json:"allow_other,omitempty" about:"take other answers too"`
}

func askUser() tool.Tool {
	return tool.Of(spec("ask_user", false, "Ask the user a multiple-choice question, where you can't go on without the answer."),
		func(a askArgs) string { return a.Question },
		func(ctx context.Context, env tool.Env, a askArgs) (tool.Result, error) {
			switch {
			case strings.TrimSpace(a.Question) == "":
				return tool.Fail("question is empty."), nil
			case len(a.Options) == 0 && !a.AllowOther:
				return tool.Fail("options is empty: give some, or allow_other."), nil
			}
			answer, ok, err := env.Asker.Ask(ctx, tool.Question{Text: a.Question, Options: a.Options, AllowOther: a.AllowOther, Call: env.CallID})
			if answer = "The user answered: " + answer; !ok {
				answer = "The user dismissed the question without an answer."
			}
			return tool.Done(answer), err
		})
}

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
