// Package chatguard gives every chatter a fair share of a chat.
//
// A [Guard] reads each [Message] as who, where, when, and decides within microseconds whether its author is still inside the limits of
// the channel's [Policy]. The answer is a [Verdict]: allowed, or throttled by which limit, when the author may speak again, and which
// penalty is due. The Guard only decides; acting on a verdict is the caller's business.
//
// A message's way through the package:
//
//	Message ── Guard.Check ──> Policy (roles, exemptions) ──> limits ──> penalty ladder ──> Verdict ──> observer
//
// A policy's limits count by seven algorithms ([Algorithm]) and in three scopes ([Scope]); roles and single users can have numbers of their own
// ([Limit].Roles, [Guard.SetUserOverride]). Limits can change while messages come in, and what was used stays used ([Guard.SetPolicy]).
// [Guard.Explain] says why a verdict is what it is.
//
// A server that handles messages itself calls [Guard.Check], or puts [Guard.Wrap] around its handler. One that speaks WebSocket, or streams,
// puts [Guard.Middleware] around its HTTP handler: users are identified at the handshake, connections are limited, and the handler finds a
// [Session] that judges each message. A leaky-bucket delays messages in place of dropping them: [Verdict.Hold] and [HoldQueue] wait for their
// turn. [Guard.SetHeaders] says what a verdict means in an HTTP answer.
//
// The state of every user lives in memory, in a table without pointers. A store that wants to keep it takes what changed with
// [Guard.Dirty] and gives it back after a restart with [Guard.Restore]: package sqlitestore does, and package dashboard shows what happens and lets
// people change it.
//
// The package imports nothing outside the standard library, starts no goroutine, and never reads a clock inside a decision: a message
// brings its time along, and one without a time gets [Options].Now once, at the door.
package chatguard
