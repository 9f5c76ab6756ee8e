package lab

import (
	"fmt"
	"strings"

	"github.com/chatguard/chatguard"
)

// Error says why a question can't be answered. Its text names the lane, the limit and the fix.
type Error struct {
	Lane  int    // number of the lane, from 1; 0 if the error isn't about a lane
	Limit string // name of the limit; empty if the error isn't about one
	Text  string // what is wrong, and the fix
	// Mistake is the wrong value of the limit, which it doesn't name; nil if it isn't known.
	Mistake *chatguard.PolicyError
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Lane > 0 {
		fmt.Fprintf(&b, "lane %d: ", e.Lane)
	}
	if e.Limit != "" {
		fmt.Fprintf(&b, "limit %q: ", e.Limit)
	}
	return b.String() + e.Text
}

// errorf returns an Error that isn't about a lane.
func errorf(format string, args ...any) *Error { return &Error{Text: fmt.Sprintf(format, args...)} }
