package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRead(t *testing.T) {
	long := strings.Repeat("x", 20<<20)
	in := "a\r\n\n \t\r\n" + long + "\n" + long + long + "\n{\x00}\n\xff\nb\n\u00a0{}\nhalf"
	want := []struct{ text, err string }{{"a", ""}, {long, ""}, {"", "over 32 MB"}, {"{\x00}", ""}, {"", "not valid UTF-8"}, {"b", ""}, {"\u00a0{}", ""}, {"", "middle of a line"}}
	for l := range Read(t.Context(), strings.NewReader(in)) {
		if len(want) == 0 {
			t.Fatalf("one too many: %.40q", l.Text)
		}
		if w := want[0]; w.err == "" && (l.Err != nil || string(l.Text) != w.text) || w.err != "" && (l.Err == nil || !strings.Contains(l.Err.Error(), w.err)) {
			t.Errorf("%.40q, %v; want %.40q, %s", l.Text, l.Err, w.text, w.err)
		}
		want = want[1:]
	}
	if len(want) > 0 {
		t.Errorf("%d lines did not come", len(want))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for range Read(ctx, strings.NewReader("a\nb\nc\n")) { // it ends, whatever still comes
	}
}

func TestQueueKeepsOrder(t *testing.T) {
	var out bytes.Buffer
	q, want := NewQueue(&out, func(error) { t.Error("gone") }), ""
	for i := range 1000 {
		line := strings.Repeat("x", i) + "\n"
		want += line
		if _, err := io.WriteString(q, line); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Close(); err != nil || out.String() != want {
		t.Errorf("%v, %d bytes of %d", err, out.Len(), len(want))
	}
	if _, err := q.Write([]byte("late\n")); err != nil || out.String() != want {
		t.Errorf("a line after the end: %v", err)
	}
}

// A client that never reads keeps nobody waiting: it is given up when too much is unread, or soon after the end.
func TestQueueOfADeafClient(t *testing.T) {
	for name, size := range map[string]int{"too much": maxUnread, "the end": 10} {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			defer r.Close()
			told := 0
			q := NewQueue(w, func(error) { told++ })
			_, first := q.Write([]byte("x"))
			synctest.Wait() // it is being written now
			_, second := q.Write(make([]byte, size))
			_, third := q.Write([]byte("x"))
			err := q.Close()
			if first != nil || second != nil || (third != nil) != (size == maxUnread) || err == nil || told != 1 {
				t.Errorf("%s: %v, %v, %v, %v, told %d times", name, first, second, third, err, told)
			}
		})
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestQueueTellsWhyItFailed(t *testing.T) {
	q := NewQueue(full{}, func(error) {})
	_, _ = q.Write([]byte("x\n"))
	if err := q.Close(); err == nil || !strings.Contains(err.Error(), "standard output can't be written: no space") {
		t.Error(err)
	}
}
