package lab

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
)

// Push is the plan of an eager sender. The sender sends each message at the first nanosecond at
// which the limits allow it, except in a pause or outside its turn.
type Push struct {
	Messages int `json:"messages,omitempty"` // 0 means 10,000
	// Start is how long after a whole second of the clock the sender starts.
	Start  Duration `json:"start,omitempty"`
	Pauses []Pause  `json:"pauses,omitempty"`
	Turn   Turn     `json:"turn,omitzero"` // the zero value means always
}

// Pause is a time, counted from the start, in which the sender sends nothing. As text it is
// "4s+500ms": from 4 s on, for 500 ms.
type Pause struct{ After, For time.Duration }

// Turn is the part of each period in which the sender sends, counted from the start. As text it is
// "10ms/1s": the first 10 ms of each second.
type Turn struct{ First, Of time.Duration }

// Pushed is what an eager sender got through. A message that waits in a queue counts when it
// leaves.
type Pushed struct {
	PerSecond []int `json:"per_second"` // from the start
	PerTenth  []int `json:"per_tenth"`  // per tenth of a second
	LastAt    int64 `json:"last_at_ns"` // when the last message left, counted from the start
	// The most in any half-open stretch of a given length.
	MostInASecond      int `json:"most_in_a_second"`
	MostInATenth       int `json:"most_in_a_tenth"`
	MostInAMillisecond int `json:"most_in_a_millisecond"`
}

// The bounds of an eager sender. PerTenth has one number for each tenth of a second.
const (
	MaxPushed   = 1_000_000
	maxPauses   = 100
	maxPushSpan = 12 * time.Hour
)

// Article is the plan of a published experiment: a sender who starts half a second after a whole
// second, and pauses twice.
func Article() Push {
	return Push{
		Messages: 10_000, Start: Duration(500 * time.Millisecond),
		Pauses: []Pause{{4 * time.Second, 500 * time.Millisecond}, {6 * time.Second, time.Second}},
	}
}

// ArticleLimits are the limits of the experiment: nine ways to allow 1,000 messages per second.
func ArticleLimits() []chatguard.Limit {
	return []chatguard.Limit{
		chatguard.TokenBucketLimit("token-bucket", 1000, time.Millisecond),
		chatguard.TokenBucketLimit("token-bucket", 100, time.Millisecond),
		chatguard.TokenBucketLimit("token-bucket", 1, time.Millisecond),
		chatguard.LeakyBucketLimit("leaky-bucket", time.Millisecond, 999),
		chatguard.LeakyBucketLimit("leaky-bucket", time.Millisecond, 0),
		chatguard.FixedWindowLimit("fixed-window", 1000, time.Second),
		chatguard.UserWindowLimit("user-window", 1000, time.Second),
		chatguard.SlidingWindowLimit("sliding-window", 1000, time.Second),
		chatguard.SlidingLogLimit("sliding-log", 1000, time.Second),
	}
}

// MarshalText writes what UnmarshalText reads.
func (p Pause) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%s+%s", p.After, p.For), nil }

// UnmarshalText reads a pause.
func (p *Pause) UnmarshalText(text []byte) (err error) {
	p.After, p.For, err = twoDurations(string(text), "+")
	if err != nil || p.For == 0 {
		return fmt.Errorf("%q is not a pause: want 4s+500ms, which is 500ms after 4s", clip(string(text)))
	}
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (t Turn) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%s/%s", t.First, t.Of), nil }

// UnmarshalText reads a turn.
func (t *Turn) UnmarshalText(text []byte) (err error) {
	t.First, t.Of, err = twoDurations(string(text), "/")
	if err != nil || t.First == 0 || t.First > t.Of {
		return fmt.Errorf("%q is not a turn: want 10ms/1s, which is the first 10ms of each second", clip(string(text)))
	}
	return nil
}

// twoDurations reads two durations with a separator between them.
func twoDurations(text, separator string) (first, second time.Duration, err error) {
	before, after, ok := strings.Cut(text, separator)
	var one, two Duration
	if err = one.UnmarshalText([]byte(before)); err == nil && ok {
		err = two.UnmarshalText([]byte(after))
	}
	return time.Duration(one), time.Duration(two), err
}

// runPush sends the messages of an eager sender to each lane.
func (q *Question) runPush(ctx context.Context, lanes []*lane, answer *Answer) error {
	plan := q.Traffic.Push
	if plan.Messages > MaxMessages {
		return errorf("traffic: messages is %d: use %d or fewer", plan.Messages, MaxMessages)
	}
	for i, l := range lanes {
		pushed, err := l.push(ctx, &answer.work, plan)
		if err != nil {
			return err
		}
		answer.Lanes[i].Push = pushed
	}
	return nil
}

// RunPush returns what an eager sender gets through a limit. The error is an *Error, or that of
// ctx.
func RunPush(ctx context.Context, plan Push, limit chatguard.Limit) (*Pushed, error) {
	l, err := alone(1, limit)
	if err == nil {
		err = l.withoutTexts("push")
	}
	if err != nil {
		return nil, err
	}
	return l.push(ctx, nil, plan)
}

// alone returns a lane with one limit.
func alone(number int, limit chatguard.Limit) (*lane, error) {
	return newLane(number, Lane{Limits: []chatguard.Limit{limit}}, "")
}

// Check fills in defaults, and returns an *Error for a number out of bounds.
func (p *Push) Check() error {
	if p.Messages == 0 {
		p.Messages = 10_000
	}
	switch {
	case p.Messages < 0 || p.Messages > MaxPushed:
		return errorf("messages is %d: use 1 to %d", p.Messages, MaxPushed)
	case time.Duration(p.Start) > maxPushSpan:
		return errorf("start is %s: use %s or less", durations.Format(time.Duration(p.Start)), durations.Format(maxPushSpan))
	case len(p.Pauses) > maxPauses:
		return errorf("pause is given %d times: use %d or fewer", len(p.Pauses), maxPauses)
	case p.Turn.Of > maxPushSpan:
		return errorf("turn is %s/%s: use a period of %s or less", p.Turn.First, durations.Format(p.Turn.Of), durations.Format(maxPushSpan))
	}
	for _, pause := range p.Pauses {
		if pause.After > maxPushSpan || pause.For > maxPushSpan {
			return errorf("pause is %s+%s: use %s or less in both parts", durations.Format(pause.After), durations.Format(pause.For), durations.Format(maxPushSpan))
		}
	}
	return nil
}

// push sends the messages of a plan.
func (l *lane) push(ctx context.Context, done *work, plan Push) (*Pushed, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	guard, err := l.newGuard()
	if err != nil {
		return nil, err
	}
	began := start.Add(time.Duration(plan.Start))
	left := make([]int64, 0, plan.Messages) // counted from the start
	m := chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: "1", Roles: l.roles}}
	tooLong := func(limit string) error {
		return &Error{Lane: l.number, Limit: limit, Text: fmt.Sprintf("%d messages take more than %s: send fewer", plan.Messages, durations.Format(maxPushSpan))}
	}
	for at := plan.next(0); len(left) < plan.Messages; {
		if err := done.pause(ctx, len(left), 1); err != nil {
			return nil, err
		}
		if at > maxPushSpan {
			return nil, tooLong("")
		}
		m.SentAt = began.Add(at)
		v, err := guard.Check(ctx, m)
		switch {
		case err != nil:
			return nil, err
		case v.Allowed:
			left = append(left, int64(at+v.Delay))
		case v.Never:
			return nil, &Error{Lane: l.number, Limit: v.Limit, Text: "it never allows a message"}
		default:
			at = plan.next(at + v.RetryAfter)
		}
		if at+v.Delay > maxPushSpan {
			return nil, tooLong(v.Limit)
		}
	}
	return newPushed(left), nil
}

// next returns the first time, not before at, at which the sender may send.
func (p *Push) next(at time.Duration) time.Duration {
	for {
		before := at
		for _, pause := range p.Pauses {
			if pause.After <= at && at-pause.After < pause.For {
				at = pause.After + pause.For
			}
		}
		if in := p.Turn; in.Of > 0 && at%in.Of >= in.First {
			at += in.Of - at%in.Of
		}
		if at == before {
			return at
		}
	}
}

// newPushed counts when messages left.
func newPushed(left []int64) *Pushed {
	last := left[len(left)-1]
	p := &Pushed{
		LastAt:             last,
		PerSecond:          make([]int, last/int64(time.Second)+1),
		PerTenth:           make([]int, last/int64(time.Second/10)+1),
		MostInASecond:      mostIn(left, time.Second),
		MostInATenth:       mostIn(left, time.Second/10),
		MostInAMillisecond: mostIn(left, time.Millisecond),
	}
	for _, at := range left {
		p.PerSecond[at/int64(time.Second)]++
		p.PerTenth[at/int64(time.Second/10)]++
	}
	return p
}
