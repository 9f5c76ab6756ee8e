package redisstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// lastExchange is how long Run waits at its end for what the Guard still has to send.
const lastExchange = 5 * time.Second

// Run does the background work until ctx ends: it estimates the server's clock, receives the
// notices of other nodes, lists this node, and calls the Guard's Exchange. It then exchanges a last
// time for at most 5 s, and removes the node from the list.
//
// Run returns an error if the last exchange fails. It says how many rows weren't written: what
// their users have spent since is forgotten. Other problems don't end Run, see [Store.Health]. Only
// one Run can be running.
func (s *Store) Run(ctx context.Context, guard *chatguard.Guard) error {
	if guard == nil {
		return errors.New("redisstore: the Guard is missing: create one with chatguard.New")
	}
	return s.run(ctx, guard.Shared())
}

func (s *Store) run(ctx context.Context, guard shared.Guard) error {
	if !s.running.CompareAndSwap(false, true) {
		return errors.New("redisstore: Run is running already")
	}
	defer s.running.Store(false)
	compare := func() { s.registry.compareServers(guard) }
	s.server.compare.Store(&compare)
	defer s.server.compare.Store(nil)
	var parts sync.WaitGroup
	parts.Go(func() { s.server.watch(ctx) })
	parts.Go(func() { s.notices.listen(ctx, guard) })
	parts.Go(func() { s.register(ctx, guard) })
	s.exchange(ctx, guard)
	parts.Wait()
	last, cancel := withTimeout(context.WithoutCancel(ctx), lastExchange)
	defer cancel()
	err := s.exchangeOnce(last, guard, 0)
	for err == nil && guard.Counts().Pending > 0 { // rows that other nodes still restore
		sleep(last, heartbeatEvery/4)
		err = cmp.Or(s.exchangeOnce(last, guard, 0), last.Err())
	}
	s.registry.deregister(last)
	if err != nil {
		return lost(guard, err)
	}
	return nil
}

// register lists this node, each second.
func (s *Store) register(ctx context.Context, guard shared.Guard) {
	s.writer.replicas.misses = 0
	for ctx.Err() == nil {
		if s.server.breaker.away.Load() == nil {
			s.writer.replicas.check(ctx)
			if err := s.registry.heartbeat(ctx, guard); err != nil {
				s.server.options.Logger.Debug("redisstore: a heartbeat has failed", "problem", withoutPrefix(err))
			}
			s.logProblems()
		}
		if s.notices.missed.Swap(false) {
			s.notices.changedDocument("")
		}
		sleep(ctx, heartbeatEvery)
	}
}

// exchange calls the Guard's Exchange in each interval.
func (s *Store) exchange(ctx context.Context, guard shared.Guard) {
	var last string
	for {
		sleep(ctx, s.server.options.Interval)
		if ctx.Err() != nil {
			return
		}
		if s.server.breaker.away.Load() == nil {
			last = s.logExchange(ctx, last, s.exchangeOnce(ctx, guard, s.server.options.Interval/2))
		}
	}
}

// exchangeOnce calls the Guard's Exchange. If that takes longer than alone, a second call shares
// the work, so that one call can prepare rows while the other waits for the server. From the
// beginning, it would take processor time from decisions. exchangeOnce measures how long both take.
func (s *Store) exchangeOnce(ctx context.Context, guard shared.Guard, alone time.Duration) error {
	var rows atomic.Int64
	ctx = context.WithValue(ctx, exchangeKey{}, &rows)
	began := s.server.since()
	var other error
	var both sync.WaitGroup
	first, ended := context.WithCancel(ctx)
	defer ended()
	both.Go(func() {
		if sleep(first, alone); first.Err() == nil {
			other = guard.Exchange(ctx)
		}
	})
	err := guard.Exchange(ctx)
	ended()
	both.Wait()
	err = cmp.Or(err, other)
	s.stats.exchanges.Add(s.server.since()-began, 1)
	s.stats.exchangeRows.Add(rows.Load(), 1)
	return err
}

// logExchange logs an error of an exchange that isn't the last one, and its end, and returns its
// text. goAway logs an outage, and logProblems what Health says.
func (s *Store) logExchange(ctx context.Context, last string, err error) string {
	log := s.server.options.Logger
	if err == nil || ctx.Err() != nil {
		if err == nil && last != "" {
			log.Info("redisstore: the exchange succeeds again", "address", s.server.where)
		}
		return ""
	}
	text := withoutPrefix(err)
	problems, _ := s.problems()
	switch {
	case errors.Is(err, shared.ErrAway) || errors.Is(err, shared.ErrUnconfirmed) || slices.Contains(problems, text):
		log.Debug("redisstore: the exchange has failed", "problem", text)
		return last
	case text != last:
		log.Warn("redisstore: the exchange has failed", "problem", text)
	}
	return text
}

// lost is the error of Run if the last exchange fails.
func lost(guard shared.Guard, err error) error {
	rows := "some rows weren't written"
	if n := guard.Counts().Pending; n == 1 {
		rows = "1 row wasn't written"
	} else if n > 1 {
		rows = fmt.Sprintf("%d rows weren't written", n)
	}
	return &storeError{rows + ", what their users have spent since is forgotten: " + withoutPrefix(err), []error{err}}
}
