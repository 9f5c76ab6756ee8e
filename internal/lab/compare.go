package lab

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
)

// Compared is what one limit, taken alone, did with messages.
type Compared struct {
	Limit          string `json:"limit"` // as Text returns it
	Allowed        int64  `json:"allowed"`
	Throttled      int64  `json:"throttled"`
	Delayed        int64  `json:"delayed"`         // allowed, but had to wait in a queue
	LongestWaitMS  int64  `json:"longest_wait_ms"` // of a throttled message, until it would pass
	LongestDelayMS int64  `json:"longest_delay_ms"`
	// MostOfAUser is the most messages of one user that were allowed in any stretch of the span.
	MostOfAUser int64 `json:"most_of_a_user"`
	// WithoutText is how many messages have no text, or none on record, if the limit is on repeated
	// text. It doesn't count them.
	WithoutText int64 `json:"without_text,omitempty"`
}

// Comparison judges the same messages by several limits, each of them alone. Create one with
// NewComparison.
type Comparison struct {
	span  time.Duration
	lanes []comparedLane
}

// comparedLane is one of the limits.
type comparedLane struct {
	guard  *chatguard.Guard
	isText bool // the limit is on repeated text
	result Compared
	users  map[userKey]*Stretch
}

// userKey identifies a user of a channel.
type userKey struct{ channel, user string }

// NewComparison returns a Comparison without any messages. The error is an *Error that names the
// wrong limit by its lane.
func NewComparison(limits []chatguard.Limit, span time.Duration) (*Comparison, error) {
	c := &Comparison{span: span, lanes: make([]comparedLane, len(limits))}
	for i, limit := range limits {
		l, err := alone(i+1, limit)
		if err != nil {
			return nil, err
		}
		of := &c.lanes[i]
		of.result.Limit, of.isText, of.users = l.name, l.textLimit() != nil, map[userKey]*Stretch{}
		if of.guard, err = l.newGuard(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Add judges the next message. It returns the error of Guard.Check.
func (c *Comparison) Add(ctx context.Context, m chatguard.Message) error {
	for i := range c.lanes {
		l := &c.lanes[i]
		v, err := l.guard.Check(ctx, m)
		if err != nil {
			return err
		}
		l.count(&m, &v, c.span)
	}
	return nil
}

// count counts a verdict.
func (l *comparedLane) count(m *chatguard.Message, v *chatguard.Verdict, span time.Duration) {
	r := &l.result
	if l.isText && m.Text == "" {
		r.WithoutText++
	}
	if !v.Allowed {
		r.Throttled++
		r.LongestWaitMS = max(r.LongestWaitMS, ceilMillis(v.RetryAfter))
		return
	}
	r.Allowed++
	if v.Delay > 0 {
		r.Delayed++
		r.LongestDelayMS = max(r.LongestDelayMS, ceilMillis(v.Delay))
	}
	key := userKey{m.ChannelID, m.User.ID}
	passed := l.users[key]
	if passed == nil {
		s := NewStretch(span)
		passed = &s
		l.users[key] = passed
	}
	passed.Add(v.At.Add(v.Late+v.Delay).UnixNano(), 1)
	most, _ := passed.Most()
	r.MostOfAUser = max(r.MostOfAUser, most)
}

// Result returns the comparison of all messages so far, in the order of the limits.
func (c *Comparison) Result() []Compared {
	list := make([]Compared, len(c.lanes))
	for i := range c.lanes {
		list[i] = c.lanes[i].result
	}
	return list
}
