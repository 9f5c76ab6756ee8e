package limitinfo

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/limits"
)

// Explanation is a verdict, and the user's state on which it is based. In JSON, times are in RFC
// 3339 format in UTC, and zero times are omitted.
type Explanation struct {
	Verdict chatguard.Verdict `json:"verdict"` // the verdict that Check would return
	Limits  []Status          `json:"limits"`  // in policy order; also set for exempt users

	Strikes int `json:"strikes"` // strikes that count, before the message
	// LapseAt is when all strikes lapse. It is zero if there are no strikes, or if they never
	// lapse.
	LapseAt time.Time `json:"lapse_at,omitzero"`
	// SilentUntil is when a timeout given by chatguard ends. It is zero if there is none.
	SilentUntil time.Time         `json:"silent_until,omitzero"`
	Next        chatguard.Penalty `json:"next"` // the ladder's penalty for the next strike
}

// Status is a user's status in one limit.
type Status struct {
	Name      string              `json:"name"`
	Algorithm chatguard.Algorithm `json:"algorithm"`
	Per       chatguard.Scope     `json:"per"`
	Observes  bool                `json:"observes"`  // the policy enforces, and the limit only reports
	Used      int                 `json:"used"`      // messages of cost 1 that count now, rounded up
	Capacity  int                 `json:"capacity"`  // for this user, now
	Granted   int                 `json:"granted"`   // extra messages on top of the capacity
	Remaining int                 `json:"remaining"` // messages of cost 1 that would still pass
	// NextAt is when the next message of cost 1 would pass this limit. It is zero if no message
	// ever would.
	NextAt  time.Time `json:"next_at,omitzero"`
	ResetAt time.Time `json:"reset_at,omitzero"` // when all usage will have expired
	// Role is the user's role whose numbers apply, or chatguard.RoleEveryone.
	Role chatguard.Role `json:"role"`
	// Own means that the user's own numbers apply, not a role's. After a change of policy, numbers
	// that the limit can't have any more don't apply.
	Own bool `json:"own"`
	// Window is the time in which the whole capacity is restored. For a DailyWindow, it is the
	// duration of the present period. Step is the time in which a bucket restores one message; it
	// is 0 for windows, logs and cascades.
	Window, Step time.Duration `json:"-"`
	Picture      Picture       `json:"-"`
}

// Picture is a limit's state in the terms of its algorithm, for a drawing of it. Fields that the
// algorithm doesn't have are zero. Fractions are rounded; decisions never use them.
type Picture struct {
	// Tokens are those of a TokenBucket, or of a Cascade's first bucket. They can be below 0 after
	// the capacity was lowered. ExtraTokens are those of a Cascade's second bucket.
	Tokens, ExtraTokens float64

	// Count is the number of messages in a window or a SlidingLog, or of those that wait in a
	// LeakyBucket.
	Count int
	// From and Until are the start and the end of a window. They are zero if no window is open.
	From, Until time.Time
	// First is the time of the first message in a SlidingLog, or when the first message leaves a
	// LeakyBucket; the others follow, one per Every. It is zero if Count is.
	First time.Time

	// A SlidingWindow's From and Until are those of the current slice. Count is the count of all
	// slices but the oldest, Previous that of the oldest one. Weight is the part of the oldest
	// slice which still counts, from 0 to 1. So the estimate is Previous × Weight + Count. Slices
	// are the counts from the current slice to the oldest; nil if the limit's Slices are 0 or 1.
	Previous int
	Weight   float64
	Slices   []int
}

// Explain returns the status of the message's author in every limit, and what Check would decide
// about the message. It changes nothing: it spends nothing, gives no strike, notifies no observer
// and adds no journal entry. It returns the same errors as Check. With shared.Exact, it reads the
// rows in the store, as Check does; while the store is away, the verdict is Degraded.
func Explain(ctx context.Context, guard *chatguard.Guard, message chatguard.Message) (e Explanation, err error) {
	v, levels, standing, next, err := inner.Of(guard).Explain(ctx, message)
	if err != nil {
		return e, err
	}
	e = Explanation{
		Verdict: v, Limits: make([]Status, len(levels)), // an empty list in JSON, never null
		Strikes: standing.Strikes, Next: next,
	}
	if standing.Strikes > 0 {
		e.LapseAt = timeOf(standing.LapseAt)
	}
	if standing.SilentUntil > 0 {
		e.SilentUntil = timeOf(standing.SilentUntil)
	}
	for i, l := range levels {
		e.Limits[i] = statusOf(l)
	}
	return e, nil
}

func statusOf(l limits.Level) Status {
	s := Status{
		Name: l.Limit.Name(), Algorithm: chatguard.Algorithm(l.Limit.Algorithm()), Per: chatguard.Scope(l.Scope), Observes: !l.Decides,
		Used: int(l.Used), Capacity: int(l.Capacity), Granted: int(l.Granted), Remaining: int(l.Remaining),
		NextAt: timeOf(l.NextAt), ResetAt: timeOf(l.ResetAt), Role: chatguard.RoleEveryone, Own: l.Own, Window: l.Window, Step: l.Step, Picture: pictureOf(l.Picture),
	}
	if l.Role != "" {
		s.Role = chatguard.Role(l.Role)
	}
	return s
}

func pictureOf(p limits.Picture) Picture {
	picture := Picture{Tokens: p.Tokens, ExtraTokens: p.ExtraTokens, Count: int(p.Count), Previous: int(p.Previous), Weight: p.Weight}
	for _, count := range p.Slices {
		picture.Slices = append(picture.Slices, int(count))
	}
	if p.Until > 0 {
		picture.From, picture.Until = timeOf(p.From), timeOf(p.Until)
	} else if p.Count > 0 {
		picture.First = timeOf(p.First)
	}
	return picture
}

// timeOf returns the time of an instant, in UTC.
func timeOf(ns int64) time.Time { return limits.TimeOf(ns).UTC() }
