// Package policy breaks the rule that judgement is pure and keeps no state.
package policy

import (
	"os"
	"path/filepath"
	"time"
)

// Verdict is a judgement.
type Verdict int

var asked = map[string]int{}

var last struct{ name string }

func init() {} // want: no init

// Decide looks at the disk and the clock and remembers.
func Decide(name string) Verdict {
	asked[name]++                            // want: no package state: asked
	last.name = name                         // want: no package state: last
	real, _ := filepath.EvalSymlinks(name)   // want: policy is pure
	if _, err := os.Stat(real); err != nil { // want: policy is pure
		return 0
	}
	return Verdict(time.Now().Unix()) // want: policy is pure
}
