// Package chatguard gives every chatter a fair share of a chat.
//
//	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil) // once
//
//	// for each message, before anybody sees it
//	author := chatguard.User{ID: userID}
//	verdict, err := guard.Check(ctx, chatguard.Message{ChannelID: room, User: author})
//	if err != nil || !verdict.Allowed {
//		return // the author may write again after verdict.RetryAfter
//	}
//
// A [Guard] reads the author, the channel and the time of each [Message], and its text only if a
// limit is on repeated text. It decides within microseconds whether the author is still within the
// limits of the channel's [Policy]. The answer is a [Verdict]. A message is either allowed or
// throttled. If the message is throttled, the Verdict names the limit, the time when the author may
// speak again, and the penalty to apply. The Guard only decides; the caller acts on the verdict. A
// Guard lives in one process. Several processes, each with its own Guard, together allow several
// times the limit, unless they share a store ([Options].Shared).
//
// A message passes through the package like this:
//
//	Message ── Guard.Check ──> roles, exemptions ──> limits ──> penalty ladder ──> Verdict
//
// Limits use one of eight algorithms ([Algorithm]) and one of six scopes ([Scope]). Two of these
// are for repeated text, which the Guard compares by keyed hashes ([TextPrint], [Options].TextKey).
// Roles and single users can have their own numbers ([Limit].Roles, [Guard.SetUserOverride]).
// Limits can change while messages arrive; the Guard keeps the usage that it has recorded
// ([Guard.SetPolicy]). [Guard.Wait] paces a program's own messages. A leaky-bucket limit delays
// messages before it throttles any; [Verdict.Hold] and [HoldQueue] wait until a delayed message may
// be delivered.
//
// # Packages
//
//   - This package decides. A server that handles messages itself calls [Guard.Check], or puts
//     [Guard.Wrap] around its handler.
//   - Package limitinfo shows the reasons for a verdict, and describes limits, for pages that
//     show and edit them.
//   - Package connguard limits the connections of any server, and judges each message of one.
//   - Package httpguard is for HTTP servers. It identifies users, limits requests, puts connguard in
//     front of WebSockets, and describes verdicts in the headers of responses.
//   - Package checkclient asks a chatguard in another process, over its HTTP API.
//   - Package chatguardtest is for tests of programs that use the other packages.
//   - Package state is for authors of stores that keep the state of a Guard.
//   - Package shared has the errors and modes of limits that several Guards share, and is for
//     authors of the stores that these share.
//
// These packages import nothing outside the standard library. Package redisstore shares limits
// between several processes over Valkey or Redis. Package sqlitestore keeps a Guard's state in a
// file, and package dashboard shows moderators what the Guard does and lets them change its limits.
// A custom store reads and restores the state through [Guard.State].
//
// # One process or several
//
// A Guard keeps its state in the memory of one process, in tables without pointers. Another Guard
// knows nothing of it, so n processes, each with its own Guard, together allow n times the limit.
// There are three ways to prevent that:
//
//   - All messages of a room reach the same process.
//   - The Guards share a store: [Options].Shared and package redisstore.
//   - All processes ask one chatguard, with package checkclient.
//
// # Errors
//
// A throttled message is not an error, but a Verdict whose Allowed is false. [Guard.Check] returns
// [ErrInvalid] for a message that it can't judge, such as one without a user ID. That is a mistake
// of the program, and the message isn't counted. With a shared store, Check can also return its
// context's error. Log the error, and don't show the message. The errors that a program may have to
// tell apart are variables or types for [errors.Is] and [errors.As]. The methods that read or
// change a single user return the shared store's errors; see [Options].Shared.
//
// # Zero values
//
// The zero [Policy] has no limits and allows everything. The zero [Mode] enforces. The zero
// [Message].SentAt is now, and the zero Cost is 1. A nil *[Options] is the zero Options. The zero
// Guard, [HoldQueue] and [Reservation] can't be used: get them from [New], [NewHoldQueue] or a
// Guard. The zero [Roles], [UserOverride] and [Penalty] mean none.
//
// # Concurrency
//
// The methods of a Guard, a HoldQueue and a Reservation are safe for concurrent use, and none of
// them starts a goroutine. [Guard.Wait], [Verdict.Hold], [HoldQueue].Run and handlers from
// Guard.Wrap wait, but no longer than their context. With a shared store, Check and the methods
// that read or change single users wait for the store. What a dropped message has spent is given
// back also after the context has ended, which may take as long as the store's timeout. Plain
// values such as Policy, Message and Verdict can be copied. Changing one that another goroutine
// uses is a data race, as usual.
//
// # Clock
//
// No decision reads a clock. A message has its own time. If that time is zero, the Guard reads its
// clock once, before the decision; see [Options].Now. The methods that change a Guard do the same.
// A program that judges old messages again sets Options.Now to a clock that shows their times.
// [Guard.Wait], Verdict.Hold and HoldQueue wait in real time, whatever Options.Now shows.
package chatguard
