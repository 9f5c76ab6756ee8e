package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/shared"
)

const (
	// confirmWithin is how long replicas have to confirm a heartbeat.
	confirmWithin = 100 * time.Millisecond
	// lastingMisses is how many heartbeats in a row too few replicas confirm before swaps no longer
	// wait for them.
	lastingMisses = 3
)

// confirmations says that too few replicas confirm writes, or that this isn't known.
type confirmations struct {
	problem string
	lasting bool // several heartbeats have found that
}

// replicas knows whether enough replicas confirm writes.
type replicas struct {
	server *server
	few    atomic.Pointer[confirmations] // nil while as many confirm as Options.Replicas
	misses int                           // how many times in a row check has found too few; only for Run
}

// note notes how many replicas have confirmed a swap, or why that isn't known.
func (r *replicas) note(confirmed int64, err error) {
	switch known := r.few.Load(); {
	case confirmed >= int64(r.server.options.Replicas):
		r.few.Store(nil)
	case known == nil || !known.lasting:
		r.few.Store(&confirmations{problem: r.describe(confirmed, err)})
	}
}

// describe says that too few replicas confirm swaps, or why that isn't known.
func (r *replicas) describe(confirmed int64, err error) string {
	option := r.server.options.nameOf("Replicas")
	switch code := replyCode(err); {
	case code == "NOPERM":
		return fmt.Sprintf("%s: the user %q lacks the right +wait, which %s needs: grant it, or set %s to 0", r.server.where, r.server.options.user(), option, option)
	case code != "":
		problem, _ := r.server.explain.problem(err)
		return problem
	}
	return fmt.Sprintf("%d of %d replicas confirm swaps: connect replicas, or lower %s", confirmed, r.server.options.Replicas, option)
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
	if errors.Is(err, shared.ErrAway) {
		r.server.options.Logger.Debug("redisstore: the replicas weren't checked", "problem", withoutPrefix(err))
		return
	}
	if confirmed >= int64(r.server.options.Replicas) {
		r.few.Store(nil)
		r.misses = 0
		return
	}
	problem := r.describe(confirmed, nil)
	if err != nil {
		problem = withoutPrefix(err)
	}
	if r.misses++; r.misses >= lastingMisses || err != nil {
		r.few.Store(&confirmations{problem, true})
	}
}

// count makes a write, and returns how many replicas confirm it. An error that doesn't wrap
// shared.ErrAway is the server's.
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
		return 0, errors.New("redisstore: " + r.describe(0, err))
	}
	return confirmed, nil
}

// problem says that too few replicas confirm swaps; empty if enough do.
func (r *replicas) problem() string {
	if known := r.few.Load(); known != nil {
		return known.problem
	}
	return ""
}
