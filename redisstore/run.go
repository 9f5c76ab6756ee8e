package redisstore

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Guard is what Run needs of a *chatguard.Guard.
type Guard interface {
	// Invalidate makes the Guard look at a row again.
	Invalidate(channelID, userID string)
	// InvalidateAll makes the Guard look at all rows again.
	InvalidateAll()
	// Heal makes the next Exchange write again the rows that the server may have lost.
	Heal()
	// Exchange sends what was spent here, and receives what was spent on other nodes.
	Exchange(ctx context.Context) error
	// PolicyHash identifies the Guard's policy. It is the same for all Guards with that policy.
	PolicyHash() string
}

// lastExchange is how long Run waits at its end for what the Guard still has to send.
const lastExchange = 5 * time.Second

// Run does the background work until ctx ends: it estimates the server's clock, receives the
// notices of other nodes, lists this node, and calls the Guard's Exchange. It then exchanges a last
// time for at most 5 s, and removes the node from the list.
//
// Run returns an error if the last exchange fails. It says how many rows weren't written: what
// their users have spent since is forgotten. Other problems don't end Run, see [Store.Health]. Only
// one Run can be running.
func (s *Store) Run(ctx context.Context, guard Guard) error {
	if guard == nil {
		return errors.New("redisstore: the Guard is missing: create one with chatguard.New")
	}
	if !s.running.CompareAndSwap(false, true) {
		return errors.New("redisstore: Run is running already")
	}
	defer s.running.Store(false)
	var parts sync.WaitGroup
	parts.Go(func() { s.watch(ctx) })
	parts.Go(func() { s.listen(ctx, guard) })
	parts.Go(func() { s.register(ctx, guard) })
	s.exchange(ctx, guard)
	parts.Wait()
	last, cancel := withTimeout(context.WithoutCancel(ctx), lastExchange)
	defer cancel()
	err := s.exchangeOnce(last, guard)
	s.deregister(last)
	if err != nil {
		return lost(guard, err)
	}
	return nil
}

// watch looks each 50 ms whether a server that is away is back.
func (s *Store) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if s.breaker.away.Load() != nil {
			s.probe()
			sleep(ctx, probeEvery)
			continue
		}
		select {
		case <-s.wentAway:
		case <-ctx.Done():
		}
	}
}

// register lists this node, each second.
func (s *Store) register(ctx context.Context, guard Guard) {
	var last string
	misses := 0 // heartbeats in a row that too few replicas have confirmed
	logged := map[string]int64{}
	for ctx.Err() == nil {
		if s.breaker.away.Load() == nil {
			misses = s.lookAtReplicas(ctx, misses)
			err := s.heartbeat(ctx, guard)
			if err == nil {
				err = s.renewNumber(ctx)
			}
			if s.evicting.Load() != nil {
				s.lookAtEviction(ctx)
			}
			s.logLasting(logged)
			last = s.logOnce(ctx, "redisstore: this node can't be listed", last, err)
		}
		if s.missed.Swap(false) {
			s.changedDocument("")
		}
		sleep(ctx, heartbeatEvery)
	}
}

// exchange calls the Guard's Exchange in each interval.
func (s *Store) exchange(ctx context.Context, guard Guard) {
	var last string
	for {
		sleep(ctx, s.options.Interval)
		if ctx.Err() != nil {
			return
		}
		if s.breaker.away.Load() == nil {
			last = s.logOnce(ctx, "redisstore: the exchange has failed", last, s.exchangeOnce(ctx, guard))
		}
	}
}

// exchangeOnce calls the Guard's Exchange twice at the same time, and measures it: while one
// prepares rows, the other waits for the server.
func (s *Store) exchangeOnce(ctx context.Context, guard Guard) error {
	var rows atomic.Int64
	ctx = context.WithValue(ctx, exchangeKey{}, &rows)
	began := s.since()
	var other error
	var both sync.WaitGroup
	both.Go(func() { other = guard.Exchange(ctx) })
	err := guard.Exchange(ctx)
	both.Wait()
	err = cmp.Or(err, other)
	s.stats.exchanges.Add(s.since()-began, 1)
	s.stats.exchangeRows.Add(rows.Load(), 1)
	return err
}

// logOnce logs an error that isn't the last one, and returns its text. An outage is logged by
// goAway.
func (s *Store) logOnce(ctx context.Context, message, last string, err error) string {
	if err == nil || ctx.Err() != nil {
		return ""
	}
	if transient(err) {
		s.options.Logger.Debug(message, "problem", withoutPrefix(err))
		return last
	}
	if text := withoutPrefix(err); text != last {
		s.options.Logger.Warn(message, "problem", text)
		return text
	}
	return last
}
