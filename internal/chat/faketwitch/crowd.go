package faketwitch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"
)

// Crowd simulates the users of one channel. Many chat at a human pace, some of them subscribers and
// VIPs. A broadcaster and moderators write more often. Now and then someone writes much too fast,
// and some of them continue even after a timeout. There are raids. Set the fields, then call Run
// once, or Lines and then Run.
//
// The fields alone determine who writes what, and how long after the start.
type Crowd struct {
	// Channel is the login of the channel; required. Its owner is the broadcaster.
	Channel string
	Seed    uint64 // each seed gives a different crowd
	// Evening distinguishes the crowds of a channel with the same seed. They have the same staff
	// and regulars. The spammers, the raiders, and what is written are different.
	Evening uint64
	// Rate is the approximate number of messages per second without raids; 0 means 40.
	Rate     float64
	Spammers int // number of spammers at a time; 0 means 4, negative means none
	// Raiders is the number of users in a raid; 0 means 60, negative means none.
	Raiders int
	// RaidAt is the time of the first raid; 0 means after 8 s, negative means only after Raid.
	RaidAt time.Duration
	// RaidEvery is the time between raids; 0 means about a minute.
	RaidEvery time.Duration
	// Surges makes the pace rise and fall, with Rate as the average.
	Surges bool

	sent   atomic.Int64
	raids  atomic.Int64 // requested by Raid
	script *script      // nil before the first message
	next   utterance    // the first message after Lines; zero if there was no Lines
	played time.Duration
}

// Lines returns what the crowd writes up to a time after its start, and when. It sends nothing. Run
// then continues from that time. Call Lines once.
func (c *Crowd) Lines(until time.Duration) iter.Seq2[time.Duration, Line] {
	return func(yield func(time.Duration, Line) bool) {
		c.begin()
		c.played = until
		for c.next = c.script.next(); c.next.at < until; c.next = c.script.next() {
			if !yield(c.next.at, c.next.line) {
				return
			}
		}
	}
}

// Run runs the crowd until ctx ends, then returns nil. It returns an error if the channel doesn't
// exist.
func (c *Crowd) Run(ctx context.Context, srv *Server) error {
	c.begin()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for began := time.Now().Add(-c.played); ; {
		for n := c.raids.Swap(0); n > 0; n-- {
			c.script.raid(time.Since(began))
		}
		next := c.next
		if c.next = (utterance{}); next.line.Text == "" {
			next = c.script.next()
		}
		timer.Reset(time.Until(began.Add(next.at)))
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if err := c.say(srv, next.line); err != nil {
			return err
		}
	}
}

// say sends a message. If the user is timed out or too fast, the message is just lost.
func (c *Crowd) say(srv *Server, l Line) error {
	switch _, err := srv.Say(l); {
	case err == nil:
		c.sent.Add(1)
	case errors.Is(err, ErrWarned): // the user can write the next time
		srv.Acknowledge(l.Channel, l.Login)
	case !errors.Is(err, ErrSilenced) && !errors.Is(err, ErrSlow) && !errors.Is(err, ErrMode):
		return fmt.Errorf("crowd: %w", err)
	}
	return nil
}

// Raid makes a raid begin after the crowd's next message. It may be called while Run is running.
func (c *Crowd) Raid() { c.raids.Add(1) }

// Sent returns how many messages the crowd has sent so far. It may be called while Run is running.
func (c *Crowd) Sent() int { return int(c.sent.Load()) }

// begin creates the script unless it exists.
func (c *Crowd) begin() {
	if c.script != nil {
		return
	}
	c.script = newScript(c.Channel, c.Seed, c.Evening, cast{
		rate:      cmp.Or(c.Rate, 40),
		spammers:  max(0, cmp.Or(c.Spammers, 4)),
		raiders:   max(0, cmp.Or(c.Raiders, 60)),
		raidAt:    cmp.Or(c.RaidAt, 8*time.Second),
		raidEvery: c.RaidEvery,
		surges:    c.Surges,
	})
}
