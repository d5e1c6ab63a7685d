package skill

import (
	"context"
	"path/filepath"

	"anchor/internal/gate"
)

// Finder looks for the files. Dirs are the directories of the project, from the repository's root down to the working
// directory; Config is anchor's configuration directory and Home the user's home, each empty if there is none.
type Finder struct {
	Gate   *gate.Gate
	Dirs   []string
	Config string
	Home   string
}

// Found is everything that was found, and what is wrong with the rest: one notice for each broken file.
type Found struct {
	Skills       []Skill
	Agents       []Agent
	Instructions string
	Sources      []string // the instruction files, in order
	Notices      []string
}

// Find reads all places. It fails only when ctx ends.
func (f Finder) Find(ctx context.Context) (Found, error) {
	var out Found
	f.skills(ctx, &out)
	f.agents(ctx, &out)
	f.instructions(ctx, &out)
	return out, ctx.Err()
}

// place is a directory with skills or agents in it. Root bounds where its files may really be.
type place struct{ dir, root string }

// places lists sub of every project directory, the nearest first, then those below Config and Home. The names are relative to each.
func (f Finder) places(project []string, config string, home []string) []place {
	var out []place
	for i := len(f.Dirs) - 1; i >= 0; i-- {
		for _, sub := range project {
			out = append(out, place{filepath.Join(f.Dirs[i], sub), f.Dirs[0]})
		}
	}
	if f.Config != "" {
		dir := filepath.Join(f.Config, config)
		out = append(out, place{dir, dir})
	}
	for _, sub := range home {
		if f.Home != "" {
			dir := filepath.Join(f.Home, sub)
			out = append(out, place{dir, dir})
		}
	}
	return out
}

func (o *Found) notice(file string, err error) {
	o.Notices = append(o.Notices, file+": "+err.Error())
}
