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

	"anchor/internal/gate"
	"anchor/internal/tool"
)

const (
	grepTime    = 20 * time.Second
	grepLimit   = 200 // lines or files shown where no limit is given,
	grepMax     = 2000
	grepBytes   = 50 << 10 // and at most
	grepColumns = 400      // bytes of a line
	maskAround  = 500      // lines that are masked with what is shown
)

type grepArgs struct {
	Pattern    string `json:"pattern" about:"RE2 expression, matched line by line"`
	Path       string `json:"path,omitempty" about:"file or directory"`
	Glob       string `json:"glob,omitempty" about:"only files whose name fits, as in glob"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Context    int    `json:"context,omitempty" about:"lines around each match"`
	Mode       string `json:"mode,omitempty" about:"content (default), files or count"`
	Limit      int    `json:"limit,omitempty" about:"lines (or files) shown, default 200"`
	Ignored    bool   `json:"ignored,omitempty"`
}

func grep() tool.Tool {
	return tool.Of(spec("grep", true, "Search the contents of files."),
		func(a grepArgs) string { return strings.TrimSuffix(a.Pattern+" in "+a.Path, " in ") },
		func(ctx context.Context, env tool.Env, a grepArgs) (tool.Result, error) {
			s, err := newSearch(env.Gate, a)
			if err != nil {
				return tool.Result{}, err
			}
			bounded, cancel := context.WithTimeout(ctx, grepTime)
			defer cancel()
			skipped, err := env.Gate.Search(bounded, here(a.Path), gate.WalkOptions{Ignored: a.Ignored, Want: s.want}, s.look)
			late := ""
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				late, err = fmt.Sprintf("[incomplete: ended after %v; name a path or a glob]\n", grepTime), nil
			}
			return tool.Done(s.report() + late + leftOut(skipped)), err
		})
}

// search is one call of grep. It keeps what may be shown: of the files in order of their names, the first ones.
type search struct {
	grepArgs
	g       *gate.Gate
	want    func(gate.Entry) bool
	matcher *lineMatcher

	mu             sync.Mutex
	found          []fileMatches // by name
	full           bool          // there is enough in found: what comes after it is only counted
	files, matches int
}

// fileMatches is what was found in one file: the lines to show, and where among them those are that count for the limit.
type fileMatches struct {
	name  string
	lines []string
	hits  []int
}

func newSearch(g *gate.Gate, a grepArgs) (s *search, err error) {
	s = &search{grepArgs: a, g: g}
	s.Context = min(max(a.Context, 0), 50)
	if s.Limit = min(a.Limit, grepMax); s.Limit <= 0 {
		s.Limit = grepLimit
	}
	if s.Mode = cmp.Or(a.Mode, "content"); !slices.Contains([]string{"content", "files", "count"}, s.Mode) {
		return nil, fmt.Errorf("mode is content, files or count, not %q", s.Mode)
	}
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
	e.Name = gate.OneLine(e.Name)
	m := fileMatches{name: e.Name, hits: []int{0}}
	switch s.Mode {
	case "files":
		m.lines = []string{e.Name}
	case "count":
		m.lines = []string{fmt.Sprint(e.Name, ":", count)}
	default:
		if s.shows(e.Name) {
			m = s.render(e.Name, data, at)
		}
	}
	s.keep(m, count)
	return nil
}

func (s *search) shows(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.full || name < s.found[len(s.found)-1].name
}

// keep takes what was found in a file, and lets go of what comes after enough.
func (s *search) keep(m fileMatches, count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files++
	s.matches += count
	at, _ := slices.BinarySearchFunc(s.found, m.name, func(f fileMatches, name string) int { return cmp.Compare(f.name, name) })
	if s.full && at == len(s.found) {
		return
	}
	s.found = slices.Insert(s.found, at, m)
	hits := 0
	for i, m := range s.found {
		if hits += len(m.hits); hits >= s.Limit {
			s.found, s.full = s.found[:i+1], true
			return
		}
	}
}

// render makes the lines to show of one file: name:number:text, name-number-text for context. What is masked is seen with
// the lines around it, so that a key of many lines is known as one.
func (s *search) render(name string, data []byte, at []int) fileMatches {
	out := fileMatches{name: name}
	lines := splitLines(encodingOf(data).text(data))
	from, to := max(at[0]-maskAround, 0), min(at[len(at)-1]+maskAround, len(lines))
	copy(lines[from:to], splitLines(s.g.Mask(strings.Join(lines[from:to], "\n"))))
	shown := 0 // the last line that was rendered
	for _, n := range at {
		if s.Context > 0 && shown > 0 && n-s.Context > shown+1 {
			out.lines = append(out.lines, "--")
		}
		for k := max(n-s.Context, shown+1); k <= min(n+s.Context, len(lines)); k++ {
			mark := "-"
			if _, hit := slices.BinarySearch(at, k); hit {
				mark, out.hits = ":", append(out.hits, len(out.lines))
			}
			out.lines, shown = append(out.lines, fmt.Sprint(name, mark, k, mark, s.excerpt(lines[k-1]))), k
		}
	}
	return out
}

// excerpt shortens a long line to what is around the match in it.
func (s *search) excerpt(line string) string {
	if len(line) <= grepColumns {
		return line
	}
	mark := ""
	if at := s.matcher.re.FindStringIndex(line); at != nil && at[0] > grepColumns/4 {
		mark, line = "…", strings.ToValidUTF8(line[at[0]-grepColumns/4:], "")
	}
	short, _ := cutLine(line, grepColumns)
	return mark + short
}

// report is the result: what was found in order of the names, and how much more there is.
func (s *search) report() string {
	if s.files == 0 {
		return "No matches.\n"
	}
	var out strings.Builder
	hits := 0
	for _, m := range s.found {
		if s.Context > 0 && hits > 0 && s.Mode == "content" {
			out.WriteString("--\n")
		}
		for i, line := range m.lines {
			if _, hit := slices.BinarySearch(m.hits, i); hit {
				if hits == s.Limit || out.Len() > grepBytes {
					return out.String() + s.more(hits)
				}
				hits++
			}
			out.WriteString(line + "\n")
		}
	}
	return out.String() + s.more(hits)
}

func (s *search) more(hits int) string {
	switch {
	case s.Mode != "content" && s.files > hits:
		return fmt.Sprintf("[%d more files: narrow the search or raise limit]\n", s.files-hits)
	case s.Mode == "content" && s.matches > hits:
		return fmt.Sprintf("[%d more matches, in %d files in all: narrow the search or raise limit]\n", s.matches-hits, s.files)
	}
	return ""
}
