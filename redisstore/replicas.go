package redisstore

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// confirmWithin is how long replicas have to confirm a heartbeat.
	confirmWithin = 100 * time.Millisecond
	// lastingMisses is how many heartbeats in a row too few replicas confirm before swaps no longer
	// wait for them.
	lastingMisses = 3
)

// confirmations is how many replicas confirm writes, if they are too few.
type confirmations struct {
	confirmed int64
	lasting   bool // several heartbeats have found that
}

// replicas knows whether enough replicas confirm writes.
type replicas struct {
	server *server
	few    atomic.Pointer[confirmations] // nil while as many confirm as Options.Replicas
	misses int                           // how many times in a row check has found too few; only for Run
}

// note notes how many replicas have confirmed a swap.
func (r *replicas) note(confirmed int64) {
	switch known := r.few.Load(); {
	case confirmed >= int64(r.server.options.Replicas):
		r.few.Store(nil)
	case known == nil || !known.lasting:
		r.few.Store(&confirmations{confirmed: confirmed})
	}
}

// awaited reports whether swaps wait for the replicas. A server without enough of them makes each
// swap wait until the time is over, often longer, because it checks its timers every 100 ms. So if
// they are missing for long, only the heartbeat waits for them.
func (r *replicas) awaited() bool {
	known := r.few.Load()
	return r.server.options.Replicas > 0 && (known == nil || !known.lasting)
}

// check makes a write, and notes how many replicas confirm it.
func (r *replicas) check(ctx context.Context) {
	if r.server.options.Replicas == 0 {
		return
	}
	confirmed, err := r.count(ctx)
	if err != nil {
		r.server.options.Logger.Debug("redisstore: the replicas weren't checked", "problem", withoutPrefix(err))
		return
	}
	if confirmed >= int64(r.server.options.Replicas) {
		r.few.Store(nil)
		r.misses = 0
		return
	}
	if r.misses++; r.misses >= lastingMisses {
		r.few.Store(&confirmations{confirmed, true})
	}
}

// count makes a write, and returns how many replicas confirm it.
func (r *replicas) count(ctx context.Context) (confirmed int64, err error) {
	ctx, cancel := withTimeout(ctx, r.server.options.connectTimeout())
	defer cancel()
	results, err := r.server.requestAnyway(ctx,
		func(b builder) command {
			return b.Set().Key(r.server.keys.scratch()).Value(r.server.instance).Px(time.Second).Build()
		},
		func(b builder) command {
			return b.Wait().Numreplicas(int64(r.server.options.Replicas)).Timeout(confirmWithin.Milliseconds()).Build()
		})
	if err != nil {
		return 0, r.server.unknown(ctx, err)
	}
	if confirmed, err = results[1].AsInt64(); err != nil {
		return 0, r.server.refused(err)
	}
	return confirmed, nil
}

// problem says that too few replicas confirm swaps; empty if enough do.
func (r *replicas) problem() string {
	known := r.few.Load()
	if known == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d replicas confirm swaps: connect replicas, or lower %s", known.confirmed, r.server.options.Replicas, r.server.options.nameOf("Replicas"))
}
