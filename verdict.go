package chatguard

import (
	"encoding/json"
	"time"
)

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
	Remaining  int           // messages of cost 1 that this limit (when all allow: the tightest) would still take; -1 when Exempt
	RetryAfter time.Duration // counted from At: the same message would pass at At+RetryAfter, and not 1 ns sooner; 0 when it passes, or Never
	Delay      time.Duration // of an allowed message, counted from At: how long it is to be held until its turn comes; 0 where the policy observes
	ResetAt    time.Time     // when that limit will have forgotten everything; zero when Exempt, and without limits

	EntryID   EntryID // of a throttled or observed message: its journal entry; 0 otherwise
	Penalty   Penalty // what is to happen to the message and its author; the zero value when Allowed
	WouldBe   Penalty // of an Observed message: the penalty it would have drawn
	Strikes   int     // the author's strikes after a throttled or observed message
	NewStrike bool    // the message gave the last of them

	// What Pardon has to know of a throttled or observed message.
	Late    time.Duration // how much later than At it counted: chat arrives out of order
	Counted int           // how many of its cost count all the same, in every limit that counts throttled messages
	Series  uint8         // of the strikes: another one once they have lapsed
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

// verdictJSON is the one JSON form of a verdict.
type verdictJSON struct {
	At           time.Time  `json:"at"`
	Channel      string     `json:"channel"`
	UserID       string     `json:"user_id"`
	Allowed      bool       `json:"allowed"`
	Limit        string     `json:"limit"`
	Remaining    *int       `json:"remaining"`
	RetryAfterMS *int64     `json:"retry_after_ms"`
	DelayMS      int64      `json:"delay_ms"`
	ResetAt      *time.Time `json:"reset_at"`
	Never        bool       `json:"never"`
	Observed     bool       `json:"observed"`
	Penalty      Penalty    `json:"penalty"`
	WouldBe      *Penalty   `json:"would_be,omitempty"`
	Exempt       bool       `json:"exempt,omitempty"`
	Degraded     bool       `json:"degraded,omitempty"`
	Entry        EntryID    `json:"entry,omitempty"`
	Strikes      int        `json:"strikes,omitempty"`
	NewStrike    bool       `json:"new_strike,omitempty"`
}

// MarshalJSON writes the form that the command line and the HTTP API share. Times are RFC 3339 in UTC; waits are rounded up, retry_after_ms is
// null where waiting never helps; remaining and reset_at are null for an exempt message and without limits.
func (v Verdict) MarshalJSON() ([]byte, error) {
	out := verdictJSON{
		At: v.At.UTC(), Channel: v.ChannelID, UserID: v.UserID,
		Allowed: v.Allowed, Observed: v.Observed, Exempt: v.Exempt, Never: v.Never, Degraded: v.Degraded,
		Limit: v.Limit, Penalty: v.Penalty, Entry: v.EntryID, Strikes: v.Strikes, NewStrike: v.NewStrike,
		DelayMS: roundedUp(v.Delay),
	}
	if !v.ResetAt.IsZero() {
		reset := v.ResetAt.UTC()
		out.Remaining, out.ResetAt = &v.Remaining, &reset
	}
	if !v.Never {
		ms := roundedUp(v.RetryAfter)
		out.RetryAfterMS = &ms
	}
	if v.Observed {
		out.WouldBe = &v.WouldBe
	}
	return json.Marshal(out)
}

// roundedUp is a wait in milliseconds.
func roundedUp(wait time.Duration) int64 {
	ms := int64(wait / time.Millisecond)
	if wait%time.Millisecond > 0 {
		ms++
	}
	return ms
}
