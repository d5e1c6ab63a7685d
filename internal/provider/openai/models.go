package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"anchor/internal/provider"
)

// Models implements [provider.Lister]. LM Studio and Ollama tell the windows under addresses of their own.
func (c *Client) Models(ctx context.Context) ([]provider.Listed, error) {
	ctx, cancel := context.WithTimeout(ctx, provider.ListTimeout)
	defer cancel()
	root := strings.TrimSuffix(c.e.BaseURL, "/v1")
	if c.e.Name == "lmstudio" {
		if list, err := c.list(ctx, root+"/api/v0/models"); err == nil {
			return list, nil
		}
	}
	list, err := c.list(ctx, c.e.BaseURL+"/models")
	if err != nil || c.e.Name != "ollama" {
		return list, err
	}
	for i := range min(len(list), 20) {
		list[i].Window = c.ollamaWindow(ctx, root, list[i].ID)
	}
	return list, nil
}

func (c *Client) list(ctx context.Context, address string) ([]provider.Listed, error) {
	data, err := c.fetch(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return provider.ParseModels(data)
}

// ollamaWindow asks for the window of a model: the one set for it, else the one it was trained with. 0 if Ollama does not
// say.
func (c *Client) ollamaWindow(ctx context.Context, root, model string) int {
	data, err := c.fetch(ctx, http.MethodPost, root+"/api/show", provider.Encode(map[string]string{"model": model}))
	if err != nil {
		return 0
	}
	var show struct {
		Parameters string                     `json:"parameters"`
		Info       map[string]json.RawMessage `json:"model_info"`
	}
	_ = json.Unmarshal(data, &show)
	window := 0
	for k, v := range show.Info {
		if strings.HasSuffix(k, ".context_length") {
			_ = json.Unmarshal(v, &window)
		}
	}
	for line := range strings.Lines(show.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			_ = json.Unmarshal([]byte(f[1]), &window)
		}
	}
	return window
}

// fetch returns a JSON answer.
func (c *Client) fetch(ctx context.Context, method, address string, body []byte) ([]byte, error) {
	reply, err := c.open(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	reply.JSON = true
	return reply.Event()
}
