package session

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"anchor/internal/event"
	"anchor/internal/home"
)

var (
	// ErrLocked says that another process has the session.
	ErrLocked = errors.New("the session is in use by another process")
	// ErrNoSession says that there is no such session, or none of that directory.
	ErrNoSession = errors.New("no such session")
)

// Store is the directory of all sessions.
type Store struct {
	root string
	mask func(string) string
}

// NewStore returns the store below anchor's state directory. mask is applied to every text that is written.
func NewStore(state string, mask func(string) string) Store {
	return Store{filepath.Join(state, "sessions"), mask}
}

var idForm = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{4}$`)

// ValidID says whether s has the form of an id: YYYYMMDD-HHMMSS-xxxx.
func ValidID(s string) bool { return idForm.MatchString(s) }

func newID() string {
	return fmt.Sprintf("%s-%04x", time.Now().Format("20060102-150405"), rand.Uint32N(1<<16))
}

const ext = ".jsonl"

var notInSlug = regexp.MustCompile(`[^A-Za-z0-9._]`)

// slug names the directory for a directory's sessions: readable at its end, told apart by a hash of the whole path.
func (s Store) slug(dir string) string {
	dir = filepath.Clean(dir)
	name, sum := notInSlug.ReplaceAllString(dir, "-"), sha256.Sum256([]byte(dir))
	return filepath.Join(s.root, fmt.Sprintf("%s-%x", strings.Trim(name[max(0, len(name)-60):], "-."), sum[:6]))
}

// Create starts a session for a directory. The file appears with its first line.
func (s Store) Create(dir, model, version string) (*Log, error) {
	l, err := s.reserve(s.slug(dir))
	if err != nil {
		return nil, err
	}
	meta := Meta{Version: version, ID: l.id, Dir: s.mask(dir), Model: s.mask(model), Time: time.Now().UTC()}
	if err := l.write(headOf{Kind: "session"}, meta); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// reserve makes an empty session file under a new id, locked. Ids differ over all directories.
func (s Store) reserve(slug string) (*Log, error) {
	for range 1000 {
		l := &Log{id: newID(), mask: s.mask}
		l.path = filepath.Join(slug, l.id+ext)
		f, err := home.Create(l.path)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		l.file = f
		var held bool
		if l.unlock, held, err = home.Lock(l.path); held && len(s.paths(l.id)) == 1 {
			return l, nil
		}
		l.Close()
		_ = home.Remove(l.path)
		if err != nil {
			return nil, err
		}
	}
	return nil, errors.New("found no free session id")
}

// list is home.List for what need not be there.
func list(dir string) ([]fs.DirEntry, error) {
	names, err := home.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return names, err
}

// paths finds the files of an id in all directories.
func (s Store) paths(id string) (found []string) {
	slugs, _ := list(s.root)
	for _, slug := range slugs {
		path := filepath.Join(s.root, slug.Name(), id+ext)
		if f, err := home.Open(path); err == nil {
			f.Close()
			found = append(found, path)
		}
	}
	return found
}

func (s Store) path(id string) (string, error) {
	if !ValidID(id) {
		return "", fmt.Errorf("%q is no session id, which looks like 20260928-225355-be7b", id)
	}
	if found := s.paths(id); len(found) > 0 {
		return found[0], nil
	}
	return "", fmt.Errorf("%w: %s", ErrNoSession, id)
}

// lock finds a session and locks it, or fails with ErrLocked.
func (s Store) lock(id string) (*Log, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, err
	}
	unlock, held, err := home.Lock(path)
	if err == nil && !held {
		err = fmt.Errorf("%w: %s", ErrLocked, id)
	}
	return &Log{id: id, path: path, mask: s.mask, unlock: unlock}, err
}

// Open locks a session, reads it and makes it ready for writing. It fails with ErrLocked if another process has it, or
// ErrNoSession. dir is today's directory: a session of another one is opened with a notice in Past.Notices.
func (s Store) Open(id, dir string) (*Log, *Past, error) {
	l, err := s.lock(id)
	if err != nil {
		return nil, nil, err
	}
	r, err := read(l.path, id)
	if err == nil {
		l.seq, l.turns = r.seq, r.turns
		if l.file, err = home.Append(l.path); errors.Is(err, fs.ErrPermission) { // the work goes on, the first entry tells
			l.file, l.dead, err = nil, err, nil
		}
	}
	if err == nil && l.dead == nil && r.cut > 0 { // so that nothing is glued to a cut line
		_, l.dead = l.file.Write([]byte("\n"))
	}
	if err != nil {
		l.Close()
		return nil, nil, err
	}
	if l.dead == nil && r.brokeOff() {
		_ = l.Append(Turn{Reason: event.Cancelled, Detail: "it broke off"}) // the next entry tells of a session that can't be written
	}
	past := r.Past
	if from := past.Meta.Dir; from != "" && filepath.Clean(from) != s.mask(filepath.Clean(dir)) {
		past.Notices = append(past.Notices, fmt.Sprintf("this session was made in %s; it goes on in %s", from, dir))
		to := filepath.Join(s.slug(dir), id+ext)
		if _, err := home.List(from); errors.Is(err, fs.ErrNotExist) && home.Move(l.path, to) == nil { // so that it is found there from now on
			l.path, past.path = to, to
		}
	}
	return l, past, nil
}

// Load reads a session without locking it, for show and export.
func (s Store) Load(id string) (*Past, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, err
	}
	r, err := read(path, id)
	if err != nil {
		return nil, err
	}
	return r.Past, nil
}

// Remove deletes a session that nobody uses.
func (s Store) Remove(id string) error {
	l, err := s.lock(id)
	if err != nil {
		return err
	}
	defer l.Close()
	return home.Remove(l.path)
}

// Fork copies a session under a new id, to the sessions of a directory, and returns the id. The original may be in use.
func (s Store) Fork(id, dir string) (string, error) {
	path, err := s.path(id)
	if err != nil {
		return "", err
	}
	f, err := home.OpenOwn(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	l, err := s.reserve(s.slug(dir))
	if err != nil {
		return "", err
	}
	defer l.Close()
	in := bufio.NewReader(f)
	first, _ := in.ReadBytes('\n')
	var meta Meta
	_ = json.Unmarshal(first, &meta) // what is wrong with the file shows in the copy
	meta.ID = l.id
	err = l.write(headOf{Kind: "session"}, meta)
	if err == nil {
		_, err = io.Copy(l.file, in)
	}
	if err != nil {
		_ = home.Remove(l.path)
		return "", err
	}
	return l.id, nil
}

// Info describes a session for a list.
type Info struct {
	ID     string
	Dir    string
	Time   time.Time // of the last entry
	Prompt string    // the first user message, one line
	Turns  int
	path   string
	size   int64
}

// files lists the sessions of a directory, newest first; of all for an empty dir. Prompt, Dir and Turns are not known yet.
func (s Store) files(dir string) (out []Info, err error) {
	slugs := []string{s.slug(dir)}
	if dir == "" {
		all, err := list(s.root)
		if err != nil {
			return nil, err
		}
		slugs = nil
		for _, d := range all {
			slugs = append(slugs, filepath.Join(s.root, d.Name()))
		}
	}
	for _, slug := range slugs {
		names, err := list(slug)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			id, ok := strings.CutSuffix(n.Name(), ext)
			if info, err := n.Info(); ok && ValidID(id) && err == nil && info.Mode().IsRegular() && info.Size() > 0 {
				out = append(out, Info{ID: id, Time: info.ModTime(), path: filepath.Join(slug, n.Name()), size: info.Size()})
			}
		}
	}
	slices.SortFunc(out, func(a, b Info) int { return cmp.Or(b.Time.Compare(a.Time), strings.Compare(b.ID, a.ID)) })
	return out, nil
}

// Newest returns the id of the newest session of a directory in which the user said something, or ErrNoSession.
func (s Store) Newest(dir string) (string, error) {
	files, err := s.files(filepath.Clean(dir))
	for i := range files {
		if files[i].look() == nil && files[i].Prompt != "" {
			return files[i].ID, nil
		}
	}
	return "", cmp.Or(err, ErrNoSession)
}

// List returns the sessions of a directory, newest first; of all for an empty dir.
func (s Store) List(dir string) ([]Info, error) {
	files, err := s.files(dir)
	out := make([]Info, 0, len(files))
	for _, i := range files {
		if i.look() == nil {
			out = append(out, i)
		}
	}
	return out, err
}

const (
	maxPrompt = 16 << 20 // bytes in which the first message is looked for
	tailSize  = 64 << 10
	longTail  = 4 << 20 // if the tail shows no turn: a long one was cut off
)

// look finds the directory in the first line, the first user message after it, the number of turns in the last turn entry.
func (i *Info) look() error {
	f, err := home.Open(i.path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReader(io.LimitReader(f, maxPrompt))
	for ended := error(nil); ended == nil && i.Prompt == ""; {
		var line []byte
		var e struct{ Kind, Dir, Text string }
		line, ended = in.ReadBytes('\n')
		if json.Unmarshal(line, &e) == nil && e.Kind == "session" {
			i.Dir = e.Dir
		} else if e.Kind == "user" {
			i.Prompt = cmp.Or(oneLine(e.Text), "(image)")
		}
	}
	for size := int64(tailSize); ; size *= longTail / tailSize {
		part := make([]byte, min(size, i.size))
		if _, err = f.ReadAt(part, i.size-int64(len(part))); err != nil {
			return err
		}
		if i.Turns = lastTurn(part); i.Turns > 0 || size >= min(i.size, longTail) {
			return nil
		}
	}
}

// lastTurn returns the number of the last turn that ended in a piece of a file.
func lastTurn(piece []byte) (n int) {
	const start = "\n" + `{"kind":"turn","n":`
	if i := bytes.LastIndex(piece, []byte(start)); i >= 0 {
		_, _ = fmt.Sscanf(string(piece[i+len(start):min(len(piece), i+len(start)+20)]), "%d", &n)
	}
	return n
}

// oneLine is a text as one line, not all of a long one.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text[:min(len(text), 1000)]), " ")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}
