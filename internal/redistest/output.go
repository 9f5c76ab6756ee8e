package redistest

import "github.com/chatguard/chatguard/internal/waittest"

// Output collects what a server or a logger writes.
type Output = waittest.Output
