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
	// unconfirmedFor is how long swaps don't wait for replicas after a heartbeat that too few have
	// confirmed.
	unconfirmedFor = 3 * heartbeatEvery
)

// confirmations is how many replicas confirm writes, if they are too few.
type confirmations struct {
	confirmed int64
	at        int64 // when a heartbeat found that; 0 if it was a swap
}

// noteReplicas notes how many replicas have confirmed a swap or a heartbeat.
func (s *Store) noteReplicas(confirmed, at int64) {
	if confirmed >= int64(s.options.Replicas) {
		s.replicas.Store(nil)
		return
	}
	if known := s.replicas.Load(); at == 0 && known != nil {
		at = known.at
	}
	s.replicas.Store(&confirmations{confirmed, at})
}

// waitsForReplicas reports whether swaps wait for the replicas. A server without enough of them
// makes each swap wait until the time is over, often longer, because it looks at its timers every
// 100 ms. So while the heartbeat finds too few, only the heartbeat waits.
func (s *Store) waitsForReplicas() bool {
	known := s.replicas.Load()
	return s.options.Replicas > 0 && (known == nil || known.at == 0 || s.since()-known.at > int64(unconfirmedFor))
}

// checkReplicas makes a write, and notes how many replicas confirm it.
func (s *Store) checkReplicas(ctx context.Context) error {
	if s.options.Replicas == 0 {
		return nil
	}
	ctx, cancel := withTimeout(ctx, max(connectTimeout, s.options.Timeout))
	defer cancel()
	results, err := s.askAnyway(ctx, func(b rueidis.Builder) []rueidis.Completed {
		return []rueidis.Completed{
			b.Set().Key(s.keys.scratch()).Value(s.instance).Px(time.Second).Build(),
			b.Wait().Numreplicas(int64(s.options.Replicas)).Timeout(confirmWithin.Milliseconds()).Build(),
		}
	})
	if err != nil {
		return s.unknown(ctx, &change{cause: err})
	}
	confirmed, err := results[1].AsInt64()
	if err != nil {
		s.noteReplicas(0, s.since())
		return s.refused(err)
	}
	s.noteReplicas(confirmed, s.since())
	return nil
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
	if err := s.checkReplicas(ctx); err != nil {
		return []Finding{{Problem, f.Name, withoutPrefix(err), "grant the user +wait, or set Options.Replicas to 0"}}
	}
	if known := s.replicas.Load(); known != nil {
		return []Finding{{Warning, f.Name, fmt.Sprintf("%d of %d replicas confirm swaps, so a failover can lose more", known.confirmed, s.options.Replicas), "connect replicas, or lower Options.Replicas"}}
	}
	return []Finding{f}
}
