package chat

import (
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// merge returns one penalty in place of several penalties of a user; ok is false if they stay what they are. It is the hardest of them, but at least
// a timeout, which removes everything that the user wrote. The timeout is no longer than the longest on the ladder in force.
func (b *Bot) merge(jobs []job) (penalty chatguard.Penalty, ok bool) {
	policy := b.options.Guard.InForce(jobs[0].message.ChannelID)
	requests, personal := 0, false
	for i := range jobs {
		if own := jobs[i].verdict.Penalty; harder(own, penalty) {
			penalty = own
		}
		if jobs[i].verdict.Penalty.Action != chatguard.NoAction {
			requests++
		}
		personal = personal || !isShared(policy.Limits, jobs[i].verdict.Limit)
	}
	if requests < 2 || !personal { // somebody else may have used up a limit of everyone together
		return penalty, false
	}
	if penalty.Action >= chatguard.Timeout {
		return penalty, true
	}
	penalty = chatguard.Penalty{Action: chatguard.Timeout, Duration: min(silence(jobs), longestTimeout(policy.Penalties.Ladder, jobs))}
	return penalty, penalty.Duration >= chatguard.MinTimeout
}

// isShared reports whether the limit of that name is one of everyone in the channel together.
func isShared(list []chatguard.Limit, name string) bool {
	for i := range list {
		if list[i].Name == name {
			return list[i].Per == chatguard.PerChannel
		}
	}
	return false
}

// longestTimeout is the longest timeout that the ladder has for the user of the jobs: 0 if it has none.
func longestTimeout(ladder []chatguard.Penalty, jobs []job) (longest time.Duration) {
	for _, rung := range ladder {
		length := rung.Duration
		if rung.UntilRefill {
			length = untilRefill(jobs)
		}
		longest = max(longest, length)
	}
	return longest
}

// untilRefill is the time after which the user of the jobs may speak again, in whole seconds: 0 if waiting never helps.
func untilRefill(jobs []job) (longest time.Duration) {
	for i := range jobs {
		longest = max(longest, wholeSeconds(jobs[i].verdict.RetryAfter))
	}
	return longest
}

// silence is the time for which a merged timeout keeps the user of the jobs from writing, in whole seconds.
func silence(jobs []job) time.Duration {
	return min(max(chatguard.MinTimeout, untilRefill(jobs)), journal.MostMerged)
}

func harder(a, b chatguard.Penalty) bool {
	return a.Action > b.Action || a.Action == b.Action && a.Duration > b.Duration
}

// wholeSeconds rounds up, so that the user has waited long enough when the time is over.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1) / time.Second * time.Second
}

// mergedReason is the journal's reason for n messages that share a penalty.
func mergedReason(penalty chatguard.Penalty, n int) string {
	return fmt.Sprintf("one %s for %d messages: too few requests for each", penalty.Action, n)
}
