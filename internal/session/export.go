package session

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
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
	Images             []string
	Folded             bool
}

type line struct{ Class, Text string }

// foldAt is from how many lines on a text is folded.
const foldAt = 16

// Export writes a session as one HTML page that stands alone: no script, nothing loaded, all text escaped. What a terminal or
// a reader would be fooled by (control characters, changes of the writing direction) is made visible. The page is filled in by
// hand: html/template would keep every method of every library in the binary, and double its size.
func Export(w io.Writer, p *Past) error {
	var body strings.Builder
	for _, i := range items(p) {
		i.write(&body)
	}
	sum := sha256.Sum256([]byte(style))
	about := fmt.Sprintf("%s · %s · %s · %d tokens in (%d cached), %d out", event.Visible(p.Meta.Dir), event.Visible(p.Meta.Model),
		p.Meta.Time.Format("2006-01-02 15:04"), p.Usage.Input, p.Usage.Cached, p.Usage.Output)
	_, err := strings.NewReplacer("{style}", style, "{hash}", base64.StdEncoding.EncodeToString(sum[:]),
		"{id}", html.EscapeString(event.Visible(p.Meta.ID)), "{about}", html.EscapeString(about), "{items}", body.String()).WriteString(w, page)
	return err
}

// write appends the item as a section. All that is not markup passes tag.
func (i item) write(b *strings.Builder) {
	end := "</section>\n"
	tag(b, `<section class="%s">`+"\n", i.Class)
	if i.Folded {
		tag(b, "<details><summary>%s</summary>", i.Title)
		end = "</details>\n" + end
	} else {
		tag(b, "<h2>%s</h2>", i.Title)
	}
	if len(i.Lines) > 0 {
		b.WriteString("<pre>")
		for _, l := range i.Lines {
			tag(b, `<span class="%s">%s`+"\n</span>", l.Class, l.Text)
		}
		b.WriteString("</pre>")
	} else if i.Text != "" {
		tag(b, "<pre>%s</pre>", i.Text)
	}
	for _, url := range i.Images {
		tag(b, `<img alt="" src="%s">`, url)
	}
	b.WriteString(end)
}

// tag appends markup with texts in it, which are escaped for content and for quoted attributes.
func tag(b *strings.Builder, markup string, texts ...string) {
	escaped := make([]any, len(texts))
	for i, t := range texts {
		escaped[i] = html.EscapeString(t)
	}
	fmt.Fprintf(b, markup, escaped...)
}

func items(p *Past) []item {
	var out []item
	for _, e := range p.Entries {
		switch e := e.(type) {
		case Message:
			for _, i := range ofMessage(e.Message) {
				if e.Agent != "" {
					i.Title = e.Agent + " · " + i.Title
				}
				i.Title, i.Text = event.Visible(i.Title), event.Visible(i.Text)
				i.Folded = i.Folded || strings.Count(i.Text, "\n") > foldAt
				out = append(out, i)
			}
		case Change:
			out = append(out, ofChange(e))
		case Reduced:
			out = append(out, item{Class: "line", Title: fmt.Sprintf("Context %s: %d tokens before, %d after", e.Kind, e.Before, e.After)})
		case Turn:
			if e.Reason != "completed" {
				out = append(out, item{Class: "line", Title: event.Visible("The turn ended: " + e.Reason + " " + e.Detail)})
			}
		case Undone:
			out = append(out, item{Class: "line", Title: event.Visible("Taken back: " + strings.Join(e.Paths, ", "))})
		}
	}
	return out
}

func ofMessage(m msg.Message) []item {
	switch m := m.(type) {
	case *msg.User:
		return []item{{Class: "user", Title: "You", Text: m.Text, Images: pictures(m.Images)}}
	case *msg.Assistant:
		var out []item
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case msg.Text:
				out = append(out, item{Class: "assistant", Title: "Model", Text: b.Text})
			case msg.Thinking:
				out = append(out, item{Class: "thinking", Title: "Thinking", Text: b.Text, Folded: true})
			case msg.Call:
				out = append(out, item{Class: "call", Title: b.Name, Text: string(b.Args) + b.Bad})
			}
		}
		return out
	case *msg.Tool:
		title, class := m.Name+" → ok", "tool"
		if !m.OK {
			title, class = m.Name+" → not ok", "tool bad"
		}
		return []item{{Class: class, Title: title, Text: m.Text, Images: pictures(m.Images)}}
	case *msg.Summary:
		return []item{{Class: "note", Title: "Summary of older turns", Text: m.Text, Folded: true}}
	case *msg.Note:
		return []item{{Class: "note", Title: "Note to the model", Text: m.Text}}
	}
	panic(fmt.Sprintf("session: no page for %T", m))
}

// pictures are the images of a kind that a browser only draws.
func pictures(images []msg.Image) []string {
	var out []string
	for _, i := range images {
		if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, i.Type) {
			out = append(out, "data:"+i.Type+";base64,"+base64.StdEncoding.EncodeToString(i.Data))
		}
	}
	return out
}

// hunk is the head of a hunk.
var hunk = regexp.MustCompile(`^@@ -(\S+) \+(\S+) @@`)

// ofChange turns the reverse hunks round: what they take away was added.
func ofChange(c Change) item {
	i := item{Class: "change", Title: "Changed " + event.Visible(c.Path)}
	if c.Created {
		i.Title = "Created " + event.Visible(c.Path)
	} else if c.Deleted {
		i.Title = "Deleted " + event.Visible(c.Path)
	}
	if c.Lossy {
		i.Text = "(the change held a secret and is not kept)"
	}
	var added []line // waits until what it takes the place of is there
	to := &i.Lines
	for text := range strings.Lines(c.Reverse) {
		l := line{Text: event.Visible(strings.TrimRight(text, "\r\n"))}
		switch text[0] {
		case '+':
			l, to = line{"del", "-" + l.Text[1:]}, &i.Lines
		case '-':
			l, to = line{"add", "+" + l.Text[1:]}, &added
		case '\\': // of the line before
		default:
			i.Lines, added, to = append(i.Lines, added...), nil, &i.Lines
			if turned := hunk.ReplaceAllString(l.Text, "@@ -$2 +$1 @@"); strings.HasPrefix(turned, "@@") {
				l = line{"at", turned}
			}
		}
		*to = append(*to, l)
	}
	i.Lines = append(i.Lines, added...)
	i.Folded = len(i.Lines) > 4*foldAt
	return i
}
