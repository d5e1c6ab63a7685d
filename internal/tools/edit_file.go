package tools

import (
	"context"
	"fmt"
	"strings"

	"anchor/internal/diff"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

// diffLines is how many lines of the diff the result shows.
const diffLines = 60

type edit struct {
	Old string `json:"old" about:"the text as it stands in the file; must be there once"`
	New string `json:"new"`
	All bool   `json:"all,omitempty" about:"every place"`
}

type editArgs struct {
	Path  string `json:"path"`
	Edits []edit `json:"edits"`
}

func editFile() tool.Tool {
	return tool.Of(spec("edit_file", false, "Replace text in a file: one edit after the other, all or none. Take old from the file without the line numbers."),
		func(a editArgs) string { return a.Path },
		func(ctx context.Context, env tool.Env, a editArgs) (tool.Result, error) {
			if len(a.Edits) == 0 {
				return tool.Fail("edits is empty: nothing to do."), nil
			}
			var before, after []byte
			var notes []string
			w, err := env.Gate.Write(ctx, a.Path, gate.WriteOptions{CallID: env.CallID}, func(old []byte, exists bool) (_ []byte, err error) {
				if !exists {
					return nil, fmt.Errorf("%s does not exist: find its name with glob, or make it with write_file", a.Path)
				}
				before = old
				after, notes, err = apply(old, a.Edits, env.Gate.Mask)
				return after, err
			})
			return tool.Done(strings.Join(append([]string{written(w)}, notes...), "\n") + "\n" + changes(env.Gate, before, after)), err
		})
}

// apply makes the edits in a file's content. notes say which matches were not exact. mask is for the lines that an error
// quotes.
func apply(data []byte, edits []edit, mask func(string) string) (out []byte, notes []string, err error) {
	enc := encodingOf(data)
	if _, err = enc.bytes(""); err != nil {
		return nil, nil, err
	}
	body, marked := strings.CutPrefix(string(data), bom)
	if enc == latin1 {
		body, marked = enc.text(data), false
	}
	for i, e := range edits {
		how := ""
		e.Old = strings.TrimPrefix(e.Old, bom)
		if body, how, err = e.in(body, mask); err != nil {
			return nil, nil, fmt.Errorf("edits[%d]: %w\nNothing was written.", i, err)
		}
		if how != "" {
			notes = append(notes, fmt.Sprintf("edits[%d]: matched %s.", i, how))
		}
	}
	if marked {
		body = bom + body
	}
	out, err = enc.bytes(body)
	return out, notes, err
}

// in makes one edit. how says in what way a match was not exact.
func (e edit) in(body string, mask func(string) string) (after, how string, err error) {
	switch {
	case e.Old == "":
		return "", "", fmt.Errorf("old is empty: give the text that new replaces, or use write_file")
	case e.Old == e.New:
		return "", "", fmt.Errorf("old and new are the same")
	}
	for _, way := range ways {
		found := way.find(body, e)
		switch {
		case len(found) == 0:
			continue
		case len(found) > 1 && !e.All:
			return "", "", fmt.Errorf("old is there %d times%s, at lines %s: give more of the text around the one you mean, or all: true", len(found), strings.TrimSuffix(" ("+way.how+")", " ()"), places(body, found))
		}
		var out strings.Builder
		at := 0
		for _, m := range found {
			out.WriteString(body[at:m.start] + m.text)
			at = m.end
		}
		return out.String() + body[at:], way.how, nil
	}
	if strings.Contains(e.Old, "[masked: ") {
		return "", "", fmt.Errorf("old is not in the file: a mask stands in it for a secret that is not shown. Leave that out of old")
	}
	return "", "", fmt.Errorf("old is not in the file.%s", nearest(body, e.Old, mask))
}

// places lists the lines of the first matches.
func places(body string, found []match) string {
	var list []string
	for _, m := range found[:min(len(found), 20)] {
		list = append(list, fmt.Sprint(1+strings.Count(body[:m.start], "\n")))
	}
	if len(found) > len(list) {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// changes shows what was changed, masked, as a diff.
func changes(g *gate.Gate, before, after []byte) string {
	enc := encodingOf(before)
	lines := splitLines(g.Mask(diff.Unified([]byte(enc.text(before)), []byte(enc.text(after)))))
	if len(lines) > diffLines {
		lines = append(lines[:diffLines], "…")
	}
	for i, line := range lines {
		lines[i], _ = cutLine(line, maxColumn/10)
	}
	return strings.Join(lines, "\n") + "\n"
}
