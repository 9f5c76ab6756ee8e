// Package chatguard gives every chatter a fair share of a chat.
//
// A [Guard] reads the author, the channel and the time of each [Message]. It decides within
// microseconds whether the author is still within the limits of the channel's [Policy]. The answer
// is a [Verdict]. A message is either allowed or throttled. If the message is throttled, the
// Verdict names the limit, the time when the author may speak again, and the penalty to apply. The
// Guard only decides; the caller acts on the verdict.
//
// A message passes through the package like this:
//
//	Message ── Guard.Check ──> Policy (roles, exemptions) ──> limits ──> penalty ladder ──> Verdict ──> observer
//
// Limits use one of seven algorithms ([Algorithm]) and one of three scopes ([Scope]). Roles and
// single users can have their own numbers ([Limit].Roles, [Guard.SetUserOverride]). Limits can
// change while messages arrive; the Guard keeps the usage that it has recorded ([Guard.SetPolicy]).
// [Guard.Explain] shows the reasons for a verdict.
//
// A server that handles messages itself calls [Guard.Check], or puts [Guard.Wrap] around its
// handler. An HTTP server uses package httpguard: it identifies users, limits connections, judges
// each message of a WebSocket, and describes verdicts in the headers of responses. A leaky-bucket
// limit delays messages before it throttles any; [Verdict.Hold] and [HoldQueue] wait until a
// delayed message may be delivered.
//
// The state of every user is kept in memory, in a table without pointers. To persist it, a store
// reads the changes with [Guard.Dirty] and passes them back after a restart with [Guard.Restore].
// Package sqlitestore is such a store. Package dashboard shows moderators what the Guard does, and
// lets them change its limits.
//
// The package imports nothing outside the standard library, starts no goroutine, and never reads a
// clock inside a decision. A message has its own time. If that time is zero, the Guard calls
// [Options].Now once, before the decision.
package chatguard
