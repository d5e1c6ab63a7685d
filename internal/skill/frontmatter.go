// Package skill finds and reads what a user or a project tells the model in files: skills, definitions of sub-agents, and
// instructions. It grants nothing: all it returns is text, names, and notices about what is wrong with a file.
//
// Every file is read through the gate, judged by where it really is: a regular file below the place it was found in, and no
// secret.
package skill

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// split separates the YAML front matter of a Markdown file, between two lines of three dashes, from its body, and decodes
// it into v. Unknown fields are left alone.
func split(data []byte, v any) (body string, err error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", errors.New(`no front matter: the first line must be "---"`)
	}
	front, body, ok := cutLine(rest, "---")
	if !ok {
		return "", errors.New(`the front matter does not end: no second line "---"`)
	}
	if err := yaml.Unmarshal([]byte(front), v); err != nil {
		return "", fmt.Errorf("front matter: %s", strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " "))
	}
	return strings.TrimLeft(body, "\n"), nil
}

// cutLine cuts text around the first line that is want, trailing blanks aside.
func cutLine(text, want string) (before, after string, ok bool) {
	at := 0
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, " \t\n") == want {
			return text[:at], text[at+len(line):], true
		}
		at += len(line)
	}
	return "", "", false
}

// list is a YAML list of words, or one string with the words parted by commas or blanks.
type list []string

// UnmarshalYAML reads either form.
func (l *list) UnmarshalYAML(n *yaml.Node) error {
	*l = list{}
	switch n.Kind {
	case yaml.SequenceNode:
		return n.Decode((*[]string)(l))
	case yaml.ScalarNode:
		*l = strings.FieldsFunc(n.Value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
		return nil
	}
	return fmt.Errorf("line %d: neither a list nor a string", n.Line)
}
