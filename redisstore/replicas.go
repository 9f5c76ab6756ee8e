package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/rueidis"
)

const (
	// confirmWithin is how long replicas have to confirm a heartbeat.
	confirmWithin = 100 * time.Millisecond
	// lastingMisses is how many heartbeats in a row too few replicas confirm before swaps don't wait
	// for them any more.
	lastingMisses = 3
)

// confirmations is how many replicas confirm writes, if they are too few.
type confirmations struct {
	confirmed int64
	lasting   bool // several heartbeats have found that
}

// noteSwapReplicas notes how many replicas have confirmed a swap.
func (s *Store) noteSwapReplicas(confirmed int64) {
	switch known := s.replicas.Load(); {
	case confirmed >= int64(s.options.Replicas):
		s.replicas.Store(nil)
	case known == nil || !known.lasting:
		s.replicas.Store(&confirmations{confirmed: confirmed})
	}
}

// waitsForReplicas reports whether swaps wait for the replicas. A server without enough of them
// makes each swap wait until the time is over, often longer, because it looks at its timers every
// 100 ms. So while they are missing for long, only the heartbeat waits.
func (s *Store) waitsForReplicas() bool {
	known := s.replicas.Load()
	return s.options.Replicas > 0 && (known == nil || !known.lasting)
}

// lookAtReplicas makes a write, and notes how many replicas confirm it. misses is how many times in
// a row too few have; the new number is returned.
func (s *Store) lookAtReplicas(ctx context.Context, misses int) int {
	if s.options.Replicas == 0 {
		return 0
	}
	confirmed, err := s.countReplicas(ctx)
	if err != nil {
		s.options.Logger.Debug("redisstore: the replicas weren't checked", "problem", withoutPrefix(err))
		return misses
	}
	if confirmed >= int64(s.options.Replicas) {
		s.replicas.Store(nil)
		return 0
	}
	if misses++; misses >= lastingMisses {
		s.replicas.Store(&confirmations{confirmed, true})
	}
	return misses
}

// countReplicas makes a write, and returns how many replicas confirm it.
func (s *Store) countReplicas(ctx context.Context) (confirmed int64, err error) {
	ctx, cancel := withTimeout(ctx, s.options.connectTimeout())
	defer cancel()
	results, err := s.askAnyway(ctx, func(b rueidis.Builder) []rueidis.Completed {
		return []rueidis.Completed{
			b.Set().Key(s.keys.scratch()).Value(s.instance).Px(time.Second).Build(),
			b.Wait().Numreplicas(int64(s.options.Replicas)).Timeout(confirmWithin.Milliseconds()).Build(),
		}
	})
	if err != nil {
		return 0, s.unknown(ctx, &change{cause: err})
	}
	if confirmed, err = results[1].AsInt64(); err != nil {
		return 0, s.refused(err)
	}
	return confirmed, nil
}

// replicasProblem says that too few replicas confirm swaps; empty if enough do.
func (s *Store) replicasProblem() string {
	known := s.replicas.Load()
	if known == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d replicas confirm swaps: connect replicas, or lower Options.Replicas", known.confirmed, s.options.Replicas)
}

// findReplicas checks whether enough replicas confirm writes.
func (s *Store) findReplicas(ctx context.Context) []Finding {
	if s.options.Replicas == 0 {
		return nil
	}
	f := Finding{Name: "replicas", Text: fmt.Sprintf("%d confirm swaps, as Options.Replicas asks for", s.options.Replicas)}
	switch confirmed, err := s.countReplicas(ctx); {
	case err != nil:
		f = Finding{Problem, f.Name, withoutPrefix(err), "grant the user +wait, or set Options.Replicas to 0"}
	case confirmed < int64(s.options.Replicas):
		f = Finding{Warning, f.Name, fmt.Sprintf("%d of %d replicas confirm swaps, so a failover can lose more", confirmed, s.options.Replicas), "connect replicas, or lower Options.Replicas"}
	}
	return []Finding{f}
}
