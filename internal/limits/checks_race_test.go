//go:build race

package limits

import "flag"

// init makes random tests few by default: each uses one goroutine, in which the race detector finds
// nothing more by repetition. The flag in a command overrides it.
func init() { _ = flag.Set("rapid.checks", "10") }
