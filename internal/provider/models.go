package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Listed is a model that a server says it has. Window is in tokens, 0 where the server does not tell it.
type Listed struct {
	ID     string
	Window int
}

// Lister is a provider that can say which models its server has. It must not be called while a request runs.
type Lister interface {
	// Models asks the server, within a few seconds.
	Models(context.Context) ([]Listed, error)
}

// ListTimeout bounds a question for the models of a server.
const ListTimeout = 5 * time.Second

// ParseModels reads a list of models as servers send it, with the window under the name that each uses for it. A loaded or
// configured window counts before the one that the model could have.
func ParseModels(data []byte) ([]Listed, error) {
	var list struct {
		Data []struct {
			ID      string `json:"id"`
			Loaded  int    `json:"loaded_context_length"` // LM Studio
			Most    int    `json:"max_context_length"`    // LM Studio, Mistral
			Length  int    `json:"context_length"`        // OpenRouter and others
			Window  int    `json:"context_window"`        // Groq
			MaxLen  int    `json:"max_model_len"`         // vLLM
			MaxIn   int    `json:"max_input_tokens"`      // Anthropic
			MetaAll struct {
				Ctx   int `json:"n_ctx"`
				Train int `json:"n_ctx_train"`
			} `json:"meta"` // llama.cpp
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, &Error{Kind: Broken, Message: "the list of models is not understood", Err: err, Advice: "Check the base URL"}
	}
	out := []Listed{}
	for _, m := range list.Data {
		if m.ID != "" {
			out = append(out, Listed{m.ID, cmp.Or(m.Loaded, m.MaxLen, m.MetaAll.Ctx, m.Length, m.Window, m.Most, m.MaxIn, m.MetaAll.Train)})
		}
	}
	return out, nil
}

// Suggest adds to an error about a missing model the nearest name that the server has. It asks at most for a few seconds.
func Suggest(ctx context.Context, l Lister, model string, fault *Error) {
	ctx, cancel := context.WithTimeout(ctx, ListTimeout)
	defer cancel()
	models, err := l.Models(ctx)
	if err != nil || len(models) == 0 {
		return
	}
	near := slices.MaxFunc(models, func(a, b Listed) int { return cmp.Compare(likeness(model, a.ID), likeness(model, b.ID)) })
	fault.Advice = "The nearest model here is " + near.ID + `; "anchor models" lists all`
}

// likeness is how much of two names is the same in the same order, from 0 to 1.
func likeness(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	row := make([]int, len(b)+1)
	for i := range len(a) {
		diagonal := 0
		for j := range len(b) {
			next := max(row[j], row[j+1])
			if a[i] == b[j] {
				next = diagonal + 1
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}
