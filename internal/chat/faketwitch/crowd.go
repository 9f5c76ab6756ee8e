package faketwitch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Crowd plays the people of one channel: many who chat at a human pace, some of them subscribers and VIPs; a broadcaster and moderators who
// talk a lot; a few spammers from the first second on; and now and then a raid. Fill its fields, then call Run once.
//
// Who says what, and how long after the start, depends on nothing but the fields.
type Crowd struct {
	Channel  string        // login of the channel; required. Its owner is the broadcaster
	Seed     uint64        // another seed is another crowd
	Rate     float64       // messages a second, about, apart from raids; 0 means 40
	Spammers int           // how many spam; 0 means 4, less means none
	Raiders  int           // how many come with a raid; 0 means 60, less means none
	RaidAt   time.Duration // when the first raid comes; 0 means after 8 s. More follow every minute or so

	sent atomic.Int64
}

// utterance is something said at a time after the start.
type utterance struct {
	at   time.Duration
	line Line
}

// Run lets the crowd talk until ctx ends, and then returns nil. The error says that the channel doesn't exist.
func (c *Crowd) Run(ctx context.Context, srv *Server) error {
	plot := c.plot()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for began := time.Now(); ; {
		next := plot.next()
		timer.Reset(time.Until(began.Add(next.at)))
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		switch _, err := srv.Say(next.line); {
		case err == nil:
			c.sent.Add(1)
		case errors.Is(err, ErrWarned): // and speaks the next time
			srv.Acknowledge(next.line.Channel, next.line.Login)
		case !errors.Is(err, ErrSilenced) && !errors.Is(err, ErrSlow): // who is timed out or too fast tries in vain, like anyone
			return fmt.Errorf("crowd: %w", err)
		}
	}
}

// Sent returns how many messages the crowd has said so far. It may be called while Run runs.
func (c *Crowd) Sent() int { return int(c.sent.Load()) }

func (c *Crowd) plot() *plot {
	return newPlot(c.Channel, c.Seed, cast{
		rate:     cmp.Or(c.Rate, 40),
		spammers: max(0, cmp.Or(c.Spammers, 4)),
		raiders:  max(0, cmp.Or(c.Raiders, 60)),
		raidAt:   cmp.Or(c.RaidAt, 8*time.Second),
	})
}
