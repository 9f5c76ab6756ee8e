package chatguard

import "time"

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
	Exempt   bool // not judged, because of the user's role
	// Never says that waiting doesn't help: the message costs more than a limit can ever hold.
	Never bool
	// Degraded says that the store was failing, so recent usage may be lost when the process ends.
	Degraded bool

	// Limit is the limit that throttles the message, or would if it were enforced. It is empty if
	// all limits allow the message.
	Limit string
	// Tightest is the limit that Remaining and ResetAt describe. It is Limit if a limit throttles
	// the message, and otherwise the limit with the least remaining. It is empty if Exempt, or if
	// there are no limits.
	Tightest string
	// Remaining is how many messages of cost 1 the Tightest limit would still allow. It is -1 if
	// Exempt, or if there are no limits.
	Remaining int
	// RetryAfter is counted from At: the same message would pass at At+RetryAfter, and not 1 ns
	// sooner. It is 0 if the message passes, or if Never is set.
	RetryAfter time.Duration
	// Delay is how long to hold an allowed message before delivery, counted from At. It is 0 if the
	// policy observes.
	Delay time.Duration
	// ResetAt is when the Tightest limit's usage will have expired. It is zero if Exempt, or if
	// there are no limits.
	ResetAt time.Time

	// EntryID is the journal entry of a throttled or observed message; otherwise 0.
	EntryID EntryID
	// Penalty is what to do with the message and its author. It is the zero value if Allowed.
	Penalty Penalty
	WouldBe Penalty // penalty that an Observed message would get if enforced
	// Strikes is the author's number of strikes after a throttled or observed message.
	Strikes   int
	NewStrike bool // the message gave the last strike

	// Late is how much later than At the message counted. A message that arrives out of order
	// counts at the time of its author's latest message. Pardon needs Late, Counted and Series of a
	// throttled or observed message.
	Late time.Duration
	// Counted is how much of a throttled message's cost still counts, in every limit with
	// CountThrottled.
	Counted int
	Series  uint8 // identifies a series of strikes; changes when they lapse

	atNow bool  // At is the time of the Guard's clock
	roles Roles // of the author; Quotas needs them
}

// Throttled reports whether a limit throttled the message, whether enforced or only observed.
func (v *Verdict) Throttled() bool { return !v.Allowed || v.Observed }

// RetryAfterSeconds returns RetryAfter in whole seconds, rounded up, as used in a Retry-After
// header. It is 0 if the message passes or if waiting never helps.
func (v *Verdict) RetryAfterSeconds() int { return int(roundUp(v.RetryAfter, time.Second)) }

// MaySpeakAt returns when the message would be allowed. It returns At if the message is allowed
// now, and the zero time if Never is set.
func (v *Verdict) MaySpeakAt() time.Time {
	if v.Never {
		return time.Time{}
	}
	return v.At.Add(v.RetryAfter)
}
