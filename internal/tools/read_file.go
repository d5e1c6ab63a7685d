package tools

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"anchor/internal/gate"
	"anchor/internal/msg"
	"anchor/internal/tool"
)

const (
	readLines  = 2000
	readBytes  = 50 << 10
	imageLimit = 4 << 20 // bytes of an image that goes to the model
)

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty" about:"first line, from 1"`
	Limit  int    `json:"limit,omitempty" about:"number of lines"`
}

func readFile() tool.Tool {
	return tool.Of(spec("read_file", true, "Read a text file with line numbers (2,000 lines or 50 KB at a time), or see an image."),
		func(a readArgs) string { return a.Path },
		func(ctx context.Context, env tool.Env, a readArgs) (tool.Result, error) {
			f, err := env.Gate.Read(ctx, a.Path, 0)
			if err != nil {
				return tool.Result{}, err
			}
			return show(env.Gate, f, a), nil
		})
}

// show makes the result of a file that was read.
func show(g *gate.Gate, f gate.File, a readArgs) tool.Result {
	kind, enc := typeOf(f.Data), encodingOf(f.Data)
	switch {
	case strings.HasPrefix(kind, "image/") && f.Size <= imageLimit:
		return tool.Result{Outcome: tool.OK, Text: fmt.Sprintf("%s: %s, %d bytes", f.Name, kind, f.Size), Images: []msg.Image{{Type: kind, Data: f.Data}}}
	case kind != "" || enc == notText:
		return tool.Done(fmt.Sprintf("%s is a binary file (%s, %d bytes): it is not shown as text.", f.Name, cmp.Or(kind, "data"), f.Size))
	}
	lines := splitLines(g.Mask(enc.text(f.Data))) // a mask takes no line away
	first := max(a.Offset, 1)
	switch {
	case len(lines) == 0:
		g.Saw(f, 1, 0, 0)
		return tool.Done(f.Name + " is empty.")
	case first > len(lines):
		return tool.Fail(fmt.Sprintf("%s has %d lines: offset %d is past its end.", f.Name, len(lines), a.Offset))
	}
	limit := readLines
	if a.Limit > 0 {
		limit = min(a.Limit, readLines)
	}
	var out strings.Builder
	next, seen := first, first // seen: from where on the lines were shown whole
	for ; next <= len(lines) && next < first+limit; next++ {
		line, cut := cutLine(lines[next-1], maxColumn)
		if next > first && out.Len()+len(line) > readBytes {
			break
		}
		fmt.Fprintf(&out, "%6d\t%s\n", next, line)
		if cut {
			g.Saw(f, seen, next-1, len(lines))
			seen = next + 1
		}
	}
	g.Saw(f, seen, next-1, len(lines))
	if next <= len(lines) {
		fmt.Fprintf(&out, "[lines %d to %d of %d; read on with offset %d]\n", first, next-1, len(lines), next)
	}
	if f.Size > int64(len(f.Data)) {
		fmt.Fprintf(&out, "[only the first %d MB of the file's %d were looked at]\n", len(f.Data)>>20, f.Size>>20)
	}
	if enc != utf8Text {
		fmt.Fprintf(&out, "[the file is %s; shown as UTF-8]\n", enc)
	}
	return tool.Done(out.String())
}

// typeOf is the media type of an image that models can see, the name of another known binary, or empty.
func typeOf(data []byte) string {
	for _, t := range []struct{ start, name string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"}, {"%PDF-", "PDF"},
		{"PK\x03\x04", "zip archive"}, {"\x1f\x8b", "gzip"}, {"\x7fELF", "program"}, {"SQLite format 3\x00", "SQLite database"},
	} {
		if bytes.HasPrefix(data, []byte(t.start)) {
			return t.name
		}
	}
	if len(data) > 12 && string(data[:4])+string(data[8:12]) == "RIFFWEBP" {
		return "image/webp"
	}
	return ""
}
