package faketwitch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Crowd simulates the users of one channel. Many chat at a human pace, some of them subscribers and
// VIPs. A broadcaster and moderators write a lot. A few spammers start in the first second, and
// there is a raid now and then. Set the fields, then call Run once.
//
// The fields alone determine who writes what, and how long after the start.
type Crowd struct {
	// Channel is the login of the channel; required. Its owner is the broadcaster.
	Channel string
	Seed    uint64 // each seed gives a different crowd
	// Rate is the approximate number of messages per second without raids; 0 means 40.
	Rate     float64
	Spammers int // number of spammers; 0 means 4, negative means none
	// Raiders is the number of users in a raid; 0 means 60, negative means none.
	Raiders int
	// RaidAt is the time of the first raid; 0 means after 8 s. More follow about every minute.
	RaidAt time.Duration

	sent atomic.Int64
}

// utterance is a message and its time, counted from the start.
type utterance struct {
	at   time.Duration
	line Line
}

// Run runs the crowd until ctx ends, then returns nil. It returns an error if the channel doesn't
// exist.
func (c *Crowd) Run(ctx context.Context, srv *Server) error {
	script := c.script()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for began := time.Now(); ; {
		next := script.next()
		timer.Reset(time.Until(began.Add(next.at)))
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		switch _, err := srv.Say(next.line); {
		case err == nil:
			c.sent.Add(1)
		case errors.Is(err, ErrWarned): // the user can write the next time
			srv.Acknowledge(next.line.Channel, next.line.Login)
		case !errors.Is(err, ErrSilenced) && !errors.Is(err, ErrSlow):
			// Any other error ends Run. If the user is timed out or too fast, the message is just
			// lost.
			return fmt.Errorf("crowd: %w", err)
		}
	}
}

// Sent returns how many messages the crowd has sent so far. It may be called while Run is running.
func (c *Crowd) Sent() int { return int(c.sent.Load()) }

func (c *Crowd) script() *script {
	return newScript(c.Channel, c.Seed, cast{
		rate:     cmp.Or(c.Rate, 40),
		spammers: max(0, cmp.Or(c.Spammers, 4)),
		raiders:  max(0, cmp.Or(c.Raiders, 60)),
		raidAt:   cmp.Or(c.RaidAt, 8*time.Second),
	})
}
