package archtest

// DO NOT CHANGE THIS DATA TO MEND A BUILD. It is the architecture: who may know whom. A new edge needs a reason in
// DESIGN.md, and there is none from a lower line to a higher one.
//
// One line a package: what it may import of this module. "all" is everything.
const layers = `
event:
msg:
diff:
secret:
ignore:
home:
model:
shellread:
denial:              shellread secret
policy:              shellread secret denial
gate:                policy diff secret shellread denial ignore event
tool:                gate event msg
tools:               tool gate msg event diff
provider:            msg model
provider/anthropic:  provider msg
provider/openai:     provider msg
provider/script:     provider msg
provider/wiretest:
session:             home msg event
config:              home model
skill:               gate
mcp:                 gate home tool msg config
agent:               tool gate provider msg event session model secret
front/repl:          event gate tool diff msg
front/print:         event gate tool diff msg
front/wire:
front/jsonl:         event gate tool diff msg front/wire
front/jsonl/jsonltest: front/jsonl
front/acp:           event gate tool diff msg front/wire
cli:                 all
archtest:
`

// pure packages judge; facts come in as values. They may not read the clock, the environment, the disk or the network.
var pure = []string{"event", "msg", "diff", "secret", "ignore", "shellread", "denial", "policy", "model"}

// leave says which packages may use the names of a guarded package at all, and why.
var leave = map[string]map[string]string{
	"os/exec": {
		"gate": "starts commands and servers",
		"home": "the desktop's keychain",
	},
	"os": {
		"gate": "the user's workspace",
		"home": "anchor's own directory",
		"cli":  "signals, exit and the process's own streams",
		"":     "main hands the process over",
	},
	"syscall": {
		"gate": "process groups, files that are no files",
		"home": "locks",
		"cli":  "signals",
	},
	"golang.org/x/sys/unix": {
		"gate": "process groups, descriptors, the kernel's sandbox",
		"home": "locks",
		"cli":  "whether anybody still reads standard output",
	},
	"net": {
		"provider":           "connection bounds and error kinds",
		"provider/anthropic": "error kinds",
		"provider/openai":    "error kinds",
		"mcp":                "the loopback listener of a sign-in",
		"cli":                "finding local model servers",
	},
	"net/http": {
		"provider":           "the shared client",
		"provider/anthropic": "the wire",
		"provider/openai":    "the wire",
		"mcp":                "servers over HTTP",
		"cli":                "finding local model servers",
	},
	"log": {},
}

// harmless names of guarded packages touch nothing.
var harmless = map[string][]string{
	"os":       {"ErrNotExist", "ErrExist", "ErrPermission", "IsNotExist", "FileMode", "ModePerm", "ModeDir", "ModeSymlink", "PathSeparator", "DevNull", "Signal", "Interrupt"},
	"net/http": {"StatusText", "Header", "CanonicalHeaderKey", "DetectContentType"},
}

// toolImports is all that the packages tool and tools may import from outside the module.
var toolImports = []string{
	"bufio", "bytes", "cmp", "context", "encoding/binary", "encoding/json", "errors", "fmt", "io", "io/fs", "iter", "maps", "math", "path", "reflect", "regexp", "regexp/syntax", "slices", "sort", "strconv",
	"strings", "sync", "sync/atomic", "time", "unicode", "unicode/utf16", "unicode/utf8",
	"github.com/bmatcuk/doublestar/v4", "github.com/google/jsonschema-go/jsonschema",
}

// handles may not appear in what gate exports: whoever holds one can reach the disk or a process past the policy.
var handles = []string{"os.File", "os.Root", "os.Process", "os/exec.Cmd", "net.Conn", "net.Listener", "net/http.Client"}

// heavy packages may not be in the program at all, not by a library either, for what they cost every start.
var heavy = map[string]string{
	"text/template": "it looks methods up by name, so the linker keeps every method of every library: twice the binary and its memory",
	"html/template": "the same",
}
