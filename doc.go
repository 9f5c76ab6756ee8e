// Package chatguard gives every chatter a fair share of a chat.
//
// A [Guard] reads from each [Message] who wrote it, in which channel and when. It decides within
// microseconds whether the author is still within the limits of the channel's [Policy]. The answer
// is a [Verdict]. A message is either allowed or throttled. If it is throttled, the Verdict names
// the limit, the time when the author may speak again, and the penalty that is due. The Guard only
// decides; the caller acts on the verdict.
//
// A message passes through the package like this:
//
//	Message ── Guard.Check ──> Policy (roles, exemptions) ──> limits ──> penalty ladder ──> Verdict ──> observer
//
// A policy's limits count by seven algorithms ([Algorithm]) and in three scopes ([Scope]). Roles
// and single users can have their own numbers ([Limit].Roles, [Guard.SetUserOverride]). Limits can
// change while messages arrive, and recorded usage is kept ([Guard.SetPolicy]). [Guard.Explain]
// shows the reasons for a verdict.
//
// A server that handles messages itself calls [Guard.Check], or puts [Guard.Wrap] around its
// handler. A server for WebSocket or streams puts [Guard.Middleware] around its HTTP handler. The
// middleware identifies users at the handshake, limits connections, and gives the handler a
// [Session] that judges each message. A leaky-bucket delays messages instead of dropping them;
// [Verdict.Hold] and [HoldQueue] wait until a message may be delivered. [Guard.SetHeaders]
// describes a verdict in the headers of an HTTP response.
//
// The state of every user is kept in memory, in a table without pointers. To persist it, a store
// takes the changes with [Guard.Dirty] and returns them after a restart with [Guard.Restore].
// Package sqlitestore does this. Package dashboard shows what the Guard does and lets people change
// it.
//
// The package imports nothing outside the standard library, starts no goroutine, and never reads a
// clock inside a decision. A message carries its time; for a message without one, [Options].Now is
// called once, before the decision.
package chatguard
