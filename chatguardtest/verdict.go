package chatguardtest

import (
	"time"

	"github.com/chatguard/chatguard"
)

// Allowed returns the verdict on a message that may be shown, judged now by a policy without
// limits.
func Allowed() chatguard.Verdict {
	return chatguard.Verdict{At: time.Now(), Allowed: true, Remaining: -1, Spent: 1}
}

// Delayed returns the verdict on a message that may be shown after the delay, as a leaky bucket
// named "pace" returns it.
func Delayed(delay time.Duration) chatguard.Verdict {
	v := Allowed()
	v.Tightest, v.Remaining, v.Delay, v.ResetAt = "pace", 1, delay, v.At.Add(delay)
	return v
}

// Throttled returns the verdict on a message that must be dropped, and that would pass after
// retryAfter.
func Throttled(limit string, retryAfter time.Duration) chatguard.Verdict {
	now := time.Now()
	return chatguard.Verdict{
		At: now, Limit: limit, Tightest: limit, RetryAfter: retryAfter, ResetAt: now.Add(retryAfter),
		Penalty: chatguard.Penalty{Action: chatguard.ActionDrop},
	}
}

// Never returns the verdict on a message that must be dropped, and that costs more than the limit
// can ever hold. Waiting doesn't help.
func Never(limit string) chatguard.Verdict {
	v := Throttled(limit, 0)
	v.Never = true
	return v
}
