// Package tools has the built-in tools, one file each.
package tools

import "anchor/internal/tool"

// All returns the built-in tools in the order in which the model sees them; agents, questions and skills say which of the
// optional ones are offered.
func All(agents, questions, skills bool) []tool.Tool { panic("not built") }
