package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/limits"
)

// timespan is a period of a channel: a stream or a day.
type timespan struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"` // of a running period, the time of the request
}

func (s timespan) length() time.Duration { return s.Until.Sub(s.From) }

// spans finds the days and streams of channels.
type spans struct {
	guard *chatguard.Guard
	store Records
}

// dayOf returns the channel's day that contains a time. It begins when the first daily limit
// resets, or else at midnight in the channel's time zone.
func (s spans) dayOf(channel string, at time.Time) (timespan, error) {
	zone, resetAt := s.dayRule(channel)
	calendar, err := limits.NewCalendar(zone, resetAt)
	if err != nil {
		return timespan{}, err
	}
	day := calendar.PeriodOf(at.Unix())
	return timespan{time.Unix(day.Start, 0).UTC(), time.Unix(day.End, 0).UTC()}, nil
}

// dayRule returns the time zone of the channel's days, and the local time at which they begin.
func (s spans) dayRule(channel string) (zone, resetAt string) {
	policy := inner.Of(s.guard).InForce(channel)
	var daily chatguard.Limit // the first daily limit, if there is one
	if i := slices.IndexFunc(policy.Limits, countsByDays); i >= 0 {
		daily = policy.Limits[i]
	}
	return cmp.Or(daily.Timezone, policy.Timezone, "UTC"), daily.ResetAt
}

// countsByDays reports whether a limit allows a number of messages per day.
func countsByDays(l chatguard.Limit) bool {
	return l.Algorithm == chatguard.DailyWindow && cmp.Or(l.Period, chatguard.PeriodDay) == chatguard.PeriodDay
}

// timezone returns the time zone of the channel's days.
func (s spans) timezone(channel string) string {
	zone, _ := s.dayRule(channel)
	return zone
}

// today returns the channel's day until now, and the same part of the day before.
func (s spans) today(channel string) (today, before timespan, err error) {
	now := s.guard.Now()
	if today, err = s.dayOf(channel, now); err != nil {
		return today, before, err
	}
	today.Until = now.UTC()
	before, err = s.dayOf(channel, today.From.Add(-time.Second))
	return today, before.cut(today.length()), err
}

// cut returns the first part of a period, at most as long as length.
func (s timespan) cut(length time.Duration) timespan {
	if s.length() > length {
		s.Until = s.From.Add(length)
	}
	return s
}

// streams returns the channel's running stream and the last one that ended. Both may be nil.
func (s spans) streams(ctx context.Context, channel string) (running, ended *timespan, err error) {
	known, err := s.store.Streams(ctx, channel, 2)
	if err != nil {
		return nil, nil, errUnreadable("The streams can't be read now", err)
	}
	for _, stream := range known {
		switch of := spanOf(stream); {
		case stream.Ended && ended == nil:
			ended = &of
		case !stream.Ended && running == nil && ended == nil:
			of.Until = s.guard.Now().UTC()
			running = &of
		}
	}
	return running, ended, nil
}

func spanOf(s journal.Stream) timespan { return timespan{s.Start.UTC(), s.Seen.UTC()} }
