package session

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"anchor/internal/event"
	"anchor/internal/msg"
)

// hostile is text that would do something in a careless page.
const hostile = `</pre></style></title><script>alert(1)</script><img src=x onerror=alert(1)> "'` + "`" + ` {{.}} {style}{items} &amp; ` + "\x1b[31m \u202e \x00"

func hostilePast(t *testing.T) *Past {
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	call := &msg.Assistant{Blocks: []msg.Block{msg.Thinking{Text: hostile}, msg.Text{Text: hostile}, msg.Call{ID: hostile, Name: hostile, Args: []byte(`{"a":"` + "</script>" + `"}`)}}}
	long := strings.Repeat("a long line of output\n", 40)
	p := &Past{
		path:  file,
		Meta:  Meta{ID: hostile, Dir: hostile, Model: hostile, Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)},
		Usage: event.Usage{Input: 10, Output: 2, Cached: 5},
	}
	for _, e := range []Entry{
		Message{Seq: 1, Message: &msg.User{Text: "Mend the test. " + hostile, Images: []msg.Image{{Type: "image/svg+xml", Data: []byte("<svg onload=alert(1)>")}, {Type: "image/png", Data: []byte("x")}}}},
		Message{Seq: 2, Message: call},
		Message{Seq: 3, Agent: hostile, Message: &msg.Tool{Name: "shell", OK: false, Text: long + hostile}},
		Message{Seq: 4, Message: &msg.Tool{Name: "read_file", OK: true, Text: "short"}},
		Change{Path: hostile, Reverse: "@@ -1,2 +1,2 @@\n one\n-two\n+2\n" + "+" + hostile + "\n"},
		Message{Seq: 4, Message: &msg.Assistant{Blocks: []msg.Block{msg.Call{Name: "shell", Args: []byte(`{"timeout":9,"command":"a > b \u0026\u0026 c\nd"}`)}}}},
		Message{Seq: 4, Message: &msg.Tool{Name: "read_file", OK: true, Text: strings.Repeat("one line ", 200)}},
		Change{Path: "new.txt", Created: true, Lossy: true},
		Reduced{Kind: "compacted", Before: 9000, After: 1000},
		Message{Seq: 5, Message: &msg.Summary{Text: hostile}}, Message{Seq: 6, Message: &msg.Note{Text: hostile}},
		Turn{Reason: "error", Detail: hostile}, Undone{Paths: []string{hostile}},
	} {
		p.records = append(p.records, record{e: e})
	}
	return p
}

func TestExportEscapesEverything(t *testing.T) {
	var b bytes.Buffer
	if err := Export(&b, hostilePast(t)); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	if m := regexp.MustCompile(`(?i)<script|<[^>]*\son\w+=|javascript:|https?://|\x1b|\x00|\x{202e}`).FindString(strings.ReplaceAll(out, "http-equiv", "")); m != "" {
		t.Errorf("the page has %q in it", m)
	}
	if strings.Contains(out, "<img") {
		t.Error("an image is in the page")
	}
	for _, want := range []string{"default-src 'none'", `<span class="add">+two`, `<span class="del">-2`, `\u202e`, "Created new.txt", "held a secret", "<pre>command: \na &gt; b &amp;&amp; c\nd\ntimeout: 9\n</pre>"} {
		if !strings.Contains(out, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(out, style); n != 1 {
		t.Errorf("the style stands in the page %d times: text was taken as a place to fill", n)
	}
	if n := strings.Count(out, "<details>"); n != 4 {
		t.Errorf("%d parts are folded: the thinking, the long output, the long line and the summary should be", n)
	}
}

// TestExportInABrowser draws the page: what is drawn is its text, and nothing of it ran.
func TestExportInABrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "session.html")
	var b bytes.Buffer
	if err := Export(&b, hostilePast(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--virtual-time-budget=2000"}
	for _, width := range []string{"400", "1000"} {
		shot := filepath.Join(dir, width+".png")
		if out, err := exec.Command(chromium, append(args, "--window-size="+width+",1400", "--screenshot="+shot, "file://"+file)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if info, err := os.Stat(shot); err != nil || info.Size() < 10_000 {
			t.Errorf("no picture of the page at %s pixels: %v", width, err)
		}
		if keep := os.Getenv("ANCHOR_SHOTS"); keep != "" {
			data, err := os.ReadFile(shot)
			if err == nil {
				err = os.WriteFile(filepath.Join(keep, "export-"+width+".png"), data, 0o600)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	dom, err := exec.Command(chromium, append(args, "--dump-dom", "file://"+file)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(dom, []byte("<script")) || !bytes.Contains(dom, []byte("Mend the test.")) {
		t.Error("the page was not drawn as text")
	}
}

// A change reads as people know it: what was there before what came, also without an end of line.
func TestHunksAreTurned(t *testing.T) {
	c := Change{Path: "a", Reverse: "@@ -1,3 +1,2 @@\n one\n-new\n-more\n+old\n@@ -9 +8 @@\n-b\n\\ No newline at end of file\n+a\n\\ No newline at end of file\n"}
	var got []string
	for _, l := range ofChange(c).Lines {
		got = append(got, l.Text)
	}
	if want := []string{"@@ -1,2 +1,3 @@", " one", "-old", "+new", "+more", "@@ -8 +9 @@", "-a", "+b"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
