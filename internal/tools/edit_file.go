package tools

import (
	"context"
	"fmt"
	"strings"

	"anchor/internal/diff"
	"anchor/internal/gate"
	"anchor/internal/tool"
)

const (
	diffLines  = 60     // lines of the diff that the result shows
	nearLines  = 12     // lines that a hint shows
	nearSearch = 20_000 // lines of a file that are compared
	nearEnough = 0.4    // likeness below which nothing is shown
)

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
			notes = append([]string{written(w)}, append(notes, changes(env.Gate, before, after))...)
			return tool.Done(strings.Join(notes, "\n")), err
		})
}

// apply makes the edits in a file's content. notes say which matches were not exact. mask is for what an error quotes.
func apply(data []byte, edits []edit, mask func(string) string) (out []byte, notes []string, err error) {
	enc := encodingOf(data)
	if _, err = enc.bytes(""); err != nil {
		return nil, nil, err
	}
	body, marked := strings.CutPrefix(string(data), bom)
	if enc == latin1 {
		body, marked = enc.text(data), false
	}
	end := lineEnd(body)
	if end != "" { // of all lines: they are compared without regard to it
		body = withEnds(body, "\n")
	}
	for i, e := range edits {
		foreign := end != "" && strings.Contains(e.Old, "\n") && strings.Contains(e.Old, "\r\n") != (end == "\r\n")
		e.Old = strings.TrimPrefix(e.Old, bom)
		if end != "" {
			e.Old, e.New = withEnds(e.Old, "\n"), withEnds(e.New, "\n")
		}
		how := ""
		if body, how, err = e.in(body, mask); err != nil {
			return nil, nil, fmt.Errorf("edits[%d]: %w\nNothing was written", i, err)
		}
		if how == "" && foreign {
			how = "with the file's line endings"
		}
		if how != "" {
			notes = append(notes, fmt.Sprintf("edits[%d]: matched %s.", i, how))
		}
	}
	body = withEnds(body, end)
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

// nearest says which lines of the file are most like old: those with the most of its lines, and the likest first one.
func nearest(text, old string, mask func(string) string) string {
	lines, wanted := splitLines(text), splitLines(strings.Trim(old, "\r\n"))
	lines = lines[:min(len(lines), nearSearch)]
	exact := map[string]bool{}
	for _, w := range wanted {
		exact[strings.TrimSpace(w)] = strings.TrimSpace(w) != ""
	}
	first := pairs(strings.Join(wanted[:min(len(wanted), 1)], ""))
	at, best, hits := 0, 0.0, 0 // hits: lines of old among the next len(wanted) lines
	for i := len(lines) - 1; i >= 0; i-- {
		if exact[strings.TrimSpace(lines[i])] {
			hits++
		}
		if end := i + len(wanted); end < len(lines) && exact[strings.TrimSpace(lines[end])] {
			hits--
		}
		if like := likeness(first, pairs(lines[i])) + float64(hits); like >= best {
			at, best = i, like
		}
	}
	if best < nearEnough {
		return " Nothing in it is like old: read the file again."
	}
	from, to := max(at-1, 0), min(at+len(wanted)+1, len(lines), at-1+nearLines)
	out := " The nearest lines are:"
	for i, line := range splitLines(mask(strings.Join(lines[from:to], "\n"))) {
		short, _ := cutLine(line, maxColumn/10)
		out += fmt.Sprintf("\n%6d\t%s", from+i+1, short)
	}
	return strings.ToValidUTF8(out, "\ufffd")
}

// pairs are the pairs of neighbouring bytes in a line.
func pairs(line string) map[string]bool {
	line, out := strings.TrimSpace(line), map[string]bool{}
	for i := range max(min(len(line), maxColumn/10)-1, 0) {
		out[line[i:i+2]] = true
	}
	return out
}

// likeness is from 0 to 1: what share of their pairs two lines have in common.
func likeness(a, b map[string]bool) float64 {
	common := 0
	for p := range a {
		if b[p] {
			common++
		}
	}
	return 2 * float64(common) / float64(max(len(a)+len(b), 1))
}
