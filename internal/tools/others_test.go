package tools

import (
	"context"
	"errors"
	"testing"

	"anchor/internal/tool"
)

// others stands for the user, the agents and the skills.
type others struct{ question tool.Question }

func (o *others) Ask(_ context.Context, q tool.Question) (string, bool, error) {
	o.question = q
	return "blue", q.Text != "dismiss", nil
}

func (o *others) Start(_ context.Context, task, agent, model string) (string, error) {
	if agent == "nobody" {
		return "", errors.New("there is no agent nobody; there are: reviewer")
	}
	return "agent-1", nil
}

func (o *others) Status(_ context.Context, id string, wait bool) (string, error) {
	return id + " runs", nil
}
func (o *others) Stop(_ context.Context, id string) (string, error) { return id + " stopped", nil }
func (o *others) Load(_ context.Context, name string) (string, error) {
	if name != "pdf" {
		return "", errors.New("there is no skill " + name + "; there are: pdf")
	}
	return "the body", nil
}

func TestOthers(t *testing.T) {
	b := lay(t, nil)
	o := &others{}
	b.env.Asker, b.env.Spawner, b.env.Skills = o, o, o
	b.want(b.call("agent", "task", "look"), tool.OK, "agent-1")
	b.want(b.call("agent", "task", " "), tool.Failed, "task is empty")
	b.want(b.call("agent", "task", "look", "agent", "nobody"), tool.Failed, "reviewer")
	b.want(b.call("agent_status", "id", "agent-1", "wait", true), tool.OK, "agent-1 runs")
	b.want(b.call("agent_stop", "id", "agent-1"), tool.OK, "agent-1 stopped")
	b.want(b.call("skill", "name", "pdf"), tool.OK, "the body")
	b.want(b.call("skill", "name", "doc"), tool.Failed, "there are: pdf")
	b.want(b.call("ask_user", "question", "which?", "options", []string{"red", "blue"}), tool.OK, "blue")
	b.want(b.call("ask_user", "question", "dismiss", "options", []string{"red"}), tool.OK, "dismissed")
	b.want(b.call("ask_user", "question", "which?", "options", []string{}), tool.Failed, "options is empty")
	if len(All(false, false, false)) != 7 {
		t.Error("more is offered than there is")
	}
	for _, x := range All(true, true, true) {
		name := x.Spec().Name
		if reads := name == "read_file" || name == "list_dir" || name == "glob" || name == "grep"; x.Spec().Parallel != reads || x.Spec().Uncounted != (name == "agent_status") {
			t.Errorf("%s: %+v", name, x.Spec())
		}
	}
}
