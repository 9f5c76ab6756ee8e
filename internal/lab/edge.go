package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/inner"
)

// The maximum numbers of messages that a sender tries in search of the most that can pass.
const (
	maxEdge       = 20_000_000
	maxAnswerEdge = 1_000_000 // of a lane in a Question
)

// RunEdge returns the most messages of cost 1 that a limit lets one user send in any half-open
// stretch of a given length. A message that waits in a queue counts when it leaves. The error is an
// *Error, or that of ctx.
func RunEdge(ctx context.Context, span time.Duration, limit chatguard.Limit) (int64, error) {
	l, err := alone(1, limit)
	if err == nil {
		err = l.withoutTexts("edge")
	}
	if err != nil {
		return 0, err
	}
	return l.edge(ctx, nil, span, maxEdge)
}

// runEdge answers Question.Edge.
func (q *Question) runEdge(ctx context.Context, lanes []*lane, answer *Answer) error {
	for i, l := range lanes {
		most, err := l.edge(ctx, &answer.work, time.Duration(q.Edge), maxAnswerEdge)
		if err != nil {
			return err
		}
		if most < 0 {
			continue // without limits, any number of messages can pass
		}
		answer.Lanes[i].Edge = &most
	}
	return nil
}

// edge returns the most that the strictest of the limits lets through. No sender gets more through
// all of them together. It is -1 without limits, apart from those on repeated text: a sender writes
// another text each time.
func (l *lane) edge(ctx context.Context, done *work, span time.Duration, most int64) (int64, error) {
	if span <= 0 || span > maxSpan {
		return 0, errorf("the span is %s: use more than 0s, up to 366d", durations.Format(span))
	}
	least := int64(-1)
	for _, limit := range l.policy.Limits {
		if inner.IsText(limit.Per) {
			continue
		}
		policy := l.policy
		policy.Limits = []chatguard.Limit{limit}
		a := &adversary{lane: &lane{number: l.number, policy: policy, roles: l.roles}, span: span, limit: limit.Name, budget: most, done: done}
		n, err := a.search(ctx)
		if err != nil {
			return 0, err
		}
		if least < 0 || n < least {
			least = n
		}
	}
	return least, nil
}

// adversary gets as many messages through a limit within a span as the limit can allow, because it
// knows the engine. It tries these plans, and each time sends whatever the limit lets pass:
//
//   - It starts with all of its allowance. No plan gets more through a bucket or a log.
//   - It starts at the last nanosecond of a window of the clock.
//   - It sends one message, and the others begin at the last nanosecond of the window that this
//     message has opened.
//
// Days, weeks and months have different lengths, so for a long span it tries the end of each of a
// year.
type adversary struct {
	lane   *lane
	limit  string
	span   time.Duration
	budget int64 // messages that it may still send
	done   *work
}

// year is how many periods a year has, and a few more.
var year = map[chatguard.Period]int{"": 370, chatguard.PeriodDay: 370, chatguard.PeriodWeek: 54, chatguard.PeriodMonth: 13}

// aDay is shorter than any day. A shorter span contains the end of at most one day.
const aDay = 12 * time.Hour

// search returns the most that any of the plans gets through.
func (a *adversary) search(ctx context.Context) (int64, error) {
	most, err := a.rush(ctx, start, time.Time{})
	if err != nil {
		return 0, err
	}
	tries := 1
	for _, l := range a.lane.policy.Limits {
		if l.Algorithm == chatguard.DailyWindow && a.span > aDay {
			tries = max(tries, year[l.Period])
		}
	}
	for first := start; tries > 0; tries-- {
		end, err := a.windowEnd(ctx, first)
		if err != nil {
			return 0, err
		}
		last := end.Add(-1)
		for _, opened := range []time.Time{{}, first} {
			n, err := a.rush(ctx, last, opened)
			if err != nil {
				return 0, err
			}
			most = max(most, n)
		}
		first = end
	}
	return most, nil
}

// windowEnd returns the end of the window that a first message at the given time opens.
func (a *adversary) windowEnd(ctx context.Context, at time.Time) (time.Time, error) {
	guard, err := a.lane.newGuard()
	if err != nil {
		return at, err
	}
	v, err := guard.Check(ctx, a.message(at))
	return v.ResetAt, err
}

func (a *adversary) message(at time.Time) chatguard.Message {
	return chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: "1", Roles: a.lane.roles}, SentAt: at}
}

// rush returns how many messages leave within the span from a time on, if each is sent as soon as
// possible. If opened is set, another message is sent then, before the others.
func (a *adversary) rush(ctx context.Context, from, opened time.Time) (n int64, err error) {
	guard, err := a.lane.newGuard()
	if err != nil {
		return 0, err
	}
	if !opened.IsZero() {
		if _, err := guard.Check(ctx, a.message(opened)); err != nil {
			return 0, err
		}
	}
	for at, end := from, from.Add(a.span); at.Before(end); {
		if err := a.done.pause(ctx, int(n), 1); err != nil {
			return 0, err
		}
		v, err := guard.Check(ctx, a.message(at))
		if err != nil {
			return 0, err
		}
		if v.Allowed && !at.Add(v.Delay).Before(end) || v.Never {
			break
		}
		if !v.Allowed {
			at = at.Add(v.RetryAfter)
			continue
		}
		n++
		if a.budget--; a.budget < 0 {
			return 0, &Error{Lane: a.lane.number, Limit: a.limit, Text: fmt.Sprintf("too many messages pass in %s: use a shorter span", durations.Format(a.span))}
		}
	}
	return n, nil
}
