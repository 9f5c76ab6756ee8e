package chat

import (
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
)

// merge returns one penalty to replace several penalties of a user. ok is false if they must not be
// merged. The result is the most severe of them. If that is less than a timeout, the result is a
// timeout, because a timeout removes all messages of the user. That timeout is at most as long as
// the longest one on the ladder in force.
func (b *Bot) merge(jobs []job) (penalty chatguard.Penalty, ok bool) {
	policy := inner.Of(b.options.Guard).InForce(jobs[0].message.ChannelID)
	requests, personal := 0, false
	for i := range jobs {
		if own := jobs[i].verdict.Penalty; isHarder(own, penalty) {
			penalty = own
		}
		if jobs[i].verdict.Penalty.Action != "" {
			requests++
		}
		personal = personal || !isOthersDoing(policy.Limits, jobs[i].verdict.Limit)
	}
	if requests < 2 || !personal { // other users may have used up a shared limit
		return penalty, false
	}
	if penalties.Silences(penalty.Action) {
		return penalty, true
	}
	penalty = chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: min(mergedTimeout(jobs), longestTimeout(policy.Penalties.Ladder, jobs))}
	return penalty, penalty.Duration >= penalties.MinTimeout
}

// isOthersDoing reports whether other users may have used up the named limit, which then gives no
// strikes.
func isOthersDoing(list []chatguard.Limit, name string) bool {
	for i := range list {
		if list[i].Name == name {
			return inner.IsShared(list[i].Per) && !list[i].Strikes
		}
	}
	return false
}

// longestTimeout returns the longest timeout on the ladder for the jobs' user, or 0 if the ladder
// has none.
func longestTimeout(ladder []chatguard.Penalty, jobs []job) (longest time.Duration) {
	for _, rung := range ladder {
		length := rung.Duration
		if rung.UntilRefill {
			length = refillWait(jobs)
		}
		longest = max(longest, length)
	}
	return longest
}

// refillWait returns how long the jobs' user has to wait until the next message is allowed, in
// whole seconds. It is 0 if waiting never helps.
func refillWait(jobs []job) (longest time.Duration) {
	for i := range jobs {
		longest = max(longest, wholeSeconds(jobs[i].verdict.RetryAfter))
	}
	return longest
}

// mergedTimeout returns how long a merged timeout should last for the jobs' user, in whole seconds.
// merge limits it to the longest timeout on the ladder.
func mergedTimeout(jobs []job) time.Duration {
	return min(max(penalties.MinTimeout, refillWait(jobs)), journal.MostMerged)
}

func isHarder(a, b chatguard.Penalty) bool {
	harder := penalties.Rank(a.Action) - penalties.Rank(b.Action)
	return harder > 0 || harder == 0 && a.Duration > b.Duration
}

// wholeSeconds rounds up, so that a timeout never ends before the user may write again.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1) / time.Second * time.Second
}

// mergedReason returns the journal's reason for n messages that share a penalty.
func mergedReason(penalty chatguard.Penalty, n int) string {
	return fmt.Sprintf("one %s for %d messages: too few requests for each", penalty.Action, n)
}
