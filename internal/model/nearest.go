package model

import "strings"

// Nearest returns the known name that is most like a mistyped one: like by more than least, from 0 to 1, else "". Letter case, -
// and _ do not count.
func Nearest(name string, known []string, least float64) string {
	best := ""
	for _, k := range known {
		if l := likeness(plain(name), plain(k)); l > least {
			best, least = k, l
		}
	}
	return best
}

// plain is a name without what spellings differ in.
func plain(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }

// likeness is how much of two names is the same in the same order, from 0 to 1.
func likeness(a, b string) float64 {
	row := make([]int, len(b)+1)
	for i := range len(a) {
		diagonal := 0
		for j := range len(b) {
			next := max(row[j], row[j+1])
			if a[i] == b[j] {
				next = diagonal + 1
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return 2 * float64(row[len(b)]) / float64(max(1, len(a)+len(b)))
}
