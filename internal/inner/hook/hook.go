// Package hook is the way by which package chatguard gives package inner what its API doesn't
// promise. Only these two packages import it.
package hook

// Inner returns the inner.Guard of a *chatguard.Guard. Package chatguard sets it.
var Inner func(guard any) any
