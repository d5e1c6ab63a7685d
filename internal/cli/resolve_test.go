package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// The window of a model that the table does not know is the server's own word; without one it is assumed, and said.
func TestWindow(t *testing.T) {
	for name, want := range map[string]string{"told": "4096 server []", "silent": "128000 assumed [the context window of silent is not known", "claude-sonnet-5": "1000000 table []"} {
		asked := false
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = true
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"data": [{"id": "told", "context_length": 4096}, {"id": "silent"}]}`)
		}))
		defer server.Close()
		dir := t.TempDir()
		sh := shell{env: []string{"HOME=" + dir, "OPENAI_BASE_URL=" + server.URL}, err: os.Stderr}
		w, err := prepare(t.Context(), sh, &options{dir: dir, model: "openai/" + name}, face{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.close()
		m, err := w.choose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.measure(t.Context(), &m)
		if got := fmt.Sprint(m.Info.Window, " ", m.Info.Source, " ", w.notices); !strings.HasPrefix(got, want) || asked != (name != "claude-sonnet-5") {
			t.Errorf("%s: %s, want %s; asked %v", name, got, want, asked)
		}
	}
}
