package web

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// lived is what is known of a user and a limit, each kind the oldest first.
type lived struct {
	spent   []journal.QuarterHour
	amended []amendment
}

// amendment is what somebody did for the user: extra messages, or a fresh start.
type amendment struct {
	at      time.Time
	granted int // 0: a fresh start
}

func (k *lived) addGrants(audits []journal.Audit, limit string) {
	for _, a := range audits {
		detail, _ := a.Detail.(map[string]any)
		number, _ := detail["messages"].(json.Number)
		if n, err := number.Int64(); err == nil && n > 0 && detail["limit"] == limit {
			k.amended = append(k.amended, amendment{a.At, int(n)})
		}
	}
}

func (k *lived) addResets(audits []journal.Audit) {
	for _, a := range audits {
		k.amended = append(k.amended, amendment{at: a.At})
	}
}

// arrange sorts the amendments, and drops those from before a time.
func (k *lived) arrange(since time.Time) {
	k.amended = slices.DeleteFunc(k.amended, func(a amendment) bool { return a.at.Before(since) })
	slices.SortStableFunc(k.amended, func(a, b amendment) int { return a.at.Compare(b.at) })
}

// begin is the quarter of an hour of the first thing that is known, or a time where nothing is before that.
func (k *lived) begin(at time.Time) time.Time {
	if len(k.spent) > 0 && k.spent[0].At.Before(at) {
		at = k.spent[0].At
	}
	if len(k.amended) > 0 && k.amended[0].at.Before(at) {
		at = k.amended[0].at
	}
	return at.Truncate(quarter)
}

// replay is a Guard that has only one limit, and only one user.
type replay struct {
	guard  *chatguard.Guard
	m      chatguard.Message // the user's
	from   time.Time         // no point is before
	points []weekPoint
}

// replayWeek lets a replay spend what was spent, quarter by quarter, and then do what was done for the user in it.
func replayWeek(
	limit chatguard.Limit, own chatguard.UserOverride, roles chatguard.Roles, known lived, from, until time.Time,
) ([]weekPoint, error) {
	r, err := newReplay(limit, own, roles, from)
	if err != nil {
		return nil, err
	}
	for at := known.begin(until); at.Before(until); at = at.Add(quarter) {
		end := at.Add(quarter)
		for ; len(known.spent) > 0 && known.spent[0].At.Before(end); known.spent = known.spent[1:] {
			if err := r.spend(at, known.spent[0].Spent); err != nil {
				return nil, err
			}
		}
		if err := r.look(at); err != nil {
			return nil, err
		}
		for ; len(known.amended) > 0 && known.amended[0].at.Before(end); known.amended = known.amended[1:] {
			if err := r.amend(limit.Name, known.amended[0]); err != nil {
				return nil, err
			}
		}
	}
	return r.points, nil
}

func newReplay(limit chatguard.Limit, own chatguard.UserOverride, roles chatguard.Roles, from time.Time) (*replay, error) {
	limit.Per, limit.Mode, limit.CountThrottled = chatguard.PerUser, chatguard.LimitEnforces, false
	if limit.Algorithm == chatguard.DailyWindow {
		limit.Timezone = cmp.Or(own.Timezone, limit.Timezone) // as if it had been so all week
	} else {
		limit.Timezone = ""
	}
	guard, err := chatguard.New(chatguard.Policy{Mode: chatguard.Enforce, Limits: []chatguard.Limit{limit}}, nil)
	if err != nil {
		return nil, err
	}
	r := &replay{guard: guard, from: from, m: chatguard.Message{ChannelID: "week", User: chatguard.User{ID: "user", Roles: roles}}}
	if numbers, ok := own.Limits[limit.Name]; ok {
		mine := chatguard.UserOverride{Limits: map[string]chatguard.Override{limit.Name: numbers}}
		err = guard.SetUserOverride(r.m.ChannelID, r.m.User.ID, mine, from.Add(-weekLead))
	}
	return r, err
}

func (r *replay) spend(at time.Time, n int) error {
	m := r.m
	m.SentAt, m.Cost = at, n
	_, _, err := r.guard.Take(context.Background(), m)
	return err
}

func (r *replay) amend(limit string, a amendment) (err error) {
	if a.granted > 0 {
		_, err = r.guard.Grant(r.m.ChannelID, r.m.User.ID, limit, a.granted, a.at)
	} else {
		err = r.guard.Reset(r.m.ChannelID, r.m.User.ID, a.at)
	}
	if err != nil {
		return err
	}
	return r.look(a.at)
}

// look notes what is left, where that has changed.
func (r *replay) look(at time.Time) error {
	m := r.m
	m.SentAt, m.Cost = at, 1
	e, err := r.guard.Explain(m)
	if err != nil || at.Before(r.from) {
		return err
	}
	if left := e.Limits[0].Remaining; len(r.points) == 0 || r.points[len(r.points)-1].Remaining != left {
		r.points = append(r.points, weekPoint{at, left})
	}
	return nil
}
