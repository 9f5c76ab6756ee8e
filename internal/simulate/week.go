package simulate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/limitinfo"
)

// Quarter is the step of a History.
const Quarter = 15 * time.Minute

// Lead returns how much history before a week is replayed, so that the allowance of the limit at
// the start of the week is right.
func Lead(limit chatguard.Limit) time.Duration {
	const day = 24 * time.Hour
	switch limit.Period {
	case chatguard.PeriodWeek:
		return 7 * day
	case chatguard.PeriodMonth:
		return 31 * day
	}
	return day
}

// History is the usage of one limit by a user, or by everyone who shares the limit, and the changes
// that moderators made to it. Both lists are sorted, oldest first.
type History struct {
	Spent   []journal.QuarterHour
	Changes []Change
}

// Change is a grant or a reset of one user.
type Change struct {
	At      time.Time
	Granted int // extra messages; 0 means a reset
}

// Point is the number of messages of cost 1 that were left from a time onwards.
type Point struct {
	At        time.Time `json:"at"`
	Remaining int       `json:"remaining"`
}

// AddGrants adds the grants for one limit.
func (k *History) AddGrants(audits []journal.Audit, limit string) {
	for _, a := range audits {
		if d, ok := journal.DetailOf[journal.GrantDetail](a); ok && d.Messages > 0 && d.Limit == limit {
			k.Changes = append(k.Changes, Change{a.At, d.Messages})
		}
	}
}

// AddResets adds resets.
func (k *History) AddResets(audits []journal.Audit) {
	for _, a := range audits {
		k.Changes = append(k.Changes, Change{At: a.At})
	}
}

// Sort sorts the changes by time, and drops those before since.
func (k *History) Sort(since time.Time) {
	k.Changes = slices.DeleteFunc(k.Changes, func(a Change) bool { return a.At.Before(since) })
	slices.SortStableFunc(k.Changes, func(a, b Change) int { return a.At.Compare(b.At) })
}

// startTime returns the start of the quarter hour in which the history begins. If nothing in the
// history is before at, it returns the start of the quarter hour that contains at.
func (k *History) startTime(at time.Time) time.Time {
	if len(k.Spent) > 0 && k.Spent[0].At.Before(at) {
		at = k.Spent[0].At
	}
	if len(k.Changes) > 0 && k.Changes[0].At.Before(at) {
		at = k.Changes[0].At
	}
	return at.Truncate(Quarter)
}

// solo is a Guard with one limit and one user, who also stands for everyone who shares the limit.
// The Guard has no store, so its methods never wait, and need no context that ends.
type solo struct {
	guard  *chatguard.Guard
	m      chatguard.Message // template of the user's messages
	from   time.Time         // no earlier points are recorded
	points []Point
}

// Remaining returns how many messages of the limit were left to the user, or to everyone who shares
// it, at each change between two times. role is the user's role whose numbers apply. In each
// quarter hour, the history's usage is spent before the changes are applied.
func Remaining(
	limit chatguard.Limit, own chatguard.UserOverride, role chatguard.Role, known History, from, until time.Time,
) ([]Point, error) {
	r, err := newSolo(limit, own, role, from)
	if err != nil {
		return nil, err
	}
	for at := known.startTime(until); at.Before(until); at = at.Add(Quarter) {
		end := at.Add(Quarter)
		for ; len(known.Spent) > 0 && known.Spent[0].At.Before(end); known.Spent = known.Spent[1:] {
			if err := r.spend(at, known.Spent[0].Spent); err != nil {
				return nil, err
			}
		}
		if err := r.addPoint(at); err != nil {
			return nil, err
		}
		for ; len(known.Changes) > 0 && known.Changes[0].At.Before(end); known.Changes = known.Changes[1:] {
			if err := r.amend(limit.Name, known.Changes[0]); err != nil {
				return nil, err
			}
		}
	}
	return r.points, nil
}

func newSolo(limit chatguard.Limit, own chatguard.UserOverride, role chatguard.Role, from time.Time) (*solo, error) {
	limit.Per, limit.Mode, limit.CountThrottled = chatguard.PerUser, chatguard.ModeEnforce, false
	if limit.Algorithm == chatguard.DailyWindow {
		limit.Timezone = cmp.Or(own.Timezone, limit.Timezone) // as if it had applied all week
	} else {
		limit.Timezone = ""
	}
	numbers, ok := limit.Roles[role]
	if limit.Roles = nil; ok {
		limit.Roles = map[chatguard.Role]chatguard.Override{role: numbers}
	}
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{limit}}, nil)
	if err != nil {
		return nil, err
	}
	r := &solo{guard: guard, from: from, m: chatguard.Message{ChannelID: "week", User: chatguard.User{ID: "user", Roles: chatguard.Roles{role}}}}
	if numbers, ok := own.Limits[limit.Name]; ok {
		mine := chatguard.UserOverride{Limits: map[string]chatguard.Override{limit.Name: numbers}}
		// An error means that the numbers don't fit the limit any more, so they don't apply.
		_ = inner.At(guard, from.Add(-Lead(limit))).SetUserOverride(context.Background(), r.m.Key(), mine)
	}
	return r, nil
}

func (r *solo) spend(at time.Time, n int) error {
	m := r.m
	m.SentAt, m.Cost = at, n
	_, _, err := r.guard.CheckUpTo(context.Background(), m)
	return err
}

func (r *solo) amend(limit string, a Change) (err error) {
	if a.Granted > 0 {
		_, err = inner.At(r.guard, a.At).Grant(context.Background(), r.m.Key(), limit, a.Granted)
	} else {
		err = inner.At(r.guard, a.At).Reset(context.Background(), r.m.Key())
	}
	if err != nil {
		return err
	}
	return r.addPoint(a.At)
}

// addPoint adds a point if the number of messages left has changed.
func (r *solo) addPoint(at time.Time) error {
	m := r.m
	m.SentAt, m.Cost = at, 1
	e, err := limitinfo.Explain(context.Background(), r.guard, m)
	if err != nil || at.Before(r.from) {
		return err
	}
	if left := e.Limits[0].Remaining; len(r.points) == 0 || r.points[len(r.points)-1].Remaining != left {
		r.points = append(r.points, Point{at, left})
	}
	return nil
}
