// Package hook is the way by which package chatguard gives package inner what its API doesn't
// promise. Only these two packages import it.
package hook

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// The functions of package inner, without the types of package chatguard, which sets them.
var (
	Inner   func(guard any) any                   // the inner.Guard of a *chatguard.Guard
	At      func(guard any, at time.Time) any     // its inner.GuardAt
	Compile func(policy any) (limits.Sets, error) // of a chatguard.Policy
)
