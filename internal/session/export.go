package session

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"anchor/internal/event"
	"anchor/internal/msg"
)

//go:embed export.html
var page string

//go:embed export.css
var style string

// item is a part of the page: a message, a tool call with its result, a file change, or a line about the session.
type item struct {
	Class, Title, Text string
	Lines              []line // of a diff, in place of Text
	Folded             bool
}

type line struct{ Class, Text string }

// foldAt is from how many lines on a text is folded, of lineWidth letters each.
const foldAt, lineWidth = 16, 100

// Export writes a session as one HTML page that stands alone: no script, nothing loaded, all text escaped. What a terminal or
// a reader would be fooled by (control characters, changes of the writing direction) is made visible. The page is filled in by
// hand: html/template would keep every method of every library in the binary, and double its size.
func Export(w io.Writer, p *Past) error {
	sum := sha256.Sum256([]byte(style))
	about := fmt.Sprintf("%s · %s · %s · %d tokens in (%d cached), %d out", event.Visible(p.Meta.Dir), event.Visible(p.Meta.Model),
		p.Meta.Time.Format("2006-01-02 15:04"), p.Usage.Input, p.Usage.Cached, p.Usage.Output)
	head, foot, _ := strings.Cut(page, "{items}")
	out := bufio.NewWriter(w)
	_, _ = strings.NewReplacer("{style}", style, "{hash}", base64.StdEncoding.EncodeToString(sum[:]),
		"{id}", html.EscapeString(event.Visible(p.Meta.ID)), "{about}", html.EscapeString(about)).WriteString(out, head)
	for i := range p.items {
		i.write(out)
	}
	_, _ = out.WriteString(foot)
	return out.Flush() // has what went wrong before
}

// Markdown writes a session for reading in a terminal or a pager: what was said as it is, the rest as blocks of code.
func Markdown(w io.Writer, p *Past) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# Session %s\n\n%s, %s, %s\n", p.Meta.ID, event.Visible(p.Meta.Dir), event.Visible(p.Meta.Model), p.Meta.Time.Format("2006-01-02 15:04"))
	for i := range p.items {
		for _, l := range i.Lines {
			i.Text += l.Text + "\n"
		}
		switch i.Class {
		case "line":
			fmt.Fprintf(out, "\n*%s.*\n", i.Title)
			continue
		case "user", "assistant", "note":
		default:
			i.Text = "    " + strings.ReplaceAll(i.Text, "\n", "\n    ")
		}
		fmt.Fprintf(out, "\n## %s\n\n%s\n", i.Title, strings.TrimRight(i.Text, "\n "))
	}
	return out.Flush()
}

// write appends the item as a section. All that is not markup passes tag.
func (i item) write(b *bufio.Writer) {
	end := "</section>\n"
	tag(b, `<section class="%s">`+"\n", i.Class)
	if i.Folded {
		tag(b, "<details><summary>%s</summary>", i.Title)
		end = "</details>\n" + end
	} else {
		tag(b, "<h2>%s</h2>", i.Title)
	}
	if len(i.Lines) > 0 {
		tag(b, "<pre>")
		for _, l := range i.Lines {
			tag(b, `<span class="%s">%s`+"\n</span>", l.Class, l.Text)
		}
		tag(b, "</pre>")
	} else if i.Text != "" {
		tag(b, "<pre>%s</pre>", i.Text)
	}
	tag(b, end)
}

// tag appends markup with texts in it, which are escaped for content and for quoted attributes.
func tag(b *bufio.Writer, markup string, texts ...string) {
	escaped := make([]any, len(texts))
	for i, t := range texts {
		escaped[i] = html.EscapeString(t)
	}
	fmt.Fprintf(b, markup, escaped...)
}

// items yields the parts of a session, their texts made visible.
func (p *Past) items(yield func(item) bool) {
	for e := range p.All {
		for _, i := range itemsOf(e) {
			i.Title, i.Text = event.Visible(i.Title), event.Visible(i.Text)
			i.Folded = i.Folded || strings.Count(i.Text, "\n") > foldAt || len(i.Text) > foldAt*lineWidth
			if !yield(i) {
				return
			}
		}
	}
}

func itemsOf(e Entry) []item {
	about := item{Class: "line"}
	switch e := e.(type) {
	case Message:
		out := ofMessage(e.Message)
		for i := range out {
			out[i].Title = strings.TrimPrefix(e.Agent+" · "+out[i].Title, " · ")
		}
		return out
	case Change:
		return []item{ofChange(e)}
	case Reduced:
		about.Title = fmt.Sprintf("Context %s: %d tokens before, %d after", e.Kind, e.Before, e.After)
	case Turn:
		if e.Reason == "completed" {
			return nil
		}
		about.Title = "The turn ended: " + e.Reason + " " + e.Detail
	case Undone:
		if len(e.Paths) == 0 {
			return nil
		}
		about.Title = "Taken back: " + strings.Join(e.Paths, ", ")
	default:
		return nil
	}
	return []item{about}
}

func pictures(images []msg.Image) string {
	if len(images) == 0 {
		return ""
	}
	return fmt.Sprintf("\n[%d images]", len(images))
}

func ofMessage(m msg.Message) []item {
	switch m := m.(type) {
	case *msg.User:
		return []item{{Class: "user", Title: "You", Text: m.Text + pictures(m.Images)}}
	case *msg.Assistant:
		var out []item
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case msg.Text:
				out = append(out, item{Class: "assistant", Title: "Model", Text: b.Text})
			case msg.Thinking:
				out = append(out, item{Class: "thinking", Title: "Thinking", Text: b.Text, Folded: true})
			case msg.Call:
				out = append(out, item{Class: "call", Title: b.Name, Text: arguments(b.Args) + b.Bad})
			}
		}
		return out
	case *msg.Tool:
		title, class := m.Name+" → ok", "tool"
		if !m.OK {
			title, class = m.Name+" → not ok", "tool bad"
		}
		return []item{{Class: class, Title: title, Text: m.Text + pictures(m.Images)}}
	case *msg.Summary:
		return []item{{Class: "note", Title: "Summary of older turns", Text: m.Text, Folded: true}}
	case *msg.Note:
		return []item{{Class: "note", Title: "Note to the model", Text: m.Text}}
	}
	panic(fmt.Sprintf("session: no page for %T", m))
}

// arguments shows each argument by its name, texts as they are.
func arguments(args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return string(args)
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text := string(fields[name])
		if strings.HasPrefix(text, `"`) {
			_ = json.Unmarshal(fields[name], &text) // it is valid
		}
		if strings.Contains(text, "\n") {
			text = "\n" + text
		}
		fmt.Fprintf(&out, "%s: %s\n", name, text)
	}
	return out.String()
}

// hunk is the head of a hunk.
var hunk = regexp.MustCompile(`^@@ -(\S+) \+(\S+) @@`)

// ofChange turns the reverse hunks round: what they take away was added.
func ofChange(c Change) item {
	i := item{Class: "change", Title: "Changed " + c.Path}
	if c.Created {
		i.Title = "Created " + c.Path
	} else if c.Deleted {
		i.Title = "Deleted " + c.Path
	}
	if c.Lossy {
		i.Text = "(the change held a secret and is not kept)"
	}
	var added []line // waits for what it takes the place of
	flush := func() { i.Lines, added = append(i.Lines, added...), nil }
	for text := range strings.Lines(c.Reverse) {
		text = event.Visible(strings.TrimRight(text, "\r\n"))
		switch {
		case strings.HasPrefix(text, "+"):
			i.Lines = append(i.Lines, line{"del", "-" + text[1:]})
		case strings.HasPrefix(text, "-"):
			added = append(added, line{"add", "+" + text[1:]})
		case strings.HasPrefix(text, "@"):
			flush()
			i.Lines = append(i.Lines, line{"at", hunk.ReplaceAllString(text, "@@ -$2 +$1 @@")})
		case !strings.HasPrefix(text, `\`): // what it says of a last line is left out
			flush()
			i.Lines = append(i.Lines, line{Text: text})
		}
	}
	flush()
	i.Folded = len(i.Lines) > 4*foldAt
	return i
}
