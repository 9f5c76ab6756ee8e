package redisstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/waittest"
)

// TestExchangeOnce checks that a second call helps with an exchange that takes long, and only then.
func TestExchangeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := newStore("redis://localhost", nil)
		if err != nil {
			t.Fatal(err)
		}
		const alone = time.Second
		for took, calls := range map[time.Duration]int64{0: 1, alone - 1: 1, alone + 1: 2} {
			guard := &slowGuard{takes: took}
			if err := s.exchangeOnce(t.Context(), guard, alone); err != nil {
				t.Error(err)
			}
			if got := guard.exchanges.Load(); got != calls {
				t.Errorf("%d calls for an exchange of %v, want %d", got, took, calls)
			}
		}
	})
}

// slowGuard is a Guard whose exchanges take a while.
type slowGuard struct {
	fakeGuard
	takes time.Duration
}

func (g *slowGuard) Exchange(ctx context.Context) error {
	sleep(ctx, g.takes)
	return g.fakeGuard.Exchange(ctx)
}

// TestRun checks that Run exchanges rows at each interval and once more at its end, takes a number
// for the node, and leaves no record of the node.
func TestRun(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{Interval: 20 * time.Millisecond})
	guard := &fakeGuard{}
	if err := s.Run(t.Context(), nil); err == nil {
		t.Error("no error without a Guard")
	}
	stop := run(t, s, guard)
	eventually(t, "Run exchanges", func() bool { return guard.exchanges.Load() > 3 })
	if err := s.run(t.Context(), guard); err == nil {
		t.Error("Run runs twice")
	}
	eventually(t, "the node has a number", func() bool { _, ok := s.Number(); return ok })
	before := guard.exchanges.Load()
	stop()
	if guard.exchanges.Load() <= before {
		t.Error("Run doesn't exchange at its end")
	}
	if keys, err := r.must("KEYS", "cg1:n*").AsStrSlice(); err != nil || len(keys) != 0 {
		t.Errorf("the node leaves %q, %v", keys, err)
	}
	failing := &awayGuard{err: errors.New("no")}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.run(ctx, failing); err == nil {
		t.Error("the last exchange fails without an error")
	}
}

// TestRun_LogsExchange checks that an exchange that fails is logged once, and so is its end, but
// not an outage or what Health says, which are logged elsewhere.
func TestRun_LogsExchange(t *testing.T) {
	var log waittest.Output
	s := open(t, "redis://127.0.0.1:1", Options{Logger: logTo(&log)})
	s.server.refusing.Store(&refusedChange{memoryFull, "cg1:{u:7}"})
	last := ""
	for i, step := range []struct {
		err  error
		want string // what is logged
	}{
		{errors.New("redisstore: " + memoryFull), ""},
		{away("gone"), ""},
		{nil, ""},
		{errors.New("redisstore: a row"), `level=WARN msg="redisstore: the exchange has failed" problem="a row"`},
		{errors.New("redisstore: a row"), ""},
		{away("gone"), ""},
		{errors.New("redisstore: a row"), ""},
		{nil, `level=INFO msg="redisstore: the exchange succeeds again"`},
		{nil, ""},
	} {
		before := len(log.String())
		last = s.logExchange(t.Context(), last, step.err)
		got := log.String()[before:]
		if quiet := got == "" || strings.Contains(got, "level=DEBUG"); quiet != (step.want == "") || !strings.Contains(got, step.want) {
			t.Errorf("step %d: %q is logged, want %q", i, got, step.want)
		}
	}
}
