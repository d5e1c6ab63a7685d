package repl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// markdown draws the blocks of a document. Text without meaning to it, HTML too, stays as it was written. Tables are found here: the
// parser's extensions would cost every start of anchor two milliseconds.
type markdown struct {
	style  style
	source []byte
}

func renderMarkdown(s style, source string, width int) string {
	m := markdown{s, []byte(source)}
	doc := goldmark.New().Parser().Parse(text.NewReader(m.source))
	return m.blocks(doc, width, false)
}

// blocks draws the blocks below a node, with a blank line between two unless they stand tight.
func (m markdown) blocks(parent ast.Node, width int, tight bool) string {
	var out []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, m.block(n, width))
	}
	if tight {
		return strings.Join(out, "\n")
	}
	return strings.Join(out, "\n\n")
}

func (m markdown) block(n ast.Node, width int) string {
	switch n := n.(type) {
	case *ast.Heading:
		return wrap(m.style.bold(strings.Repeat("#", n.Level)+" "+m.inline(n)), width, "", "")
	case *ast.Paragraph, *ast.TextBlock:
		if rows := cellsOf(m.lines(n)); rows != nil {
			return m.table(rows, width)
		}
		return wrap(m.inline(n), width, "", "")
	case *ast.List:
		return m.list(n, width)
	case *ast.Blockquote:
		return indent(m.blocks(n, width-2, false), m.style.dim("│ "), m.style.dim("│ "))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return m.code(strings.TrimRight(m.lines(n), "\n"), width)
	case *ast.ThematicBreak:
		return m.style.dim(strings.Repeat("─", min(width, 40)))
	}
	return wrap(strings.TrimRight(m.lines(n), "\n"), width, "", "")
}

func (m markdown) lines(n ast.Node) string {
	var out strings.Builder
	for _, l := range n.Lines().Sliced(0, n.Lines().Len()) {
		out.Write(l.Value(m.source))
	}
	return out.String()
}

// code draws a block of code: its lines as they are, so that they can be copied, behind two blanks.
func (m markdown) code(code string, width int) string {
	return indent(m.style.cyan(ansi.Hardwrap(code, max(8, width-2), true)), "  ", "  ")
}

func (m markdown) list(n *ast.List, width int) string {
	var out []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		out = append(out, indent(m.blocks(item, width-len(mark), n.IsTight), mark, strings.Repeat(" ", ansi.StringWidth(mark))))
	}
	if n.IsTight {
		return strings.Join(out, "\n")
	}
	return strings.Join(out, "\n\n")
}

// cellsOf reads a paragraph as the rows of a table: its second line is of dashes and bars. nil if it is none.
func cellsOf(paragraph string) (rows [][]string) {
	lines := strings.Split(strings.TrimSpace(paragraph), "\n")
	if len(lines) < 2 || !strings.Contains(lines[1], "-") || !strings.Contains(lines[0], "|") || strings.Trim(lines[1], "|-: ") != "" {
		return nil
	}
	for _, l := range slices.Delete(lines, 1, 2) {
		l = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(l, `\|`, "\x00")), "|"), "|")
		var row []string
		for cell := range strings.SplitSeq(l, "|") {
			row = append(row, strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|"))
		}
		rows = append(rows, row)
	}
	return rows
}

// table draws a table with its columns below each other, or row by row where that is too wide.
func (m markdown) table(rows [][]string, width int) string {
	var wide []int
	for _, cells := range rows {
		for i, c := range cells {
			cells[i] = renderMarkdown(m.style, c, 1000)
			if len(wide) <= i {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], ansi.StringWidth(cells[i]))
		}
	}
	total := -2
	for _, w := range wide {
		total += w + 2
	}
	var out []string
	for i, cells := range rows {
		if total > width {
			out = append(out, wrap(strings.Join(cells, m.style.dim(" | ")), width, "", "  "))
			continue
		}
		line := ""
		for j, c := range cells {
			line += c + strings.Repeat(" ", wide[j]-ansi.StringWidth(c)+2)
		}
		if line = strings.TrimRight(line, " "); i == 0 {
			line = m.style.bold(line) + "\n" + m.style.dim(strings.Repeat("─", total))
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// inline draws the text of a block.
func (m markdown) inline(parent ast.Node) string {
	var out strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out.Write(n.Value(m.source))
			if n.HardLineBreak() {
				out.WriteByte('\n')
			} else if n.SoftLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(n.Value)
		case *ast.CodeSpan:
			out.WriteString(m.style.cyan(m.inline(n)))
		case *ast.Emphasis:
			out.WriteString(map[bool]func(string) string{true: m.style.italic, false: m.style.bold}[n.Level == 1](m.inline(n)))
		case *ast.Link:
			out.WriteString(m.link(m.inline(n), string(n.Destination)))
		case *ast.Image:
			out.WriteString(m.link(m.inline(n), string(n.Destination)))
		case *ast.AutoLink:
			out.Write(n.URL(m.source))
		case *ast.RawHTML:
			for _, s := range n.Segments.Sliced(0, n.Segments.Len()) {
				out.Write(s.Value(m.source))
			}
		default:
			out.WriteString(m.inline(n))
		}
	}
	return out.String()
}

// link shows where a link really leads.
func (m markdown) link(label, to string) string {
	if label == to || label == "" {
		return to
	}
	return label + m.style.dim(" ("+to+")")
}
