package chatguard

import "time"

// EntryID names one throttled message in the journal. IDs rise with time, fit a JSON number, and are never 0.
type EntryID int64

// Verdict is the decision on one message. It is plain data: copying it is safe, and it holds no reference to the Guard.
type Verdict struct {
	At        time.Time // the message's time
	ChannelID string
	UserID    string

	Allowed  bool // may be shown. The only field that most callers need
	Observed bool // would have been throttled, had the policy been enforced; Allowed is true
	Exempt   bool // not judged, because of the user's role
	Never    bool // no waiting helps: the message costs more than a limit can ever hold
	Degraded bool // decided while the store is in trouble: what is spent now may not survive the process

	Limit      string        // the limit that throttles, or would have; empty when all of them allow
	Tightest   string        // the limit that Remaining and ResetAt are of: Limit, or when all allow the one with the least remaining; empty when Exempt, and without limits
	Remaining  int           // messages of cost 1 that the Tightest limit would still take; -1 when Exempt, and without limits
	RetryAfter time.Duration // counted from At: the same message would pass at At+RetryAfter, and not 1 ns sooner; 0 when it passes, or Never
	Delay      time.Duration // of an allowed message, counted from At: how long it is to be held until its turn comes; 0 where the policy observes
	ResetAt    time.Time     // when the Tightest limit will have forgotten everything; zero when Exempt, and without limits

	EntryID   EntryID // of a throttled or observed message: its journal entry; 0 otherwise
	Penalty   Penalty // what is to happen to the message and its author; the zero value when Allowed
	WouldBe   Penalty // of an Observed message: the penalty it would have drawn
	Strikes   int     // the author's strikes after a throttled or observed message
	NewStrike bool    // the message gave the last of them

	// What Pardon has to know of a throttled or observed message.
	Late    time.Duration // how much later than At it counted: chat arrives out of order
	Counted int           // how many of its cost count all the same, in every limit that counts throttled messages
	Series  uint8         // of the strikes: another one once they have lapsed

	atNow bool // At is when it was decided, by the Guard's clock
}

// Throttled reports whether a limit stood in the way of the message that was judged, enforced or only observed.
func (v *Verdict) Throttled() bool { return !v.Allowed || v.Observed }

// MaySpeakAt is the moment at which the message would be allowed: At when it is allowed now, the zero time when Never.
func (v *Verdict) MaySpeakAt() time.Time {
	if v.Never {
		return time.Time{}
	}
	return v.At.Add(v.RetryAfter)
}
