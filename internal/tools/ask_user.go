package tools

import (
	"context"
	"strings"

	"anchor/internal/tool"
)

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
