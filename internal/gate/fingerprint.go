package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// Fingerprint is the state of the directory's files, ignored ones left out, and of those that match the protect globs.
type Fingerprint struct {
	Sum       [32]byte
	Protected map[string]string // path to content hash
}

// tooFresh is how near to now a time of change can't tell a further change.
const tooFresh = 50 * time.Millisecond

// Fingerprint takes the state of the directory: names, sizes, times, modes. Where something changed just now, it waits until times
// can tell the next change and looks again, a few times at most: the same state always has the same fingerprint.
func (g *Gate) Fingerprint(ctx context.Context, protect []string) (Fingerprint, error) {
	out := Fingerprint{Protected: map[string]string{}}
	var err error
	for range 3 {
		var newest time.Time
		if out.Sum, newest, err = g.stateSum(ctx); err != nil || time.Since(newest) >= tooFresh {
			break
		}
		select {
		case <-time.After(tooFresh - time.Since(newest)):
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
	if err != nil || len(protect) == 0 {
		return out, err
	}
	o := WalkOptions{Ignored: true, Secret: true, Want: func(e Entry) bool { return matchesAny(protect, e.Name) }}
	_, err = g.Walk(ctx, ".", o, func(e Entry) error {
		if !e.Type.IsDir() {
			out.Protected[e.Name] = g.contentSum(e.Name)
		}
		return nil
	})
	return out, err
}

// stateSum is the hash of what the files' entries say, with the time of the last change.
func (g *Gate) stateSum(ctx context.Context) (sum [32]byte, newest time.Time, err error) {
	h := sha256.New()
	_, err = g.Walk(ctx, ".", WalkOptions{Secret: true}, func(e Entry) error {
		fmt.Fprintf(h, "%s\x00%o\x00", e.Name, e.Mode)
		if !e.Type.IsDir() { // a directory's time is changed by ignored files too
			fmt.Fprintf(h, "%d %d %d\n", e.Size, e.Mod.UnixNano(), e.Changed.UnixNano())
			if e.Changed.After(newest) && !e.Changed.After(time.Now()) {
				newest = e.Changed
			}
		}
		return nil
	})
	h.Sum(sum[:0])
	return sum, newest, err
}

// contentSum is the hash of a file's content, or of where a link leads, or why there is none. Nobody gets to see the content.
func (g *Gate) contentSum(name string) string {
	if target, err := os.Readlink(filepath.Join(g.dir, filepath.FromSlash(name))); err == nil {
		return "link " + target
	}
	f, _, err := looks{g}.open(g.resolve(name))
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err.Error()
	}
	return hex.EncodeToString(h.Sum(nil))
}

// isProtected says whether a file, relative to the directory, is one that must stay as it is.
func (g *Gate) isProtected(rel string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return rel != "" && matchesAny(g.protect, rel)
}

// matchesAny says whether a name relative to the directory matches one of the globs: as a whole, or one of the folders it
// lies in does; a glob without a slash matches at any depth.
func matchesAny(globs []string, name string) bool {
	for _, glob := range globs {
		glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
		for at := name; at != "."; at = path.Dir(at) {
			what := at
			if !strings.Contains(glob, "/") {
				what = path.Base(at)
			}
			if ok, _ := doublestar.Match(glob, what); ok {
				return true
			}
		}
	}
	return false
}
