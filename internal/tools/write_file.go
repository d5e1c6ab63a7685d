package tools

import (
	"context"
	"fmt"
	"strings"

	"anchor/internal/gate"
	"anchor/internal/tool"
)

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func writeFile() tool.Tool {
	return tool.Of(spec("write_file", false, "Create a file, or replace one that was read whole before. To change a part use edit_file."),
		func(a writeArgs) string { return a.Path },
		func(ctx context.Context, env tool.Env, a writeArgs) (tool.Result, error) {
			w, err := env.Gate.Write(ctx, a.Path, gate.WriteOptions{CallID: env.CallID, NeedSeen: true}, func(old []byte, exists bool) ([]byte, error) {
				return replace(old, exists, a.Content)
			})
			return tool.Done(written(w)), err
		})
}

// replace returns content in the encoding, with the line endings and the byte order mark of the file it replaces.
func replace(old []byte, exists bool, content string) ([]byte, error) {
	if !exists || len(old) == 0 {
		return []byte(content), nil
	}
	text := withEnds(strings.TrimPrefix(content, bom), lineEnd(string(old)))
	enc := encodingOf(old)
	if enc != latin1 && strings.HasPrefix(string(old), bom) {
		text = bom + text
	}
	return enc.bytes(text)
}

func written(w gate.Written) string {
	switch {
	case w.Unchanged:
		return w.Name + " already has this content: nothing was written."
	case w.Created:
		return fmt.Sprintf("Created %s (%d lines).", w.Name, w.Added)
	}
	return fmt.Sprintf("Wrote %s (+%d -%d lines).", w.Name, w.Added, w.Removed)
}
