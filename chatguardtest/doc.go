// Package chatguardtest helps to test programs that use package chatguard.
//
//   - [Checker] stands for a Guard, and answers with prepared verdicts. It fits a small interface
//     of your own with the method Check.
//   - [NewThrottlingGuard] returns a real Guard that throttles every message of a channel, for
//     tests of what an HTTP server or a client does then.
//   - [Clock] is a clock for a real Guard. The test moves it.
//
// A program that waits, for example in [chatguard.Verdict.Hold], in a [chatguard.HoldQueue] or for
// RetryAfter, waits for real timers, which a Clock doesn't move. Test it in a bubble of
// testing/synctest, without a Clock: a Guard that is created in the bubble follows the bubble's
// time. After time.Sleep(verdict.RetryAfter), the message passes, and the test has taken no time.
//
// The package doesn't import package testing.
package chatguardtest
