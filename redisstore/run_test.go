package redisstore

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestNotices checks that changes by hand reach the other nodes, and not the one that made them.
// TestNotices_Gap checks that the Guard looks at all rows again after the subscription broke, the
// data was lost or another server answers.
func TestRun(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	s := open(t, r.URL(), Options{Interval: time.Millisecond})
	guard := &fakeGuard{}
	if err := s.Run(t.Context(), nil); err == nil {
		t.Error("no error without a Guard")
	}
	stop := run(t, s, guard)
	eventually(t, "Run exchanges", func() bool { return guard.exchanges() > 3 })
	if err := s.Run(t.Context(), guard); err == nil {
		t.Error("Run runs twice")
	}
	eventually(t, "the node has a number", func() bool { _, ok := s.Number(); return ok })
	before := guard.exchanges()
	stop()
	if guard.exchanges() <= before {
		t.Error("Run doesn't exchange at its end")
	}
	if keys, err := r.must("KEYS", "cg1:n*").AsStrSlice(); err != nil || len(keys) != 0 {
		t.Errorf("the node leaves %q, %v", keys, err)
	}
	failing := &failingGuard{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx, failing); err == nil {
		t.Error("the last exchange fails without an error")
	}
}

type failingGuard struct{ fakeGuard }

func (*failingGuard) Exchange(context.Context) error { return errors.New("no") }

// TestClock_Apart checks that nodes use the largest error that any of them reports.
// TestNumber_AllTaken checks that nodes have different numbers, and get one when it is free again.
// TestLead checks how a lease changes hands: by its release, and when its holder doesn't renew it.
// TestLead_LostReply checks that a node whose renewal succeeded without a reply goes on leading.
