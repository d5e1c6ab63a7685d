package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// A tool is offered as mcp__SERVER__TOOL in letters, digits, _ and -, at most 64 long. The name says by itself whose tool it is: a
// server's part has no two underlines in a row and none at its ends. Names that become the same get a hash of the original one, so that
// they depend on no order.

const maxName = 64

var (
	odd       = regexp.MustCompile(`[^A-Za-z0-9_-]`)
	underline = regexp.MustCompile(`__+`)
)

// legalServers gives each server the part that stands for it in its tools' names.
func legalServers(definitions []Definition) map[string]string {
	var names []string
	for _, d := range definitions {
		names = append(names, d.Name)
	}
	return unique(names, "", 24, func(form string) string { return strings.Trim(underline.ReplaceAllString(form, "_"), "_") })
}

// legalTools gives each tool of a server the name it is offered under.
func legalTools(server string, tools []string) map[string]string {
	return unique(tools, "mcp__"+server+"__", maxName, func(form string) string { return form })
}

// unique gives names a legal form of at most max bytes each. A form that two would have is left to the one that has it already.
func unique(names []string, prefix string, max int, tidy func(string) string) map[string]string {
	count, forms, out := map[string]int{}, map[string]string{}, map[string]string{}
	for _, name := range names {
		forms[name] = tidy(odd.ReplaceAllString(name, "_"))
		count[forms[name]]++
	}
	for name, form := range forms {
		if len(prefix+form) > max || form == "" || count[form] > 1 && form != name {
			sum := sha256.Sum256([]byte(name))
			form = strings.TrimRight(form[:min(len(form), max-len(prefix)-7)], "_")
			form = strings.TrimLeft(form+"_"+hex.EncodeToString(sum[:3]), "_")
		}
		out[name] = prefix + form
	}
	return out
}
