package tools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"anchor/internal/gate"
	"anchor/internal/tool"
)

const (
	grepTime    = 20 * time.Second
	grepLimit   = 200 // lines or files shown where no limit is given,
	grepMax     = 2000
	grepBytes   = 50 << 10 // and at most
	grepColumns = 400      // bytes of a line
)

type grepArgs struct {
	Pattern    string `json:"pattern" jsonschema:"RE2 expression, matched line by line"`
	Path       string `json:"path,omitempty" jsonschema:"file or directory"`
	Glob       string `json:"glob,omitempty" jsonschema:"only files whose name fits, as in glob"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Context    int    `json:"context,omitempty" jsonschema:"lines around each match"`
	Mode       string `json:"mode,omitempty" jsonschema:"content (default), files or count"`
	Limit      int    `json:"limit,omitempty" jsonschema:"lines (or files) shown, default 200"`
	Ignored    bool   `json:"ignored,omitempty"`
}

func grep() tool.Tool {
	return tool.Of(spec("grep", true, "Search the contents of files."),
		func(a grepArgs) string { return strings.TrimSuffix(a.Pattern+" in "+a.Path, " in ") },
		func(ctx context.Context, env tool.Env, a grepArgs) (tool.Result, error) {
			s, err := newSearch(env.Gate, a)
			if err != nil {
				return tool.Fail(err.Error()), nil
			}
			bounded, cancel := context.WithTimeout(ctx, grepTime)
			defer cancel()
			skipped, err := env.Gate.Search(bounded, here(a.Path), gate.WalkOptions{Ignored: a.Ignored, Want: s.want}, s.look)
			late := ""
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				late, err = fmt.Sprintf("[incomplete: ended after %v; name a path or a glob]\n", grepTime), nil
			}
			if err != nil {
				return tool.Failure(ctx, err)
			}
			return tool.Done(s.report() + late + leftOut(skipped)), nil
		})
}

// search is one call of grep. It keeps what may be shown: of the files in order of their names, the first ones.
type search struct {
	grepArgs
	g       *gate.Gate
	want    func(gate.Entry) bool
	matcher *lineMatcher

	mu     sync.Mutex
	found  []fileMatches
	kept   int    // lines, or files, in found
	beyond string // files after this name are only counted
	files  int
	lines  int
}

// fileMatches is what was found in one file; text is ready to be shown.
type fileMatches struct {
	name  string
	count int
	text  []string
}

func newSearch(g *gate.Gate, a grepArgs) (*search, error) {
	s := &search{grepArgs: a, g: g}
	s.Context = min(max(a.Context, 0), 50)
	if s.Limit <= 0 {
		s.Limit = grepLimit
	}
	s.Limit = min(s.Limit, grepMax)
	if s.Mode == "" {
		s.Mode = "content"
	}
	if !slices.Contains([]string{"content", "files", "count"}, s.Mode) {
		return nil, fmt.Errorf("mode is content, files or count, not %q", s.Mode)
	}
	var err error
	if a.Glob != "" {
		if s.want, err = matcher(a.Glob); err != nil {
			return nil, err
		}
	}
	s.matcher, err = newLineMatcher(a.Pattern, a.IgnoreCase)
	return s, err
}

// look searches one file. It is called from several goroutines.
func (s *search) look(e gate.Entry, data []byte) error {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		data = []byte(encodingOf(data).text(data))
	}
	data = bytes.TrimPrefix(data, []byte(bom))
	var at []int // line numbers, as many as may be shown
	count := 0
	s.matcher.lines(data, func(number int) bool {
		if count++; count <= s.Limit {
			at = append(at, number)
		}
		return s.Mode != "files"
	})
	if count == 0 {
		return nil
	}
	m := fileMatches{name: e.Name, count: count}
	if s.Mode == "content" && s.shows(e.Name) {
		m.text = s.render(e.Name, data, at)
	}
	s.keep(m)
	return nil
}

func (s *search) shows(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.beyond == "" || name < s.beyond
}

// keep takes what was found in a file. When much more is kept than can be shown, what comes last is let go.
func (s *search) keep(m fileMatches) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files++
	s.lines += m.count
	if s.beyond != "" && m.name >= s.beyond {
		return
	}
	s.found = append(s.found, m)
	if s.kept += max(len(m.text), 1); s.kept < 4*s.Limit+1000 {
		return
	}
	s.sort()
	s.kept = 0
	for i, m := range s.found {
		if s.kept >= s.Limit {
			s.beyond, s.found = m.name, s.found[:i:i]
			return
		}
		s.kept += max(min(m.count, s.Limit), 1)
	}
}

func (s *search) sort() {
	slices.SortFunc(s.found, func(a, b fileMatches) int { return cmp.Compare(a.name, b.name) })
}

// render makes the lines to show of one file: name:number:text, name-number-text for context.
func (s *search) render(name string, data []byte, at []int) (out []string) {
	lines := maskedLines(s.g, encodingOf(data).text(data))
	shown := 0 // the last line that was rendered
	for i, n := range at {
		from, to := max(n-s.Context, shown+1), min(n+s.Context, len(lines))
		if i+1 < len(at) {
			to = min(to, at[i+1]-1)
		}
		if s.Context > 0 && shown > 0 && from > shown+1 {
			out = append(out, "--")
		}
		for k := from; k <= to; k++ {
			mark := "-"
			if k == n {
				mark = ":"
			}
			out = append(out, fmt.Sprint(name, mark, k, mark, s.excerpt(lines[k-1])))
		}
		shown = max(shown, to)
	}
	return out
}

// excerpt shortens a long line to what is around the match in it.
func (s *search) excerpt(line string) string {
	if len(line) <= grepColumns {
		return line
	}
	from := 0
	if at := s.matcher.re.FindStringIndex(line); at != nil {
		from = max(at[0]-grepColumns/4, 0)
	}
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	short, _ := cutLine(line[from:], grepColumns)
	if from > 0 {
		short = "…" + short
	}
	return short
}

// report is the result: what was found in order of the names, and how much more there is.
func (s *search) report() string {
	if s.files == 0 {
		return "No matches.\n"
	}
	s.sort()
	var out strings.Builder
	lines, files, matches := 0, 0, 0
	for _, m := range s.found {
		if lines >= s.Limit || out.Len() > grepBytes {
			break
		}
		files++
		switch s.Mode {
		case "files":
			out.WriteString(m.name + "\n")
			lines++
		case "count":
			fmt.Fprintf(&out, "%s:%d\n", m.name, m.count)
			lines++
		default:
			if s.Context > 0 && files > 1 {
				out.WriteString("--\n")
			}
			for _, line := range m.text {
				isMatch := strings.HasPrefix(line, m.name+":")
				if isMatch && (lines >= s.Limit || out.Len() > grepBytes) {
					break
				}
				if isMatch {
					lines++
					matches++
				}
				out.WriteString(line + "\n")
			}
		}
	}
	return out.String() + s.more(files, matches)
}

func (s *search) more(files, matches int) string {
	switch {
	case s.Mode != "content" && s.files > files:
		return fmt.Sprintf("[%d more files: narrow the search or raise limit]\n", s.files-files)
	case s.Mode == "content" && s.lines > matches:
		return fmt.Sprintf("[%d more matches, in %d files in all: narrow the search or raise limit]\n", s.lines-matches, s.files)
	}
	return ""
}
