package lab

import (
	"context"
	"sync/atomic"

	"github.com/chatguard/chatguard"
)

// Accuracy compares a sliding window, which estimates, with the exact sliding log that has the same
// numbers.
type Accuracy struct {
	Messages   int64      `json:"messages"`
	Users      int        `json:"users"`
	Counted    Counted    `json:"counted"`
	SideBySide SideBySide `json:"side_by_side"`
}

// Counted compares the estimate with the exact count. Every message counts, even if it is
// throttled. A decision is wrong if only one of the two is above the limit.
type Counted struct {
	Wrong            int64   `json:"wrong"`
	WronglyAllowed   int64   `json:"wrongly_allowed"`
	WronglyThrottled int64   `json:"wrongly_throttled"`
	WrongPercent     float64 `json:"wrong_percent"`
	// MeanOffPercent is the mean of |estimate − exact| / exact over the messages. The estimate is
	// not rounded.
	MeanOffPercent float64 `json:"mean_off_percent"`
	MostOffPercent float64 `json:"most_off_percent"`

	OverUsers   int `json:"over_users"`   // the exact count was above the limit at some time
	HeldUsers   int `json:"held_users"`   // the estimate was above the limit at some time
	MissedUsers int `json:"missed_users"` // over, but never held
	// WorstMissed is how far above the limit the worst missed user got, as a fraction of the limit.
	WorstMissed   float64 `json:"worst_missed"`
	InnocentUsers int     `json:"innocent_users"` // held, but never over
}

// SideBySide compares the decisions of a sliding window and of a sliding log. Each counts only the
// messages that it has allowed itself.
type SideBySide struct {
	BothAllow        int64 `json:"both_allow"`
	OnlyWindowAllows int64 `json:"only_window_allows"`
	OnlyLogAllows    int64 `json:"only_log_allows"`
	BothThrottle     int64 `json:"both_throttle"`
	WindowThrottled  int64 `json:"window_throttled"`
	LogThrottled     int64 `json:"log_throttled"`
	// MostLetPass is the most that the sliding window let a user send in any stretch of its length.
	MostLetPass int64 `json:"most_let_pass_in_any_window"`
}

// AccuracyMeter compares a sliding window with a sliding log, message by message. Create one with
// NewAccuracyMeter.
type AccuracyMeter struct {
	limit       chatguard.Limit
	window, log *chatguard.Guard
	users       map[userKey]*comparedUser
	result      Accuracy
	off         float64 // sum of counts.off over the messages
}

// NewAccuracyMeter returns an AccuracyMeter for a sliding-window. The error is an *Error.
func NewAccuracyMeter(limit chatguard.Limit) (*AccuracyMeter, error) {
	window, err := alone(1, limit)
	if err != nil {
		return nil, err
	}
	if err := window.withoutTexts("accuracy"); err != nil {
		return nil, err
	}
	if limit.Algorithm != chatguard.SlidingWindow {
		return nil, &Error{Lane: 1, Limit: window.policy.Limits[0].Name, Text: "accuracy needs a sliding-window"}
	}
	exact := limit
	exact.Algorithm, exact.Slices = chatguard.SlidingLog, 0
	log, err := alone(1, exact)
	if wrong, ok := err.(*Error); ok {
		wrong.Text = "accuracy compares with a sliding-log: " + wrong.Text
	}
	if err != nil {
		return nil, err
	}
	c := &AccuracyMeter{limit: limit, users: map[userKey]*comparedUser{}}
	if c.window, err = window.newGuard(); err != nil {
		return nil, err
	}
	c.log, err = log.newGuard()
	return c, err
}

// runAccuracy compares a lane's sliding window with a sliding log, by the messages of a question.
func (q *Question) runAccuracy(ctx context.Context, done *work, l *lane, messages []chatguard.Message) (*Accuracy, error) {
	if len(l.policy.Limits) != 1 {
		return nil, &Error{Lane: l.number, Text: "accuracy needs a lane with one sliding-window"}
	}
	c, err := NewAccuracyMeter(l.policy.Limits[0])
	if err != nil {
		return nil, err
	}
	for i := range messages {
		if err := done.pause(ctx, i, 1); err != nil {
			return nil, err
		}
		if err := c.Add(ctx, messages[i]); err != nil {
			return nil, err
		}
	}
	return c.Result(), nil
}

// AddPoisson adds messages of one user at independent random times, on average perMinute messages
// per minute. Equal seeds give equal times. AddPoisson counts the messages in added, and ends once
// added equals messages.
func (c *AccuracyMeter) AddPoisson(ctx context.Context, perMinute float64, seed uint64, messages int64, added *atomic.Int64) error {
	traffic := Traffic{Kind: Poisson, PerMinute: perMinute, Seed: seed, For: Duration(maxSpan)}
	if err := traffic.check(); err != nil {
		return err
	}
	for m := range traffic.all() {
		if added.Load() == messages {
			return nil
		}
		if err := (*work)(nil).pause(ctx, int(added.Load()), 1); err != nil {
			return err
		}
		if err := c.Add(ctx, m.judgeable()); err != nil {
			return err
		}
		added.Add(1)
	}
	return errorf("%d messages at %g per minute take more than 366 days: use fewer messages, or more per minute", messages, perMinute)
}

// Add adds the next message. It returns the error of Guard.Check.
func (c *AccuracyMeter) Add(ctx context.Context, m chatguard.Message) error {
	byWindow, err := c.window.Check(ctx, m)
	if err != nil {
		return err
	}
	byLog, err := c.log.Check(ctx, m)
	if err != nil {
		return err
	}
	key := userKey{m.ChannelID, m.User.ID}
	u := c.users[key]
	if u == nil {
		u = newComparedUser(c.limit)
		c.users[key] = u
	}
	cost := int64(max(1, m.Cost))
	c.result.Messages++
	c.count(u, u.add(byWindow.At.UnixNano(), cost))
	c.result.SideBySide.add(byWindow.Allowed, byLog.Allowed)
	if byWindow.Allowed {
		u.passed.Add(byWindow.At.Add(byWindow.Late).UnixNano(), cost)
		most, _ := u.passed.Most()
		c.result.SideBySide.MostLetPass = max(c.result.SideBySide.MostLetPass, most)
	}
	return nil
}

// count compares the counts after a message.
func (c *AccuracyMeter) count(u *comparedUser, n counts) {
	r := &c.result.Counted
	over, held := n.exact > u.limit, n.isHeld(u)
	switch {
	case over && !held:
		r.WronglyAllowed++
	case held && !over:
		r.WronglyThrottled++
	}
	u.over, u.held = u.over || over, u.held || held
	u.most = max(u.most, n.exact)
	off := n.off(u)
	c.off += off
	r.MostOffPercent = max(r.MostOffPercent, 100*off)
}

// Result returns the comparison of all messages so far.
func (c *AccuracyMeter) Result() *Accuracy {
	a := c.result
	r := &a.Counted
	a.Users = len(c.users)
	r.Wrong = r.WronglyAllowed + r.WronglyThrottled
	if a.Messages > 0 {
		r.WrongPercent = 100 * float64(r.Wrong) / float64(a.Messages)
		r.MeanOffPercent = 100 * c.off / float64(a.Messages)
	}
	for _, u := range c.users {
		r.addUser(u)
	}
	return &a
}

func (r *Counted) addUser(u *comparedUser) {
	if u.over {
		r.OverUsers++
	}
	if u.held {
		r.HeldUsers++
	}
	switch {
	case u.over && !u.held:
		r.MissedUsers++
		r.WorstMissed = max(r.WorstMissed, float64(u.most-u.limit)/float64(u.limit))
	case u.held && !u.over:
		r.InnocentUsers++
	}
}

func (s *SideBySide) add(window, log bool) {
	switch {
	case window && log:
		s.BothAllow++
	case window:
		s.OnlyWindowAllows++
	case log:
		s.OnlyLogAllows++
	default:
		s.BothThrottle++
	}
	if !window {
		s.WindowThrottled++
	}
	if !log {
		s.LogThrottled++
	}
}
