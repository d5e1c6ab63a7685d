package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anchor/internal/event"
	"anchor/internal/home"
	"anchor/internal/msg"
)

// TestMain lets the tests start this program again as a process that writes a session until it is killed.
func TestMain(m *testing.M) {
	if state := os.Getenv("SESSION_TEST_WRITER"); state != "" {
		l, err := NewStore(state, plainText).Create("/w", "m", "v")
		for i := 0; err == nil; i++ {
			if i == 1 {
				fmt.Println(l.ID())
			}
			_, err = l.Message("", &msg.Tool{CallID: "c", Text: strings.Repeat("é", 1+i*37%5000)})
		}
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func plainText(s string) string { return s }

func newStore(t testing.TB) Store { return NewStore(t.TempDir(), plainText) }

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func create(t testing.TB, s Store, dir string, messages ...string) *Log {
	t.Helper()
	l := must[*Log](t)(s.Create(dir, "model-1", "v1"))
	for _, text := range messages {
		must[int](t)(l.Message("", &msg.User{Text: text}))
	}
	return l
}

func texts(p *Past) (out []string) {
	for _, v := range p.View {
		out = append(out, v.Message.(*msg.User).Text)
	}
	return out
}

func TestEverythingComesBack(t *testing.T) {
	s := newStore(t)
	l := create(t, s, "/w")
	messages := []msg.Message{
		&msg.User{Text: "a < b & \x00 日本\n", Images: []msg.Image{{Type: "image/png", Data: []byte{1, 2}}}},
		&msg.Assistant{Blocks: []msg.Block{msg.Thinking{Text: "hm", Signature: "sig=="}, msg.Text{Text: "t"}, msg.Call{ID: "1", Name: "shell", Args: json.RawMessage(`{"b":1.0,"a":"x > y && <z>"}`)}, msg.Call{ID: "2", Name: "x", Bad: "{", Fault: "cut"}}, Provider: "p", Model: "m", Interrupted: true},
		&msg.Tool{CallID: "1", Name: "shell", OK: true, Text: strings.Repeat("long ", 100_000)},
		&msg.Summary{Text: "s"}, &msg.Note{Text: "n"},
	}
	for _, m := range messages {
		must[int](t)(l.Message("", m))
	}
	must[int](t)(l.Message("agent-1", &msg.User{Text: "of a sub-agent"}))
	others := []Entry{Usage{"", event.Usage{Input: 10, Output: 2, Cached: 3}, 12}, Usage{"agent-1", event.Usage{Input: 5}, 99}, Turn{"completed", "d"},
		Change{"f", true, false, 0o644, "@@", "sum", false}, Undone{[]string{"f"}}, Seen{"g", "sum"}}
	for _, e := range others {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	must[int](t)(l.Message("agent-1", &msg.Note{Text: strings.Repeat("a turn that was cut off ", 20_000)}))
	l.Close()
	again, past, err := s.Open(l.ID(), "/w")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range past.View {
		if v.Seq != i+1 || !reflect.DeepEqual(v.Message, messages[i]) {
			t.Errorf("message %d: %+v", v.Seq, v.Message)
		}
	}
	if len(past.View) != len(messages) || len(past.Notices) > 0 {
		t.Errorf("%d messages, notices %q", len(past.View), past.Notices)
	}
	if all := slices.Collect(past.All); !reflect.DeepEqual(past.Entries, others) || !reflect.DeepEqual(all[len(messages)+1:len(all)-1], others) || past.Agents != 1 {
		t.Errorf("%d agents, entries: %+v", past.Agents, all)
	}
	if past.Usage != (event.Usage{Input: 15, Output: 2, Cached: 3}) || past.Fill != 12 || past.Meta.Model != "model-1" {
		t.Errorf("usage %+v fill %d meta %+v", past.Usage, past.Fill, past.Meta)
	}
	if seq, err := again.Message("", &msg.Note{Text: "on"}); seq != len(messages)+3 || err != nil {
		t.Errorf("went on with %d, %v", seq, err)
	}
	again.Close()
	if list := must[[]Info](t)(s.List("/w")); len(list) != 1 || list[0].Turns != 1 || list[0].Dir != "/w" || list[0].Prompt != "a < b & \x00 日本" {
		t.Errorf("list: %+v", list)
	}
	if _, err := again.Message("", &msg.Note{}); err == nil {
		t.Error("written after Close")
	}
}

func TestReductionsAreReplayed(t *testing.T) {
	s := newStore(t)
	l := create(t, s, "/w", "1", "2", "3", "4")
	view := func() ([]string, *Past) {
		p := must[*Past](t)(s.Load(l.ID()))
		return texts(p), p
	}
	if err := l.Append(Reduced{Kind: "trimmed", Before: 9, After: 5, Keep: []int{1, 2, 3, 4}, Trimmed: []int{2}}); err != nil {
		t.Fatal(err)
	}
	if got, p := view(); !slices.Equal(got, []string{"1", "2", "3", "4"}) || !p.View[1].Trimmed || p.View[0].Trimmed || p.Fill != 5 {
		t.Errorf("trimmed: %v %+v", got, p.View)
	}
	must[int](t)(l.Message("", &msg.User{Text: "sum"}))
	if err := l.Append(Reduced{Kind: "compacted", Keep: []int{1, 5, 4}}); err != nil {
		t.Fatal(err)
	}
	must[int](t)(l.Message("", &msg.User{Text: "6"}))
	if got, _ := view(); !slices.Equal(got, []string{"1", "sum", "4", "6"}) {
		t.Errorf("compacted: %v", got)
	}
	if err := l.Append(Reduced{Kind: "compacted", Keep: []int{77, 5, 6, -1}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := view(); !slices.Equal(got, []string{"sum", "6"}) {
		t.Errorf("unknown messages kept: %v", got)
	}
	if err := l.Append(Reduced{Kind: "compacted", Keep: []int{78}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := view(); !slices.Equal(got, []string{"sum", "6"}) {
		t.Errorf("reduction to nothing: %v", got)
	}
}

func TestOneWriter(t *testing.T) {
	s := newStore(t)
	l := create(t, s, "/w", "x")
	if _, _, err := s.Open(l.ID(), "/w"); !errors.Is(err, ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	if err := s.Remove(l.ID()); !errors.Is(err, ErrLocked) {
		t.Errorf("removed in use: %v", err)
	}
	older := create(t, s, "/w", "older")
	older.Close()
	if err := os.Chtimes(older.path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	create(t, s, "/w").Close() // nobody said anything
	if id, err := s.Newest("/w"); id != l.ID() || err != nil {
		t.Errorf("newest %s, %v", id, err)
	}
	fork := must[string](t)(s.Fork(l.ID(), "/elsewhere"))
	l.Close()
	if p := must[*Past](t)(s.Load(fork)); p.Meta.ID != fork || p.Meta.Dir != "/w" || !slices.Equal(texts(p), []string{"x"}) {
		t.Errorf("fork: %+v", p)
	}
	if id, err := s.Newest("/elsewhere"); id != fork || err != nil {
		t.Errorf("the copy belongs to where it was made: %s, %v", id, err)
	}
	if err := s.Remove(l.ID()); err != nil {
		t.Error(err)
	}
	if _, _, err := s.Open(l.ID(), "/w"); !errors.Is(err, ErrNoSession) {
		t.Errorf("opened a removed one: %v", err)
	}
}

// A turn whose program was killed ends when its session goes on, so that what it changed is not taken for the next turn's.
func TestABrokenOffTurnEnds(t *testing.T) {
	s := newStore(t)
	l := create(t, s, "/w", "x")
	for _, e := range []Entry{Change{Path: "a"}, Turn{Reason: "completed"}, Change{Path: "b"}} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	for range 2 { // once is enough
		l, _, err := s.Open(l.ID(), "/w")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	var kinds []string
	for _, e := range must[*Past](t)(s.Load(l.ID())).Entries {
		kinds = append(kinds, e.kind())
	}
	if got := strings.Join(kinds, " "); got != "change turn change turn" {
		t.Error(got)
	}
}

func TestDirectoriesAreToldApart(t *testing.T) {
	s := newStore(t)
	long := "/" + strings.Repeat("very/long/", 100)
	dirs := []string{"/t/client/app", "/t/client-app", "/t/client/App", "/t/client.app", "/", "/t/é", "/t/è", long + "a/b", long + "a-b"}
	for _, d := range dirs {
		create(t, s, d, "from "+d).Close()
	}
	for _, d := range dirs {
		list := must[[]Info](t)(s.List(d))
		if len(list) != 1 || list[0].Dir != d {
			t.Errorf("%s: %+v", d, list)
		}
	}
	if all := must[[]Info](t)(s.List("")); len(all) != len(dirs) {
		t.Errorf("%d of %d sessions", len(all), len(dirs))
	}
	if _, err := s.Newest("/t"); !errors.Is(err, ErrNoSession) {
		t.Errorf("newest of a directory without one: %v", err)
	}
	id := must[string](t)(s.Newest("/t/é"))
	l, p, err := s.Open(id, "/moved")
	if err != nil || len(p.Notices) != 1 || !strings.Contains(p.Notices[0], "/t/é") || !strings.Contains(p.Notices[0], "/moved") {
		t.Fatalf("moved: %q, %v", p.Notices, err)
	}
	if _, err := l.Message("", &msg.User{Text: "after the move"}); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if found, err := s.Newest("/moved"); found != id || err != nil {
		t.Errorf("after the move it is not found: %q, %v", found, err)
	}
	if p := must[*Past](t)(s.Load(id)); len(p.View) != 2 {
		t.Errorf("%q", texts(p))
	}
	here := t.TempDir() // it is still there: its sessions stay
	create(t, s, here, "x").Close()
	id = must[string](t)(s.Newest(here))
	l, _, _ = s.Open(id, "/elsewhere")
	l.Close()
	if found, _ := s.Newest(here); found != id {
		t.Error("a session left its directory")
	}
}

func TestIDsAreUnique(t *testing.T) {
	s := newStore(t)
	var mu sync.Mutex
	var wg sync.WaitGroup
	ids := map[string]bool{}
	for i := range 200 {
		wg.Go(func() {
			l, err := s.Create(fmt.Sprintf("/w%d", i%2), "m", "v")
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := l.Message("", &msg.User{Text: "x"}); err != nil {
				t.Fatal(err)
			}
			l.Close()
			mu.Lock()
			ids[l.ID()] = ValidID(l.ID())
			mu.Unlock()
		})
	}
	wg.Wait()
	if list := must[[]Info](t)(s.List("")); len(ids) != 200 || len(list) != 200 {
		t.Errorf("%d ids, %d files", len(ids), len(list))
	}
}

func TestIDsAreChecked(t *testing.T) {
	s := newStore(t)
	for _, id := range []string{"", "x", "../../etc/passwd", "20260928-225355-BE7B", "20260928-225355-be7b/..", "20260928-225355-be7b\n", "20260928-225355-be7bc"} {
		_, err := s.Load(id)
		if ValidID(id) || err == nil || errors.Is(err, ErrNoSession) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := s.Load("20260928-225355-be7b"); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	state := t.TempDir()
	l := create(t, NewStore(filepath.Join(state, "anchor"), plainText), "/w", "x")
	defer l.Close()
	err := filepath.Walk(filepath.Join(state, "anchor"), func(path string, info os.FileInfo, err error) error {
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	mask := func(s string) string { return strings.ReplaceAll(s, "SE\"CRET", "[m]") }
	s := NewStore(t.TempDir(), mask)
	const x = "a SE\"CRET b"
	args := must[[]byte](t)(json.Marshal(map[string]any{"data": x, "n": []string{x}}))
	l := must[*Log](t)(s.Create("/"+x, x, "v"))
	for _, m := range []msg.Message{&msg.User{Text: x, Images: []msg.Image{{Data: []byte(x)}}}, &msg.Tool{Text: x}, &msg.Summary{Text: x}, &msg.Note{Text: x},
		&msg.Assistant{Blocks: []msg.Block{msg.Text{Text: x}, msg.Thinking{Text: "clean", Signature: x, Redacted: x}, msg.Thinking{Text: x, Signature: "sig"}, msg.Call{Name: "n", Args: args, Bad: x, Fault: x}}}} {
		must[int](t)(l.Message("", m))
	}
	for _, e := range []Entry{Turn{"error", x}, Change{Path: x, Reverse: x}, Seen{Path: x}, Undone{[]string{x}}} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	data := string(must[[]byte](t)(os.ReadFile(l.path)))
	if n := strings.Count(data, `SE\"CRET`); n != 2 { // the signature and the redacted block
		t.Errorf("%d secrets left in\n%s", n, data)
	}
	p := must[*Past](t)(s.Load(l.ID()))
	blocks := p.View[4].Message.(*msg.Assistant).Blocks
	if b := blocks[1].(msg.Thinking); b.Signature != x || b.Redacted != x {
		t.Errorf("signature changed: %+v", b)
	}
	if b := blocks[2].(msg.Thinking); b.Signature != "" {
		t.Errorf("a signature that no longer fits: %+v", b)
	}
	if args := string(blocks[3].(msg.Call).Args); args != `{"data":"a [m] b","n":["a [m] b"]}` {
		t.Errorf("args %s", args)
	}
	if img := p.View[0].Message.(*msg.User).Images[0]; string(img.Data) != x {
		t.Errorf("image changed: %q", img.Data)
	}
	if c := p.Entries[1].(Change); !c.Lossy || c.Reverse != "" {
		t.Errorf("a hunk that can't be put back: %+v", c)
	}
}

// Whatever is done to a file from one byte on, the whole lines before it come back, and what is written next stands alone.
func TestDamage(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newStore(t)
		l := create(t, s, "/w")
		for i := range 12 {
			must[int](t)(l.Message("", &msg.User{Text: fmt.Sprint(i, strings.Repeat("é\"\\", r.IntN(40)))}))
			if err := l.Append(Turn{"completed", ""}); err != nil {
				t.Fatal(err)
			}
		}
		l.Close()
		data := must[[]byte](t)(os.ReadFile(l.path))
		at := r.IntN(len(data))
		junk := [][]byte{nil, nil, make([]byte, 100), []byte("}{\xff\n{\"kind\":"), []byte("{\"kind\":\"hologram\",\"x\":1}\n"), []byte("\n\n{}\nnull\n[1]\n\"\n")}[r.IntN(6)]
		tail := data[at:]
		if r.IntN(2) == 0 {
			tail = nil
		}
		if err := os.WriteFile(l.path, slices.Concat(data[:at], junk, tail), 0o600); err != nil {
			t.Fatal(err)
		}
		whole := strings.Count(string(data[:at]), `"kind":"user"`)
		if i := strings.LastIndexByte(string(data[:at]), '\n'); strings.Contains(string(data[i+1:at]), `"kind":"user"`) {
			whole--
		}
		for round := 1; round <= 2; round++ {
			l, p, err := s.Open(l.ID(), "/w")
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			got := texts(p)
			if len(got) < whole+round-1 || whole > 0 && got[whole-1][:1] != fmt.Sprint(whole - 1)[:1] || round == 2 && got[len(got)-1] != "after 1" {
				t.Fatalf("seed %d round %d: want %d and more, got %d: %.300q", seed, round, whole, len(got), got)
			}
			must[int](t)(l.Message("", &msg.User{Text: fmt.Sprint("after ", round)}))
			l.Close()
		}
		if p := must[*Past](t)(s.Load(l.ID())); texts(p)[len(p.View)-1] != "after 2" {
			t.Fatalf("seed %d: the last message is lost", seed)
		}
	}
}

func TestDamageIsTold(t *testing.T) {
	s := newStore(t)
	l := create(t, s, "/w", "one", "two", "three")
	l.Close()
	lines := strings.SplitAfter(string(must[[]byte](t)(os.ReadFile(l.path))), "\n")
	lines[2] = lines[2][:30] + "\n" + `{"kind":"hologram"}` + "\n\x00\x00\x00" // before three
	if err := os.WriteFile(l.path, []byte(strings.Join(lines, "")+`{"kind":"assistant","te`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := must[*Past](t)(s.Load(l.ID()))
	if got := texts(p); !slices.Equal(got, []string{"one", "three"}) {
		t.Errorf("%q", got)
	}
	for i, want := range []string{"line 3: " + badLine, "line 4: " + unknown, "line 5: " + zeroes, "line 6: " + cutLine} {
		if i >= len(p.Notices) || p.Notices[i] != "session file "+l.path+", "+want {
			t.Errorf("notice %d: want %q in %q", i, want, p.Notices)
		}
	}
}

func TestKilledWriterLosesNothing(t *testing.T) {
	for range 100 {
		state := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SESSION_TEST_WRITER="+state)
		out := must[interface{ Read([]byte) (int, error) }](t)(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		id := make([]byte, 20)
		if _, err := out.Read(id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // a random point is what is tested
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		s := NewStore(state, plainText)
		l, p, err := s.Open(string(id), "/w")
		if err != nil {
			t.Fatal(err) // a dead process's lock does not block
		}
		for i, v := range p.View {
			if m := v.Message.(*msg.Tool); v.Seq != i+1 || len(m.Text) != 2*(1+i*37%5000) {
				t.Fatalf("message %d is not whole", v.Seq)
			}
		}
		must[int](t)(l.Message("", &msg.Note{Text: "after"}))
		l.Close()
		if again := must[*Past](t)(s.Load(string(id))); len(again.View) != len(p.View)+1 {
			t.Errorf("%d messages after %d", len(again.View), len(p.View))
		}
	}
}

// fullDisk fails after some bytes, as a full disk does.
type fullDisk struct {
	file interface{ Write([]byte) (int, error) }
	left int
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, errors.New("no space left on device")
	}
	return f.file.Write(p)
}
func (f *fullDisk) Close() error { return nil }

// A session that can't be written is gone on with all the same; the first entry tells.
func TestUnwritable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes whatever the mode says")
	}
	s := newStore(t)
	l := create(t, s, "/w", "one")
	l.Close()
	if err := os.WriteFile(l.path, append(must[[]byte](t)(os.ReadFile(l.path)), "{\"kind\":"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(l.path, 0o400); err != nil {
		t.Fatal(err)
	}
	l, p, err := s.Open(l.ID(), "/w")
	if err != nil || len(p.View) != 1 {
		t.Fatalf("%v", err)
	}
	defer l.Close()
	if _, err := l.Message("", &msg.User{Text: "two"}); err == nil {
		t.Error("wrote to a write-protected file")
	}
}

func TestFullDisk(t *testing.T) {
	s := newStore(t)
	l := create(t, s, "/w", "one")
	disk := &fullDisk{l.file, 200}
	l.file = disk
	var first error
	for range 10 {
		if _, err := l.Message("", &msg.User{Text: "more"}); err != nil && first == nil {
			first = err
		} else if first != nil && !errors.Is(err, first) {
			t.Fatalf("%v, then %v", first, err)
		}
	}
	disk.left = 1 << 20
	if err := l.Append(Turn{}); err == nil || !errors.Is(err, first) {
		t.Errorf("a dead log took an entry: %v", err)
	}
	l.Close()
	if p := must[*Past](t)(s.Load(l.ID())); len(p.View) < 2 || len(p.Notices) != 1 {
		t.Errorf("%d messages, %q", len(p.View), p.Notices)
	}
	if _, err := NewStore("/proc/self", plainText).Create("/w", "m", "v"); err == nil {
		t.Error("created in /proc")
	}
}

func big(b testing.TB, s Store, bytes int) string {
	l := create(b, s, "/w", "first")
	defer l.Close()
	for n := 0; n < bytes; n += 4200 {
		if _, err := l.Message("", &msg.Assistant{Blocks: []msg.Block{msg.Call{ID: "c", Name: "shell", Args: json.RawMessage(`{"command":"ls"}`)}}}); err != nil {
			b.Fatal(err)
		}
		if _, err := l.Message("", &msg.Tool{CallID: "c", Name: "shell", OK: true, Text: strings.Repeat("a line of output\n", 220)}); err != nil {
			b.Fatal(err)
		}
		if n%42000 == 0 {
			if err := l.Append(Turn{"completed", ""}); err != nil {
				b.Fatal(err)
			}
		}
	}
	return l.ID()
}

// What no window could hold is left out of the view, but for the first message of the user's.
func TestLongSession(t *testing.T) {
	s := newStore(t)
	id := big(t, s, maxView+maxView/4)
	l, p, err := s.Open(id, "/w")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := p.View[0].Message.(*msg.User).Text; got != "first" || len(p.Notices) != 1 || !strings.Contains(p.Notices[0], "longer than any context window") || p.Fill != 0 {
		t.Errorf("starts with %q, %q", got, p.Notices)
	}
	last, shown := p.View[len(p.View)-1].Seq, 0
	if second := p.View[1].Seq; second < 1000 || last-second != len(p.View)-2 {
		t.Errorf("goes on with %d of %d messages from %d", len(p.View), last, second)
	}
	for e := range must[*Past](t)(s.Load(id)).All {
		if m, ok := e.(Message); ok && m.Seq == shown+1 {
			shown++
		}
	}
	if shown != last {
		t.Errorf("show has %d of %d messages", shown, last)
	}
}

// Other programs may have written the line ends, or nothing be left.
func TestForeignLineEnds(t *testing.T) {
	s := newStore(t)
	l := create(t, s, "/w", "one", "two")
	l.Close()
	data := must[[]byte](t)(os.ReadFile(l.path))
	if err := os.WriteFile(l.path, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := must[*Past](t)(s.Load(l.ID())); !slices.Equal(texts(p), []string{"one", "two"}) || len(p.Notices) > 0 {
		t.Errorf("%q, %q", texts(p), p.Notices)
	}
	if err := os.WriteFile(l.path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p := must[*Past](t)(s.Load(l.ID())); len(p.View) > 0 || len(p.Notices) != 1 {
		t.Errorf("an empty file: %q", p.Notices)
	}
}

func BenchmarkOpen50MB(b *testing.B) {
	for _, reduced := range []bool{false, true} {
		b.Run(fmt.Sprintf("reduced=%v", reduced), func(b *testing.B) {
			s := newStore(b)
			id := big(b, s, 50<<20)
			if reduced {
				l, _, _ := s.Open(id, "/w")
				if err := l.Append(Reduced{Keep: []int{1, 20000, 20001}}); err != nil {
					b.Fatal(err)
				}
				l.Close()
			}
			for b.Loop() {
				l, p, err := s.Open(id, "/w")
				if err != nil || len(p.View) < 3 {
					b.Fatal(err)
				}
				l.Close()
			}
		})
	}
}

func BenchmarkList10000(b *testing.B) {
	s := newStore(b)
	one := create(b, s, "/w", "a first prompt", "x")
	data, _ := os.ReadFile(one.path)
	for i := range 10_000 {
		f, err := home.Create(filepath.Join(filepath.Dir(one.path), fmt.Sprintf("20260101-000000-%04x.jsonl", i)))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
	for b.Loop() {
		if list, err := s.List("/w"); len(list) != 10_001 || list[3].Prompt != "a first prompt" {
			b.Fatal(err)
		}
	}
}
