package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"anchor/internal/event"
	"anchor/internal/gate"
	"anchor/internal/mcp"
	"anchor/internal/tool"
)

// startServers starts the MCP servers in the background.
func (w *work) startServers(ctx context.Context) {
	definitions := w.definitions(ctx, func(text string) { w.notices = append(w.notices, text) })
	w.servers = mcp.Start(ctx, w.serverOptions(func(text string) { w.face.sink(event.Notice{Message: text}) }), definitions)
}

// serverTools are the tools of the servers that are ready now.
func (w *work) serverTools() (out []tool.Tool) {
	for _, s := range []*mcp.Set{w.servers, w.lent} {
		if s != nil {
			out = append(out, s.Tools()...)
		}
	}
	return out
}

func (w *work) serverOptions(notice func(string)) mcp.Options {
	return mcp.Options{Gate: w.gate, State: w.dirs.State, Getenv: w.sh.getenv, Notice: notice, Version: version()}
}

// definitions returns the servers of the user's file and of the project's. The user's come first and keep their names; of the
// project's the one nearest to the directory wins.
func (w *work) definitions(ctx context.Context, notice func(string)) (out []mcp.Definition) {
	all, project := mcp.Define(w.userFile(), "", w.set.MCPServers), w.gate.ProjectDirs()
	for _, dir := range slices.Backward(project) {
		for _, name := range []string{filepath.Join(".anchor", "mcp.json"), ".mcp.json"} {
			file := filepath.Join(dir, name)
			text, _, err := w.gate.ReadOwn(ctx, project[0], file, maxSettings)
			if errors.Is(err, gate.ErrNoFile) {
				continue
			}
			var found []mcp.Definition
			if err == nil {
				found, err = mcp.DefineFile(file, dir, []byte(text))
			}
			if err != nil {
				notice(file + ": " + reason(err))
			}
			all = append(all, found...)
		}
	}
	taken := map[string]string{}
	for _, d := range all {
		if other := taken[d.Name]; other != "" {
			notice(d.Source + ": the MCP server " + d.Name + " is left out: " + other + " has one of that name")
			continue
		}
		taken[d.Name], out = d.Source, append(out, d)
	}
	return out
}
