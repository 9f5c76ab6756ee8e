package chatguard

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// EntryID identifies one throttled message in the journal. IDs increase with time, fit a JSON
// number, and are never 0.
type EntryID int64

// Verdict is the decision on one message. It is plain data: it can be copied, and it holds no
// reference to the Guard.
type Verdict struct {
	At        time.Time // the message's time
	ChannelID string
	UserID    string

	// Allowed says that the message may be shown. Most callers need only this field.
	Allowed bool
	// Observed says that the message would have been throttled if the limit had been enforced.
	// Allowed is then true.
	Observed bool
	Exempt   bool // not judged, because of the user's role or the message's kind
	// Never says that waiting doesn't help: the message costs more than a limit can ever hold.
	Never bool
	// Degraded says that the store was failing. Recent usage may be lost when the process ends;
	// with Options.Shared, the decision may not include what other Guards have allowed.
	Degraded bool
	// Priority is PriorityLow if a Cascade's second bucket pays for the message. A chat may show an
	// allowed message of that priority smaller or folded. A throttled message has it if the second
	// bucket would have paid for it; a Reserve then applied to it. Policies that observe set
	// Priority, too.
	Priority Priority

	// Limit is the limit that throttles the message, or would if it were enforced. It is empty if
	// all limits allow the message.
	Limit string
	// Tightest is the limit that Remaining and ResetAt describe. It is Limit if a limit throttles
	// the message, and otherwise the limit with the least remaining, except limits on repeated
	// text: the author's next text has its own allowance. It is empty if Exempt, or if there are no
	// such limits.
	Tightest string
	// Remaining is how many messages of cost 1 the Tightest limit would still allow. It is -1 if
	// Tightest is empty.
	Remaining int
	// RetryAfter is counted from At: the same message would pass at At+RetryAfter, and not 1 ns
	// sooner. It is 0 if the message passes, or if Never is set.
	RetryAfter time.Duration
	// Delay is how long to hold an allowed message before delivery, counted from At. It is 0 if the
	// policy observes.
	Delay time.Duration
	// ResetAt is when the Tightest limit's usage will have expired. It is zero if Tightest is
	// empty.
	ResetAt time.Time

	// EntryID is the journal entry of a throttled or observed message; otherwise 0.
	EntryID EntryID
	// Penalty is what to do with the message and its author. It is the zero value if Allowed.
	Penalty Penalty
	WouldBe Penalty // penalty that an Observed message would get if enforced
	// Strikes is the author's number of strikes after a throttled or observed message.
	Strikes   int
	NewStrike bool // the message gave the latest of these strikes

	// Spent is how much of the message's cost was spent. It is 0 if the message is throttled or
	// exempt. Refund gives it back.
	Spent int
	// Late is how much later than At the message counted. A message that arrives out of order
	// counts at the time of its author's latest message. Refund needs Late. Pardon needs Late,
	// Counted and Series of a throttled or observed message.
	Late time.Duration
	// Counted is the part of a throttled message's cost that was counted in every limit with
	// CountThrottled.
	Counted int
	Series  uint8 // identifies a series of strikes; changes when they lapse

	// Print is that of the message's text. It is zero if the channel has no limits on repeated
	// text, or if Exempt. Refund needs it.
	Print TextPrint

	granted int          // part of Remaining
	atNow   bool         // At is the time of the Guard's clock
	roles   limits.Roles // the author's own, for Quotas and Refund
}

// Throttled reports whether a limit throttled the message, or would have throttled it if it were
// enforced.
func (v Verdict) Throttled() bool { return v.throttled() }

// throttled is Throttled without a copy of the verdict.
func (v *Verdict) throttled() bool { return !v.Allowed || v.Observed }

// RetryAfterSeconds returns RetryAfter in whole seconds, rounded up, as used in a Retry-After
// header. It is 0 if the message passes or if waiting never helps.
func (v Verdict) RetryAfterSeconds() int { return int(roundUp(v.RetryAfter, time.Second)) }

// String describes the verdict in one line for logs: "allowed, 2 left of burst", "throttled by
// burst, retry after 4s".
func (v Verdict) String() string {
	switch {
	case v == Verdict{}:
		return "not judged"
	case v.Exempt:
		return "allowed, exempt"
	case v.throttled() && v.Never:
		return v.outcome() + ", waiting never helps"
	case v.throttled():
		return fmt.Sprintf("%s, retry after %s", v.outcome(), v.RetryAfter)
	case v.Priority == PriorityLow:
		return fmt.Sprintf("allowed at low priority, %d left of %s", v.Remaining, v.Tightest)
	case v.Tightest == "" && v.Degraded:
		return "allowed, degraded"
	case v.Tightest == "":
		return "allowed" // there may be limits on repeated text
	}
	return fmt.Sprintf("allowed, %d left of %s", v.Remaining, v.Tightest)
}

// outcome says whether the limit that throttled the message was enforced.
func (v *Verdict) outcome() string {
	if v.Observed {
		return "allowed, observed by " + v.Limit
	}
	return "throttled by " + v.Limit
}

// LogValue returns the fields that matter in a log: the channel, the user, whether the message is
// allowed, and its priority unless that is normal. For a throttled message, it adds the limit, the
// wait and the penalty.
func (v Verdict) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("channel", v.ChannelID), slog.String("user", v.UserID), slog.Bool("allowed", v.Allowed)}
	if v.Priority != "" {
		attrs = append(attrs, slog.String("priority", string(v.Priority)))
	}
	if v.throttled() {
		penalty := v.Penalty
		if v.Observed {
			penalty = v.WouldBe
			attrs = append(attrs, slog.Bool("observed", true))
		}
		attrs = append(attrs, slog.String("limit", v.Limit), slog.Duration("retry_after", v.RetryAfter), slog.String("penalty", penalty.String()))
	}
	return slog.GroupValue(attrs...)
}

// Priority is the priority of a message. The zero value is normal priority.
type Priority string

// PriorityLow means that a [Cascade] allows the message only beyond what it allows at normal
// priority. The message can't use the Reserve of a limit.
const PriorityLow Priority = "low"

// roundUp rounds a wait up to whole units.
func roundUp(wait, unit time.Duration) int64 {
	n := int64(wait / unit)
	if wait%unit > 0 {
		n++
	}
	return n
}
