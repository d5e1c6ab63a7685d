package session

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

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

// NewStore returns the store below anchor's state directory. mask is applied to every text that is written, thinking
// signatures excepted.
func NewStore(state string, mask func(string) string) Store {
	return Store{filepath.Join(state, "sessions"), mask}
}

var idForm = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{4}$`)

// ValidID says whether s has the form of an id: YYYYMMDD-HHMMSS-xxxx.
func ValidID(s string) bool { return idForm.MatchString(s) }

func newID() string {
	var b [2]byte
	rand.Read(b[:]) // never fails
	return time.Now().Format("20060102-150405-") + hex.EncodeToString(b[:])
}

const ext = ".jsonl"

// slug names the directory for a directory's sessions: readable at its end, told apart by a hash of the whole path.
func (s Store) slug(dir string) string {
	dir = filepath.Clean(dir)
	name := strings.Map(func(r rune) rune {
		if r < 128 && (r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '-'
	}, dir)
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(s.root, strings.Trim(name[max(0, len(name)-60):], "-.")+"-"+hex.EncodeToString(sum[:6]))
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
		id := newID()
		path := filepath.Join(slug, id+ext)
		f, err := home.Create(path)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		unlock, held, err := home.Lock(path)
		if err != nil {
			f.Close()
			return nil, err
		}
		if !held || len(s.paths(id)) > 1 {
			if held {
				unlock()
			}
			f.Close()
			home.Remove(path)
			continue
		}
		return &Log{id: id, path: path, mask: s.mask, file: f, unlock: unlock}, nil
	}
	return nil, errors.New("found no free session id")
}

// paths finds the files of an id in all directories.
func (s Store) paths(id string) (found []string) {
	slugs, _ := home.List(s.root)
	for _, d := range slugs {
		path := filepath.Join(s.root, d.Name(), id+ext)
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

// Open locks a session and reads it. It fails with ErrLocked if another process has it, or ErrNoSession. dir is today's
// directory: a session of another one is opened with a notice in Past.Notices.
func (s Store) Open(id, dir string) (*Log, *Past, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, nil, err
	}
	unlock, held, err := home.Lock(path)
	if err != nil {
		return nil, nil, err
	}
	if !held {
		return nil, nil, fmt.Errorf("%w: %s", ErrLocked, id)
	}
	l := &Log{id: id, path: path, mask: s.mask, unlock: unlock}
	past, err := l.resume()
	if err != nil {
		l.Close()
		return nil, nil, err
	}
	if from := past.Meta.Dir; from != "" && filepath.Clean(from) != s.mask(filepath.Clean(dir)) {
		past.Notices = append(past.Notices, fmt.Sprintf("this session was made in %s; it goes on in %s", from, dir))
	}
	return l, past, nil
}

// Load reads a session without locking it, for show and export.
func (s Store) Load(id string) (*Past, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, err
	}
	_, past, err := read(path, id, true)
	return past, err
}

// Remove deletes a session that nobody uses.
func (s Store) Remove(id string) error {
	path, err := s.path(id)
	if err != nil {
		return err
	}
	unlock, held, err := home.Lock(path)
	if err != nil {
		return err
	}
	if !held {
		return fmt.Errorf("%w: %s", ErrLocked, id)
	}
	defer unlock()
	return home.Remove(path)
}

// Fork copies a session under a new id and returns that. It may be in use.
func (s Store) Fork(id string) (string, error) {
	path, err := s.path(id)
	if err != nil {
		return "", err
	}
	from, err := home.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	l, err := s.reserve(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	defer l.Close()
	lines := newLines(from)
	first, _, err := lines.next()
	if err == nil {
		var meta Meta
		damaged := json.Unmarshal(first, &meta)
		if meta.ID = l.id; damaged == nil {
			err = l.write(headOf{Kind: "session"}, meta)
		} else {
			err = l.put(first)
		}
	}
	if err == nil {
		_, err = io.Copy(l.file, lines.in)
	}
	if err != nil {
		home.Remove(l.path)
		return "", err
	}
	return l.id, nil
}

// file is a session's file with the time of its last entry.
type file struct {
	id, path string
	time     time.Time
}

// files lists the sessions of a directory, newest first; of all for an empty dir.
func (s Store) files(dir string) ([]file, error) {
	slugs := []string{s.slug(dir)}
	if dir == "" {
		all, err := home.List(s.root)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		slugs = slugs[:0]
		for _, d := range all {
			slugs = append(slugs, filepath.Join(s.root, d.Name()))
		}
	}
	var out []file
	for _, slug := range slugs {
		names, err := home.List(slug)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && dir != "" {
			return nil, err
		}
		for _, n := range names {
			id, ok := strings.CutSuffix(n.Name(), ext)
			if info, err := n.Info(); ok && ValidID(id) && err == nil && info.Mode().IsRegular() && info.Size() > 0 {
				out = append(out, file{id, filepath.Join(slug, n.Name()), info.ModTime()})
			}
		}
	}
	slices.SortFunc(out, func(a, b file) int { return cmp.Or(b.time.Compare(a.time), strings.Compare(b.id, a.id)) })
	return out, nil
}

// Newest returns the id of the newest session of a directory in which the user said something, or ErrNoSession. With
// skipLocked, sessions that are in use are passed over.
func (s Store) Newest(dir string, skipLocked bool) (string, error) {
	files, err := s.files(filepath.Clean(dir))
	if err != nil {
		return "", err
	}
	buf := make([]byte, headSize)
	for _, f := range files {
		if info, err := f.info(buf); err != nil || info.Prompt == "" {
			continue
		}
		if skipLocked {
			unlock, held, err := home.Lock(f.path)
			if err != nil || !held {
				continue
			}
			unlock()
		}
		return f.id, nil
	}
	return "", ErrNoSession
}

// Info describes a session for a list.
type Info struct {
	ID     string
	Dir    string
	Time   time.Time // of the last entry
	Prompt string    // the first user message, one line
	Turns  int
}

// List returns the sessions of a directory, newest first; of all for an empty dir. Of each file only the head and the tail
// are read.
func (s Store) List(dir string) ([]Info, error) {
	files, err := s.files(dir)
	if err != nil {
		return nil, err
	}
	out := make([]Info, 0, len(files))
	buf := make([]byte, headSize)
	for _, f := range files {
		if info, err := f.info(buf); err == nil {
			out = append(out, info)
		}
	}
	return out, nil
}

const (
	headSize   = 8 << 10
	tailSize   = 64 << 10
	maxTail    = 4 << 20 // if the tail shows no turn: a long one was cut off
	promptSize = 200     // bytes
)

// info reads what List tells: the directory from the first line, the first user message from the head, the number of turns
// from the last turn entry. buf is for the head.
func (f file) info(buf []byte) (Info, error) {
	in, err := home.Open(f.path)
	if err != nil {
		return Info{}, err
	}
	defer in.Close()
	n, err := in.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Info{}, err
	}
	head, info := buf[:n], Info{ID: f.id, Time: f.time}
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	var meta Meta
	if json.Unmarshal(first, &meta) == nil {
		info.Dir = meta.Dir
	}
	for len(rest) > 0 && info.Prompt == "" {
		first, rest, _ = bytes.Cut(rest, []byte("\n"))
		info.Prompt = promptOf(first)
	}
	if err != nil { // the head is all
		info.Turns = lastTurn(head)
		return info, nil
	}
	stat, err := in.Stat()
	if err != nil {
		return Info{}, err
	}
	for size := int64(tailSize); info.Turns == 0 && size <= maxTail && size < 8*stat.Size(); size *= 8 {
		tail := make([]byte, size)
		n, err := in.ReadAt(tail, max(0, stat.Size()-size))
		if err != nil && !errors.Is(err, io.EOF) {
			return Info{}, err
		}
		info.Turns = lastTurn(tail[:n])
	}
	return info, nil
}

// lastTurn returns the number of the last turn that ended in a piece of a file.
func lastTurn(piece []byte) (n int) {
	if i := bytes.LastIndex(piece, []byte("\n"+turnStart)); i >= 0 {
		fmt.Sscanf(string(piece[i+1+len(turnStart):min(len(piece), i+40)]), "%d", &n)
	}
	return n
}

// promptOf returns the text of a user's message, one line and not all of it; the message may be cut.
func promptOf(line []byte) string {
	if !bytes.HasPrefix(line, []byte(`{"kind":"user",`)) || bytes.HasPrefix(line, []byte(`{"kind":"user","agent"`)) {
		return ""
	}
	_, text, ok := bytes.Cut(line, []byte(`"text":"`))
	if !ok {
		return ""
	}
	end := 0
	for end < len(text) && text[end] != '"' && end < 4*promptSize {
		step := 1
		if text[end] == '\\' {
			step = 2
			if end+1 < len(text) && text[end+1] == 'u' {
				step = 6
			}
		}
		if end+step > len(text) {
			break
		}
		end += step
	}
	var prompt string
	if json.Unmarshal([]byte(`"`+string(text[:end])+`"`), &prompt) != nil {
		return ""
	}
	prompt = strings.Join(strings.Fields(prompt), " ")
	if len(prompt) > promptSize {
		prompt = strings.ToValidUTF8(prompt[:promptSize], "") + "…"
	}
	return cmp.Or(prompt, "(image)")
}
