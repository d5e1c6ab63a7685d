package tools

import (
	"context"
	"fmt"
	"strings"

	"anchor/internal/diff"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

// regionLines is how many lines of the changed places the result shows.
const regionLines = 40

type edit struct {
	Old string `json:"old" jsonschema:"the text as it stands in the file; must be there once"`
	New string `json:"new"`
	All bool   `json:"all,omitempty" jsonschema:"every place"`
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
			if err != nil {
				return tool.Failure(ctx, err)
			}
			return tool.Done(strings.Join(append([]string{written(w)}, notes...), "\n") + "\n" + region(env.Gate, before, after)), nil
		})
}

// apply makes the edits in a file's content. notes say which matches were not exact. mask is for the lines that an error
// quotes.
func apply(data []byte, edits []edit, mask func(string) string) (out []byte, notes []string, err error) {
	body, marked := strings.CutPrefix(string(data), bom)
	enc := encodingOf(data)
	for i, e := range edits {
		how := ""
		if e.Old, err = enc.bytes(strings.TrimPrefix(e.Old, bom)); err == nil {
			if e.New, err = enc.bytes(e.New); err == nil {
				body, how, err = e.in(body, enc, mask)
			}
		}
		if err != nil {
			return nil, nil, fmt.Errorf("edits[%d]: %w\nNothing was written.", i, err)
		}
		if how != "" {
			notes = append(notes, fmt.Sprintf("edits[%d]: matched %s.", i, how))
		}
	}
	if marked {
		body = bom + body
	}
	return []byte(body), notes, nil
}

// in makes one edit. how says in what way a match was not exact.
func (e edit) in(body string, enc encoding, mask func(string) string) (after, how string, err error) {
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
			return "", "", fmt.Errorf("old is there %d times%s, at lines %s: give more of the text around the one you mean, or all: true", len(found), said(way.how), places(body, found))
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
	return "", "", fmt.Errorf("old is not in the file.%s", nearest(enc.text([]byte(body)), enc.text([]byte(e.Old)), mask))
}

func said(how string) string {
	if how == "" {
		return ""
	}
	return " (" + how + ")"
}

// places lists the first lines of matches.
func places(body string, found []match) string {
	var list []string
	line, at := 1, 0
	for i, m := range found {
		if i == 20 {
			return strings.Join(list, ", ") + ", …"
		}
		line += strings.Count(body[at:m.start], "\n")
		at = m.start
		list = append(list, fmt.Sprint(line))
	}
	return strings.Join(list, ", ")
}

// region shows what the changed places look like now, with line numbers.
func region(g *gate.Gate, before, after []byte) string {
	var out strings.Builder
	number, shown := 0, 0
	var a, b, c int
	for _, line := range splitLines(g.Mask(diff.Unified(encodingOf(before).shown(before), encodingOf(after).shown(after)))) {
		switch {
		case shown == regionLines:
			return out.String() + "…\n"
		case strings.HasPrefix(line, "@@"):
			if n, _ := fmt.Sscanf(line, "@@ -%d,%d +%d", &a, &b, &c); n < 3 {
				fmt.Sscanf(line, "@@ -%d +%d", &a, &c)
			}
			if number > 0 {
				out.WriteString("…\n")
			}
			number = c
		case strings.HasPrefix(line, "+"), strings.HasPrefix(line, " "):
			text, _ := cutLine(line[1:], maxColumn/10)
			fmt.Fprintf(&out, "%6d\t%s\n", number, text)
			number++
			shown++
		}
	}
	return out.String()
}

// shown is the content as text in UTF-8, for showing it.
func (e encoding) shown(data []byte) []byte { return []byte(e.text(data)) }
