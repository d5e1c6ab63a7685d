package shellread

import (
	"slices"
	"strings"
)

// awkReads accepts an awk program that only reads its input and prints. It splits the program into tokens and refuses a
// pipe, an @, an output redirect, and the names that run, write or read elsewhere. To know where strings and regular
// expressions end, it must tell a / that divides from one that begins a regular expression, as awk does by what stands
// before it; where that is not certain it refuses.
func awkReads(program string) bool {
	a := awk{rest: program}
	for a.rest != "" {
		if !a.token() {
			return false
		}
	}
	return true
}

// awk is the state of the lexer.
type awk struct {
	rest     string
	operand  bool   // the last token ends an expression: a / divides
	unsure   bool   // after ++, -- and some names a / may be either
	control  bool   // the last token was if, while, for or switch
	parens   []bool // the open parentheses; true for those of if, while, for and switch
	print    bool   // in a print or printf statement
	printTop int    // open parentheses where it began
}

// after notes what the last token was.
func (a *awk) after(operand bool) bool {
	a.operand, a.unsure, a.control = operand, false, false
	return true
}

func (a *awk) token() bool {
	c := a.rest[0]
	switch {
	case c == ' ' || c == '\t':
		a.rest = a.rest[1:]
		return true
	case c == '\\':
		a.rest = a.rest[1:]
		return strings.HasPrefix(a.rest, "\n") && a.advance(1)
	case c == '#':
		end := strings.IndexByte(a.rest+"\n", '\n')
		a.rest = a.rest[end:]
		return true
	case c == '"':
		return a.quoted('"') && a.after(true)
	case c == '/' && !a.operand:
		return !a.unsure && a.quoted('/') && a.after(true)
	case isNameByte(c) && (c < '0' || c > '9'):
		return a.name()
	case isNameByte(c) || c == '.':
		a.rest = strings.TrimLeft(a.rest, ".0123456789abcdefABCDEFxX")
		return a.after(true)
	default:
		return a.symbol(c)
	}
}

func (a *awk) advance(n int) bool {
	a.rest = a.rest[n:]
	return true
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// name reads a keyword, a function or a variable.
func (a *awk) name() bool {
	n := 0
	for n < len(a.rest) && isNameByte(a.rest[n]) {
		n++
	}
	name := a.rest[:n]
	a.rest = a.rest[n:]
	if slices.Contains(awkRefused(), name) {
		return false
	}
	switch name {
	case "print", "printf":
		a.print, a.printTop = true, len(a.parens)
		return a.after(false)
	case "if", "while", "for", "switch":
		a.after(false)
		a.control = true
	case "return", "else", "do", "exit", "case", "function", "func":
		a.after(false)
	case "length", "in", "next", "nextfile", "break", "continue", "delete", "default", "BEGIN", "END", "BEGINFILE", "ENDFILE":
		a.after(false)
		a.unsure = true
	default:
		a.after(true)
	}
	return true
}

// symbol reads an operator or a bracket.
func (a *awk) symbol(c byte) bool {
	two := a.rest[:min(2, len(a.rest))]
	a.rest = a.rest[1:]
	switch c {
	case '|', '&':
		return len(two) == 2 && two[0] == two[1] && a.advance(1) && a.after(false)
	case '>':
		return (!a.print || len(a.parens) > a.printTop) && a.after(false)
	case '+', '-':
		if len(two) == 2 && two[0] == two[1] {
			a.advance(1)
			a.after(false)
			a.unsure = true
			return true
		}
		return a.after(false)
	case '(':
		a.parens = append(a.parens, a.control)
		return a.after(false)
	case ')':
		if len(a.parens) == 0 {
			return false
		}
		control := a.parens[len(a.parens)-1]
		a.parens = a.parens[:len(a.parens)-1]
		return a.after(!control)
	case ';', '}':
		a.print = a.print && len(a.parens) > a.printTop
		return a.after(false)
	case ']':
		return a.after(true)
	case '\n', '{', '[', ',', '!', '~', '=', '<', '*', '/', '%', '^', '?', ':', '$':
		return a.after(false)
	}
	return false // @, a backquote, a letter of another script
}

// dangerous reports whether text may write or run, however it is split into tokens.
func dangerous(text string) bool {
	return strings.ContainsAny(text, ">|@") || slices.ContainsFunc(awkRefused(), func(name string) bool { return strings.Contains(text, name) })
}

// awkRefused are the names that run, write, or read elsewhere.
func awkRefused() []string {
	return strings.Fields("system getline close fflush extension ENVIRON ARGV SYMTAB FUNCTAB PROCINFO")
}

// quoted reads a string or a regular expression, on one line.
func (a *awk) quoted(delimiter byte) bool {
	end := closing(a.rest, delimiter == '/', dangerous)
	return end > 0 && !strings.Contains(a.rest[:end], "\n") && a.advance(end)
}
