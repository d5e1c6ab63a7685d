// Package tools has the built-in tools.
package tools

import (
	"cmp"
	"fmt"
	"strings"

	"anchor/internal/gate"
	"anchor/internal/msg"
	"anchor/internal/tool"
)

// All returns the built-in tools in the order in which the model sees them, the optional ones as asked for.
func All(agents, questions, skills bool) []tool.Tool {
	list := []tool.Tool{readFile(), listDir(), glob(), grep(), writeFile(), editFile(), shell()}
	if agents {
		list = append(list, agent(), agentStatus(), agentStop())
	}
	if questions {
		list = append(list, askUser())
	}
	if skills {
		list = append(list, skill())
	}
	return list
}

// spec is what the model is told of a tool; reads marks one that only reads.
func spec(name string, reads bool, description string) tool.Spec {
	return tool.Spec{Spec: msg.Spec{Name: name, Description: description}, Parallel: reads}
}

// here is the directory where none is named.
func here(path string) string { return cmp.Or(path, ".") }

// leftOut says what a walk left out; empty if nothing.
func leftOut(s gate.Skipped) string {
	var parts []string
	say := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(s.Ignored, "ignored (ignored: true shows them)")
	say(s.Secret, "secret")
	say(s.Denied, "denied by a rule")
	say(s.Binary, "binary")
	say(s.Large, "over 64 MB")
	say(s.Unreadable, "unreadable")
	if parts == nil {
		return ""
	}
	return "[left out: " + strings.Join(parts, ", ") + "]\n"
}
