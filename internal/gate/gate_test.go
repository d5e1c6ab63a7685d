package gate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"anchor/internal/event"
	"anchor/internal/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// user is an approver that gives the same answer always, and keeps what it was asked.
type user struct {
	mu     sync.Mutex
	answer Answer
	asked  []Request
	before func(Request) // is called while the question is open
}

func (u *user) Approve(_ context.Context, r Request) (Answer, error) {
	if u.before != nil {
		u.before(r)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, r)
	return u.answer, nil
}

// yes says yes to everything: what holds, holds by policy alone.
func yes() *user { return &user{answer: Answer{Yes: true}} }

// world is a gate on a scratch directory: dir is its directory, beside it home and out.
type world struct {
	*Gate
	t       *testing.T
	root    string
	mu      sync.Mutex
	events  []event.Event
	records []Record
}

func newWorld(t *testing.T, files map[string]string, set ...func(*Options)) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root}
	for _, dir := range []string{"dir", "home", "out"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		w.put(name, content)
	}
	o := Options{Dir: filepath.Join(root, "dir"), Home: filepath.Join(root, "home"), OutputDir: filepath.Join(root, "state"),
		Env:    []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "LANG=C.UTF-8"},
		Record: func(r Record) error { w.mu.Lock(); defer w.mu.Unlock(); w.records = append(w.records, r); return nil },
		Sink:   func(e event.Event) { w.mu.Lock(); defer w.mu.Unlock(); w.events = append(w.events, e) }}
	for _, f := range set {
		f(&o)
	}
	if w.Gate, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func approver(a Approver) func(*Options) { return func(o *Options) { o.Approver = a } }
func yolo(o *Options)                    { o.Rules.Yolo = true }
func env(kv ...string) func(*Options)    { return func(o *Options) { o.Env = append(kv, o.Env...) } }

// put writes a file; a name that starts with ../ lies beside the directory.
func (w *world) put(name, content string) {
	w.t.Helper()
	full := w.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(target, name string) {
	w.t.Helper()
	if err := os.Symlink(target, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.root, "dir", name) }

// get returns the content of a file, or "(none)".
func (w *world) get(name string) string {
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		return "(none)"
	}
	return string(data)
}

// changes returns what was recorded as changed.
func (w *world) changes() []Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Change
	for _, r := range w.records {
		if c, ok := r.(Change); ok {
			out = append(out, c)
		}
	}
	return out
}

// set is an edit that makes the content s.
func set(s string) Edit { return func([]byte, bool) ([]byte, error) { return []byte(s), nil } }

func isRefusal(err error) bool {
	var r *Refusal
	return errors.As(err, &r)
}

func TestHeadlessRefusalNamesTheRule(t *testing.T) {
	w := newWorld(t, nil)
	_, err := w.As("write_file", "").Write(t.Context(), "a.txt", WriteOptions{}, set("x\n"))
	var r *Refusal
	if !errors.As(err, &r) || r.Title != "Create a.txt" || r.Allow == "" {
		t.Fatalf("got %#v", err)
	}
	if len(w.events) != 1 {
		t.Fatalf("events: %v", w.events)
	}
	n := w.events[0].(event.Notice)
	want := event.Refusal{Tool: "write_file", Title: "Create a.txt", Allow: r.Allow}
	if n.Refusal == nil || *n.Refusal != want || !strings.Contains(n.Message, `--allow "`+r.Allow) || strings.Contains(n.Message, "@@") {
		t.Errorf("notice %q %+v", n.Message, n.Refusal)
	}
	if w.get("a.txt") != "(none)" {
		t.Error("it was written")
	}
}

// TestTitlesKeepToOneLine asks about names that would forge lines, and about a file outside that was not read.
func TestTitlesKeepToOneLine(t *testing.T) {
	u := yes()
	w := newWorld(t, nil, approver(u))
	if _, err := w.Write(t.Context(), "a\nCreate b\x1b[2K\u202e", WriteOptions{}, set("x")); err != nil || len(u.asked) != 1 || u.asked[0].Title != `Create a␊Create b\x1b[2K\u202e` {
		t.Errorf("%v %q", err, u.asked)
	}
	headless := newWorld(t, map[string]string{"../other": "x"})
	var refusal *Refusal
	if _, err := headless.Write(t.Context(), "../other", WriteOptions{NeedSeen: true}, set("y")); !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, "outside") {
		t.Errorf("%v", err)
	}
	_, _ = headless.Exec(t.Context(), Command{Text: "ls\nrm f"})
	if n, _ := headless.events[len(headless.events)-1].(event.Notice); !strings.Contains(n.Message, "ls␊ rm f. It is") {
		t.Errorf("%q", n.Message)
	}
}

func TestAnswers(t *testing.T) {
	u := &user{answer: Answer{Reason: "use b.txt"}}
	w := newWorld(t, map[string]string{"a.txt": "a\n"}, approver(u))
	sub := w.For(w.sink, "agent-1")
	_, err := sub.Write(t.Context(), "a.txt", WriteOptions{}, set("b\x1b[31m\u202e\n"))
	var r *Refusal
	if !errors.As(err, &r) || !r.ByUser || !strings.Contains(r.Reason, "use b.txt") {
		t.Fatalf("got %v", err)
	}
	q := u.asked[0]
	if q.Title != "agent-1: Edit a.txt" || q.Detail != "@@ -1 +1 @@\n-a\n+b\\x1b[31m\\u202e\n" || q.Always == "" {
		t.Errorf("asked %+v", q)
	}
	u.answer = Answer{Yes: true, Always: true}
	for _, name := range []string{"c.txt", "d.txt"} {
		if _, err := w.Write(t.Context(), name, WriteOptions{}, set("x")); err != nil {
			t.Fatal(err)
		}
	}
	if len(u.asked) != 2 {
		t.Errorf("asked %d times after always", len(u.asked))
	}
	if _, err := sub.Write(t.Context(), "e.txt", WriteOptions{}, set("x")); err != nil {
		t.Errorf("always does not hold for the sub-agent: %v", err)
	}
}

func TestNewSaysWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, file + "-none"} {
		if _, err := New(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestDecideIsNotTheUsersForOthers(t *testing.T) {
	w := newWorld(t, nil)
	if d := w.Judge("", "", "new.txt", ""); d.Verdict != policy.Ask {
		t.Errorf("write: %+v", d)
	}
	if d := w.Judge("", "../out/x", "", ""); d.Verdict == policy.Allow {
		t.Errorf("read outside: %+v", d)
	}
	if d := w.Judge("", "", "", "db/query"); d.Verdict != policy.Ask {
		t.Errorf("mcp: %+v", d)
	}
}

// always answers a question for second.txt so; the others stay open until they are withdrawn.
type always struct{ open chan bool }

func (a always) Approve(ctx context.Context, r Request) (Answer, error) {
	if strings.Contains(r.Title, "second.txt") {
		return Answer{Yes: true, Always: true}, nil
	}
	a.open <- true
	<-ctx.Done()
	return Answer{}, ctx.Err()
}

// An always settles the other open questions that it covers, and only those.
func TestAlwaysSettlesOpenQuestions(t *testing.T) {
	a := always{make(chan bool)}
	w := newWorld(t, nil, approver(a))
	ctx, stop := context.WithCancel(t.Context())
	covered, outside := make(chan error), make(chan error)
	write := func(name string, to chan<- error) {
		_, err := w.Write(ctx, name, WriteOptions{}, func([]byte, bool) ([]byte, error) { return []byte("x\n"), nil })
		to <- err
	}
	go write("first.txt", covered)
	<-a.open
	go write("../outside.txt", outside)
	<-a.open
	go write("second.txt", covered)
	if one, two := <-covered, <-covered; one != nil || two != nil || w.get("first.txt") != "x\n" || w.get("second.txt") != "x\n" {
		t.Errorf("%v, %v", one, two)
	}
	select {
	case err := <-outside:
		t.Errorf("settled: %v", err)
	default:
	}
	stop()
	if err := <-outside; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAListOfNamesHidesNoSecret: ls puts out what is there, with -a what begins with a dot too.
func TestAListOfNamesHidesNoSecret(t *testing.T) {
	w := newWorld(t, map[string]string{".env": "K=1\n", "a.txt": "a\n"})
	for _, c := range []string{"ls -a | xargs cat", "cat $(ls -A)", "ls --all | xargs -n1 base64", "cat .*"} {
		if d := w.Judge(c, "", "", ""); d.Verdict != policy.Deny || !d.Hard {
			t.Errorf("%s: %+v", c, d)
		}
	}
	if d := w.Judge("ls | xargs cat", "", "", ""); d.Verdict != policy.Ask {
		t.Errorf("without -a: %+v", d)
	}
}
