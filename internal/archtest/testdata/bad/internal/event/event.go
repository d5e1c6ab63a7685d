// Package event breaks the rule that the vocabulary imports nothing.
package event

import (
	"fmt"

	"anchor/internal/archtest/testdata/bad/internal/policy" // want: event may not import policy
)

// Tell prints, which only a face may do, and only on the stream that it was given.
func Tell(v policy.Verdict) {
	fmt.Println(v) // want: nothing prints
}
